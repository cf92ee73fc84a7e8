import { humanDuration } from "../../grammar/units/duration.ts";
import type { Context } from "../context.ts";
import { type ProgressEvent, THROTTLED } from "../platform/progress.ts";

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

interface Running {
  readonly phase: string;
  readonly beganMs: number;
  note: string | undefined;
}

/**
 * Shows phases on stderr: on a terminal a line that lives while one runs, elsewhere a line for each that ended and for
 * what is waited for. With --verbose every detail is a line.
 */
export function deployProgress(context: Context): DeployProgress {
  const { stderr, nowMs } = context.io;
  const isLive = stderr.isTerminal && !context.verbose;
  const dim = (text: string) => (stderr.color ? `\u001b[2m${text}\u001b[0m` : text);
  const done: string[] = [];
  // A phase can begin within another: a role that turns out to be gone while a version is published.
  const running: Running[] = [];
  let isThrottled = false;
  let isThrottlingSaid = false;
  let timer: NodeJS.Timeout | undefined;
  let isShown = false;

  const draw = () => {
    const last = running.at(-1);
    if (last === undefined) return;
    const elapsedMs = nowMs() - last.beganMs;
    const frame = FRAMES[Math.floor(elapsedMs / REFRESH_MS) % FRAMES.length]!;
    const note = isThrottled ? THROTTLED : last.note;
    const text = `${frame} ${last.phase} (${(elapsedMs / 1000).toFixed(0)}s)${note === undefined ? "" : `: ${note}`}`;
    isShown = true;
    void stderr.write(`\r${text.slice(0, stderr.columns - 1)}\u001b[K`);
  };
  const erase = () => {
    if (isShown) void stderr.write("\r\u001b[K");
    isShown = false;
  };
  const end = () => {
    clearInterval(timer);
    timer = undefined;
    erase();
  };
  return {
    done,
    current: () => running.at(-1)?.phase,
    end,
    report(event) {
      const last = running.at(-1);
      switch (event.kind) {
        case "begin":
          running.push({ phase: event.phase, beganMs: nowMs(), note: undefined });
          if (isLive) {
            timer ??= setInterval(draw, REFRESH_MS);
            draw();
          }
          break;
        case "note":
          // What is waited for is said once, however often it is asked for.
          if (event.text === last?.note) break;
          if (last !== undefined) last.note = event.text;
          if (!isLive && (context.verbose || !event.isDetail)) void context.say(dim(`${event.phase}: ${event.text}`));
          break;
        case "throttled":
          isThrottled = !event.isOver;
          if (isLive) draw();
          // A line that lives shows it as long as it is so. Elsewhere once is enough: calls are throttled by the dozen.
          if (isThrottled && !isThrottlingSaid && !(isLive && last !== undefined)) {
            isThrottlingSaid = true;
            void context.say(dim(last === undefined ? THROTTLED : `${last.phase}: ${THROTTLED}`));
          }
          break;
        case "end": {
          running.pop();
          if (running.length === 0) end();
          else erase();
          done.push(event.phase);
          const took = last === undefined ? "" : ` (${humanDuration(nowMs() - last.beganMs)})`;
          void context.say(`${event.phase}${event.text === undefined ? "" : `: ${event.text}`}${took}`);
        }
      }
    },
  };
}
