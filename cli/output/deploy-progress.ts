import { humanDuration } from "../../grammar/units/duration.ts";
import type { Context } from "../context.ts";
import type { ProgressEvent } from "../platform.ts";

/** How often the line of what is under way is written again: a person sees that it lives. */
const REFRESH_MS = 100;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export interface DeployProgress {
  readonly report: (event: ProgressEvent) => void;
  /** Phases that ended, in their order. */
  readonly done: readonly string[];
  /** The phase that has not ended; undefined between two. */
  readonly current: () => string | undefined;
  /** Takes a line that is still being written away. */
  end(): void;
}

/** Shows phases on stderr: on a terminal a line that lives while one runs, elsewhere a line for each that ended. */
export function deployProgress(context: Context): DeployProgress {
  const { stderr, nowMs } = context.io;
  const isLive = stderr.isTerminal && !context.verbose;
  const dim = (text: string) => (stderr.color ? `\u001b[2m${text}\u001b[0m` : text);
  const done: string[] = [];
  let running: { phase: string; beganMs: number; note: string | undefined } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isShown = false;
  let lastNote: string | undefined;

  const draw = () => {
    if (running === undefined) return;
    const { phase, beganMs, note } = running;
    const elapsedMs = nowMs() - beganMs;
    const frame = FRAMES[Math.floor(elapsedMs / REFRESH_MS) % FRAMES.length]!;
    const text = `${frame} ${phase}${note === undefined ? "" : `: ${note}`} (${seconds(elapsedMs)})`;
    isShown = true;
    void stderr.write(`\r${text.slice(0, stderr.columns - 1)}\u001b[K`);
  };
  const erase = () => {
    clearInterval(timer);
    if (isShown) void stderr.write("\r\u001b[K");
    isShown = false;
  };
  return {
    done,
    current: () => running?.phase,
    end: erase,
    report(event) {
      switch (event.kind) {
        case "begin":
          running = { phase: event.phase, beganMs: nowMs(), note: undefined };
          lastNote = undefined;
          if (isLive) {
            timer = setInterval(draw, REFRESH_MS);
            draw();
          }
          break;
        case "note":
          if (running !== undefined) running.note = event.text;
          // What is waited for is said once, however often it is asked for.
          if (!isLive && event.text !== lastNote) void context.say(dim(`${event.phase}: ${event.text}`));
          lastNote = event.text;
          break;
        case "end": {
          erase();
          done.push(event.phase);
          const { text } = event;
          const took = running === undefined ? "" : ` (${humanDuration(nowMs() - running.beganMs)})`;
          void context.say(`${event.phase}${text === undefined ? "" : `: ${text}`}${took}`);
          running = undefined;
        }
      }
    },
  };
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(0)}s`;
