import { type Clock, systemClock, type Timer } from "../../../grammar/units/clock.ts";

/** The part of `navigator.locks` that is needed. */
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable: true },
    held: (lock: unknown) => Promise<void> | undefined,
  ): Promise<unknown>;
}

/**
 * A browser opens at most six connections to one host by HTTP/1.1, for all its tabs together, and a stream keeps one. Two are
 * left for everything else, without which no tab could ask for anything.
 */
export const LIVE_PLACES = 4;

/** Takes one of the places for streams of this browser. Resolves to what gives it back; undefined if all are taken. */
export async function takeLivePlace(locks: Locks): Promise<(() => void) | undefined> {
  for (let n = 0; n < LIVE_PLACES; n++) {
    const giveBack = await new Promise<(() => void) | undefined>((resolve, reject) => {
      const held = (lock: unknown): Promise<void> | undefined => {
        if (lock !== null) return new Promise((done) => resolve(() => done()));
        resolve(undefined);
        return undefined;
      };
      locks.request(`live ${n}`, { ifAvailable: true }, held).catch(reject);
    });
    if (giveBack !== undefined) return giveBack;
  }
  return undefined;
}

/** The part of `document` that is needed. */
export interface SeenPage {
  readonly visibilityState: string;
  addEventListener(type: "visibilitychange", listener: () => void): void;
  removeEventListener(type: "visibilitychange", listener: () => void): void;
}

/**
 * Calls `seen` while a page can be seen, and `unseen` when it could not be for a while: the place of a tab in the background is
 * for one that is looked at. Returns what ends this.
 */
export function whileSeen(
  page: SeenPage,
  waitMs: number,
  { seen, unseen }: { readonly seen: () => void; readonly unseen: () => void },
  clock: Clock = systemClock,
): () => void {
  let isSeen = page.visibilityState !== "hidden";
  let timer: Timer | undefined;
  const look = (): void => {
    timer?.stop();
    if (page.visibilityState === "hidden") {
      timer = clock.after(waitMs, () => {
        isSeen = false;
        unseen();
      });
    } else if (!isSeen) {
      isSeen = true;
      seen();
    }
  };
  page.addEventListener("visibilitychange", look);
  if (isSeen) seen();
  return () => {
    timer?.stop();
    page.removeEventListener("visibilitychange", look);
  };
}
