import type { Clock } from "../../grammar/units/clock.ts";

/** From the platform's SIGTERM to its SIGKILL there are 500 ms: for the app, and for sending its last entries. */
const STOP_MS = 400;
/** The app has less of them if entries are sent, so that its last ones can be. */
const APP_STOP_MS = 300;

export interface EndedParts {
  readonly clock: Clock;
  /** Undefined if no process has been started. */
  readonly supervisor: { stop(): Promise<void>; kill(): void } | undefined;
  readonly entries: { flush(): void };
  /** Undefined if entries are printed only. */
  readonly sender: { finish(limitMs: number): Promise<void> } | undefined;
}

/** Stops the app, by force if it takes too long, and sends the entries that wait. Ends before the platform ends it. */
export async function stopInTime({ clock, supervisor, entries, sender }: EndedParts): Promise<void> {
  const byMs = clock.monotonicMs() + STOP_MS;
  entries.flush();
  // Waiting entries are sent while the app stops, and those that it still writes after that.
  const stopApp = async () => {
    const cut = clock.after(sender === undefined ? STOP_MS : APP_STOP_MS, () => supervisor?.kill());
    await supervisor?.stop();
    cut.stop();
  };
  await Promise.all([stopApp(), sender?.finish(STOP_MS)]);
  entries.flush();
  await sender?.finish(byMs - clock.monotonicMs());
}
