import { type Signal, signal } from "@preact/signals";
import type { Event } from "../../../schema/rpc.generated.ts";
import { RpcFailure } from "../../../schema/rpc-client.ts";
import { call, errorText, isSignedOut, onceSignedIn } from "../data/call.ts";
import { Arrivals } from "./arrivals.ts";
import { takeLivePlace, whileSeen } from "./live-place.ts";
import type { Arrived } from "./without-arrived.ts";

/** Events as they arrive. */
export interface Live {
  /** The latest first; those that wait while the list is scrolled are not in it. */
  readonly shownEvents: Signal<readonly Event[]>;
  readonly waiting: Signal<number>;
  /** Events that the service could not send in time. They are stored. */
  readonly dropped: Signal<number>;
  /** `crowded` while other tabs have all places for streams: the list is read anew from time to time then. */
  readonly status: Signal<"connecting" | "open" | "gone" | "crowded">;
  /** Since when the stream is not open, in milliseconds since 1970. */
  readonly since: Signal<number>;
  /** Why the service ended it, such as a removed project. */
  readonly problem: Signal<string | undefined>;
  /** All that arrived and are not in the list. */
  readonly arrivals: Arrived;
  /** Shows what waits. */
  show(): void;
  /** While held, new events wait. */
  hold(isHeld: boolean): void;
  /** Called when the list begins to be read anew: how many have arrived before. */
  mark(): number;
  /** The list was read anew after `mark`: what is in it is not shown twice. */
  rebase(mark: number, isInList: (event: Event) => boolean): void;
  close(): void;
}

/** How often what arrived is drawn. */
const DRAW_MS = 100;
/** How long to wait before a stream is opened again that the service has refused. */
const RETRY_MS = 3_000;
/** How often the list is read anew without a stream. */
export const CROWDED_MS = 5_000;
/** How long a stream stays open in a tab that is not seen: people go to another tab and come back. */
const UNSEEN_MS = 10_000;

export interface LiveOptions {
  readonly projectId: string;
  readonly team: string;
  readonly query: string;
  /** Whether an event was read with the list already: it was on its way. */
  isInList(event: Event): boolean;
  /** Called with what arrived since the last call. */
  arrived(events: readonly Event[]): void;
  /** Called if the list has to be read anew, since events may be missing between it and the stream. */
  stale(): void;
  /** Called if what has arrived is to be read with the list, unless that is being read. */
  full(): void;
}

/**
 * Opens a stream of new events. The list is read after it is open, so that no event is between the two. The browser opens
 * it again when it breaks, from where it was; one that was refused is opened anew here.
 */
export function openLive({ projectId, team, query, isInList, arrived, stale, full }: LiveOptions): Live {
  const shownEvents = signal<readonly Event[]>([]);
  const waiting = signal(0);
  const dropped = signal(0);
  const status = signal<"connecting" | "open" | "gone" | "crowded">("connecting");
  const since = signal(Date.now());
  const problem = signal<string | undefined>(undefined);
  const all = new Arrivals();
  let isHeld = false;
  let isStale = false;
  let isEnded = false;
  let source: EventSource | undefined;
  let giveBack: (() => void) | undefined;
  let unwait = (): void => {};
  /** Grows when the stream is closed: a place that comes after that is not for it. */
  let round = 0;
  const parameters = new URLSearchParams({ project_id: projectId, query, ...(team !== "" && { team }) });
  const tellStale = (): void => {
    // A list that is being looked at does not move: it is read anew when its beginning is shown.
    isStale = isHeld;
    if (!isHeld) stale();
  };
  const lost = (next: "connecting" | "gone" | "crowded"): void => {
    if (status.value === "open") since.value = Date.now();
    status.value = next;
  };
  const close = (): void => {
    round++;
    unwait();
    source?.close();
    giveBack?.();
    giveBack = undefined;
  };
  const end = (why: string): void => {
    problem.value = why;
    isEnded = true;
    lost("gone");
    close();
  };
  const begin = async (): Promise<void> => {
    const own = ++round;
    const place = await livePlace().catch(() => () => {});
    if (own !== round) return place?.();
    giveBack = place;
    if (place !== undefined) return open();
    lost("crowded");
    if (isHeld) isStale = true;
    else full();
    unwait = later(() => void begin(), CROWDED_MS);
  };
  const open = (): void => {
    let isNew = true;
    let hasArrived = false;
    source = new EventSource(`/tail?${parameters}`);
    source.onopen = () => {
      status.value = "open";
      // Opened again by the browser it goes on after the last event that it got: without one, at the present.
      if (isNew || !hasArrived) tellStale();
      isNew = false;
    };
    source.onerror = () => {
      if (isEnded) return;
      lost("connecting");
      if (source!.readyState !== EventSource.CLOSED) return;
      const own = round;
      // A stream does not say why it was refused.
      void whyRefused({ projectId, team, query }).then((why) => {
        if (own !== round) return;
        if (isSignedOut.peek()) unwait = onceSignedIn(open);
        else if (why === undefined) unwait = later(open, RETRY_MS);
        else end(why);
      });
    };
    source.onmessage = ({ data }: MessageEvent<string>) => {
      hasArrived = true;
      const event = JSON.parse(data) as Event;
      if (!isInList(event)) all.push(event);
    };
    source.addEventListener("dropped", ({ data }: MessageEvent<string>) => {
      const { count } = JSON.parse(data) as { count: number | null };
      if (count === null) tellStale();
      else dropped.value += count;
    });
    source.addEventListener("error", (event) => {
      const why = endOf(event as MessageEvent<string | undefined>);
      if (why !== undefined) end(why);
    });
  };
  const draw = (): void => {
    const news = all.takeNew();
    if (news.length > 0) arrived(news);
    if (isHeld) waiting.value = all.waiting;
    else if (all.waiting > 0 || isStale) show();
  };
  const show = (): void => {
    const isWhole = all.show();
    waiting.value = 0;
    shownEvents.value = all.shownEvents;
    if (isStale) stale();
    else if (!isWhole) full();
    isStale = false;
  };
  const unwatch = whileSeen(document, UNSEEN_MS, {
    seen() {
      if (isEnded) return;
      since.value = Date.now();
      void begin();
    },
    unseen() {
      close();
      if (!isEnded) lost("connecting");
    },
  });
  const timer = setInterval(draw, DRAW_MS);
  return {
    ...{ shownEvents, waiting, dropped, status, since, problem, arrivals: all },
    show() {
      isHeld = false;
      draw();
      show();
    },
    hold(held) {
      isHeld = held;
    },
    mark: () => all.total,
    rebase(mark, isInList) {
      all.rebase(mark, isInList);
      shownEvents.value = all.shownEvents;
      waiting.value = isHeld ? all.waiting : 0;
    },
    close() {
      clearInterval(timer);
      isEnded = true;
      unwatch();
      close();
    },
  };
}

/** Does something after a while. Returns what gives that up. */
function later(act: () => void, ms: number): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}

/**
 * Why the service ended a stream; undefined for a broken connection. So it is for a session that has ended: the browser opens
 * the stream again, and is refused until the person has signed in again.
 */
function endOf({ data }: MessageEvent<string | undefined>): string | undefined {
  if (typeof data !== "string") return undefined;
  const { type, message } = JSON.parse(data) as { type: string; message: string };
  return type === "unauthorized" ? undefined : message;
}

/** Why the service refuses what a stream is about; undefined if it does not, or cannot be asked. */
async function whyRefused({ projectId, team, query }: Pick<LiveOptions, "projectId" | "team" | "query">) {
  const now = new Date().toISOString();
  try {
    await call("search", { project_id: projectId, query, start: now, stop: now, limit: 1 }, { team });
  } catch (error) {
    if (error instanceof RpcFailure && [400, 401, 403, 404].includes(error.status)) return errorText(error);
  }
  return undefined;
}

/** Without locks, which browsers have on safe addresses alone, and by HTTP/2, which needs one connection, places are not counted. */
async function livePlace(): Promise<(() => void) | undefined> {
  const [page] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const isOneByOne = page === undefined || /^(http\/1\..*)?$/.test(page.nextHopProtocol);
  return navigator.locks !== undefined && isOneByOne ? takeLivePlace(navigator.locks) : () => {};
}
