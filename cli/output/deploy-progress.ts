import type { Timer } from "../../grammar/units/clock.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import type { Context } from "../context.ts";
import { type ProgressEvent, THROTTLED } from "../platform/progress.ts";

/** How often the line of the running phase is redrawn: often enough to look alive. */
const REFRESH_MS = 100;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export interface DeployProgress {
  readonly report: (event: ProgressEvent) => void;
  /** Phases that ended, in their order. */
  readonly done: readonly string[];
  /** The phase that is running; undefined between two. */
  readonly current: () => string | undefined;
  /** Erases the line that is still changing. */
  end(): void;
}

interface Running {
  readonly phase: string;
  readonly beganMs: number;
  note: string | undefined;
}

/**
 * Shows phases on stderr: on a terminal as a line that changes while one runs, elsewhere as a line for each phase that
 * ended and for each thing it waits for. With --verbose every detail is a line.
 */
export function deployProgress(context: Context): DeployProgress {
  const { stderr, clock } = context.io;
  const isLive = stderr.isTerminal && !context.verbose;
  const dim = (text: string) => (stderr.color ? `\u001b[2m${text}\u001b[0m` : text);
  const done: string[] = [];
  // A phase can begin within another, as when a role turns out to be missing while a version is published.
  const running: Running[] = [];
  let isThrottled = false;
  let isThrottlingSaid = false;
  let timer: Timer | undefined;
  let isShown = false;

  const draw = () => {
    const last = running.at(-1);
    if (last === undefined) return;
    const elapsedMs = clock.nowMs() - last.beganMs;
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
    timer?.stop();
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
          running.push({ phase: event.phase, beganMs: clock.nowMs(), note: undefined });
          if (isLive) {
            timer ??= clock.every(REFRESH_MS, draw);
            draw();
          }
          break;
        case "note":
          // The same note is printed once, however often it is reported.
          if (event.text === last?.note) break;
          if (last !== undefined) last.note = event.text;
          if (!isLive && (context.verbose || !event.isDetail)) void context.say(dim(`${event.phase}: ${event.text}`));
          break;
        case "throttled":
          isThrottled = !event.isOver;
          if (isLive) draw();
          // A changing line shows it for as long as it lasts. Elsewhere once is enough: calls are throttled by the dozen.
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
          const took = last === undefined ? "" : ` (${humanDuration(clock.nowMs() - last.beganMs)})`;
          void context.say(`${event.phase}${event.text === undefined ? "" : `: ${event.text}`}${took}`);
        }
      }
    },
  };
}
