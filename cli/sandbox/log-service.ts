import { isLoopback } from "../../grammar/address/loopback.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { ALL_OF_APP } from "../platform/log-tokens.ts";
import type { LogServiceHere, SandboxFolder } from "./folder.ts";

/** Requests wait no longer for their stage to join, which goes on. */
const WAIT_MS = 1_000;
/** After a failure nobody asks again for so long: the service may be gone, or hang. */
const PAUSE_MS = 10_000;
/** After so long it is asked again whether it knows the token, which somebody may have removed there. */
const TRUST_MS = 5 * 60_000;

/** Nothing is sent to another machine, whatever the file of the log service says. */
export const isHere = (url: string) => isLoopback(new URL(url).hostname);

interface Joining {
  /** The service, as its file says. */
  readonly of: string;
  /** Its begin, or its failure. */
  sinceMs: number;
  state: "under way" | "joined" | "failed";
  /** Never rejects. */
  end: Promise<void>;
}

/**
 * Returns a function that gives the log service of `npm start`, once a stage has joined it; undefined if none runs. A stage that
 * was deployed before that service, or before its data were thrown away, gets a token here, by its first request.
 */
export function joinsLogService(
  folder: SandboxFolder,
  clock: Clock,
): (app: string, stage: string) => Promise<LogServiceHere | undefined> {
  const joinings = new Map<string, Joining>();
  const begin = (of: string, here: LogServiceHere, stage: { readonly app: string; readonly stage: string }) => {
    const joining: Joining = { of, sinceMs: clock.monotonicMs(), state: "under way", end: Promise.resolve() };
    const join = async () => {
      try {
        const { joinStage } = await import("../team/stage-token.ts");
        await joinStage(folder, here, { ...stage, clock });
        joining.state = "joined";
      } catch {
        // Entries are in the sandbox's own log. A request after a pause tries again.
        joining.state = "failed";
        joining.sinceMs = clock.monotonicMs();
      }
    };
    joining.end = join();
    return joining;
  };
  const isOver = ({ state, sinceMs }: Joining, hasToken: boolean) => {
    const agoMs = clock.monotonicMs() - sinceMs;
    return state === "joined" ? agoMs >= (hasToken ? TRUST_MS : PAUSE_MS) : state === "failed" && agoMs >= PAUSE_MS;
  };
  return async (app, stage) => {
    const here = folder.logService();
    if (here === undefined || !isHere(here.url)) return undefined;
    const hasToken = folder.stageToken(app, stage) !== undefined;
    // The app's stream of Firehose sends all that its stages print.
    if (stage !== ALL_OF_APP && !hasToken && folder.stageToken(app, ALL_OF_APP) !== undefined) return undefined;
    const of = `${here.url} ${here.token}`;
    const key = `${app}/${stage}`;
    let joining = joinings.get(key);
    if (joining?.of !== of || isOver(joining, hasToken)) {
      joining = begin(of, here, { app, stage });
      joinings.set(key, joining);
    }
    const leftMs = WAIT_MS - (clock.monotonicMs() - joining.sinceMs);
    if (joining.state === "under way" && leftMs > 0) await endOrTime(joining.end, leftMs, clock);
    return here;
  };
}

/** Resolves when something has ended, or takes longer than it may. */
function endOrTime(end: Promise<void>, limitMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(limitMs, resolve);
    void end.then(() => {
      timer.stop();
      resolve();
    });
  });
}
