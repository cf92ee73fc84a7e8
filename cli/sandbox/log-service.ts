import { isLoopback } from "../../grammar/address/loopback.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { ALL_OF_APP } from "../platform/log-tokens.ts";
import type { LogServiceHere, SandboxFolder } from "./folder.ts";

/** A request waits no longer for the log service of this machine. */
const JOIN_MS = 1_000;
/** After a failure nobody asks again for so long: what the file names may be gone, or hang. */
const PAUSE_MS = 10_000;

/** Nothing is sent to another machine, whatever the file of the log service says. */
export const isHere = (url: string) => isLoopback(new URL(url).hostname);

interface Joining {
  /** The service, as its file says. */
  readonly of: string;
  readonly end: Promise<boolean>;
  readonly sinceMs: number;
}

/**
 * Returns a function that gives the log service of `npm start`, once a stage has a token for it; undefined if none runs. A stage that was
 * deployed before that service, or before its data were thrown away, gets one here, by its first request.
 */
export function joinsLogService(
  folder: SandboxFolder,
  clock: Clock,
): (app: string, stage: string) => Promise<LogServiceHere | undefined> {
  const joinings = new Map<string, Joining>();
  const join = async (here: LogServiceHere, app: string, stage: string) => {
    const { joinStage } = await import("../team/stage-token.ts");
    const stop = new AbortController();
    const timer = clock.after(JOIN_MS, () => stop.abort());
    try {
      await joinStage(folder, here, { app, stage, signal: stop.signal, clock });
      return true;
    } catch {
      // Entries are in the sandbox's own log. The next request but for a pause tries again.
      return false;
    } finally {
      timer.stop();
    }
  };
  return async (app, stage) => {
    const here = folder.logService();
    if (here === undefined || !isHere(here.url)) return undefined;
    // The app's stream of Firehose sends all that its stages print.
    const isStreamed = folder.stageToken(app, ALL_OF_APP) !== undefined;
    if (isStreamed && stage !== ALL_OF_APP && folder.stageToken(app, stage) === undefined) return undefined;
    const of = `${here.url} ${here.token}`;
    const key = `${app}/${stage}`;
    const last = joinings.get(key);
    const isOver = last?.of !== of || (!(await last.end) && clock.monotonicMs() - last.sinceMs >= PAUSE_MS);
    if (isOver) joinings.set(key, { of, end: join(here, app, stage), sinceMs: clock.monotonicMs() });
    await joinings.get(key)!.end;
    return here;
  };
}
