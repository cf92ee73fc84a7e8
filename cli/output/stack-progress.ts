import type { Timer } from "../../grammar/units/clock.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import type { Context } from "../context.ts";
import type { StackEvent } from "../platform/stack.ts";

/** How often the line of the running resources is redrawn. */
const REFRESH_MS = 100;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

const DONE = { create: "created", update: "updated", delete: "removed" } as const;

export interface StackProgress {
  readonly report: (event: StackEvent) => void;
  /** Erases the changing line before something is asked or printed. */
  pause(): void;
  end(): void;
}

/**
 * Shows a line on stderr for each resource that is done or failed, and on a terminal below them a line that changes, with
 * the resources in progress. When a resource is replaced, the removal of the old one is a line of its own.
 */
export function stackProgress(context: Context): StackProgress {
  const { stderr, clock } = context.io;
  const isLive = stderr.isTerminal && !context.verbose;
  const paint = (code: number, text: string) => (stderr.color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const underWay = new Map<string, { name: string; beganMs: number; at: Date }>();
  let timer: Timer | undefined;
  let isShown = false;
  let hasFailed = false;

  const erase = () => {
    if (isShown) void stderr.write("\r\u001b[K");
    isShown = false;
  };
  const draw = () => {
    const [oldest, ...others] = underWay.values();
    if (oldest === undefined) return;
    const elapsedMs = clock.nowMs() - oldest.beganMs;
    const frame = FRAMES[Math.floor(clock.nowMs() / REFRESH_MS) % FRAMES.length]!;
    const more = others.length === 0 ? "" : `, and ${others.length} more`;
    isShown = true;
    void stderr.write(
      `\r${`${frame} ${oldest.name} (${Math.floor(elapsedMs / 1000)}s)${more}`.slice(0, stderr.columns - 1)}\u001b[K`,
    );
  };
  const line = (text: string) => {
    erase();
    void context.say(text);
  };
  const stop = () => {
    timer?.stop();
    timer = undefined;
    erase();
  };
  return {
    pause: stop,
    end: stop,
    report(event) {
      if (event.kind === "note") return line(event.text);
      const { id, about, stage, action, state, isRollback } = event;
      const name = stage === undefined ? about : `${about} of ${stage}`;
      const key = `${action} ${id}`;
      if (state === "begun") {
        if (!underWay.has(key)) underWay.set(key, { name, beganMs: clock.nowMs(), at: event.at });
        if (isLive && timer === undefined) timer = clock.every(REFRESH_MS, draw);
        return;
      }
      const begun = underWay.get(key);
      underWay.delete(key);
      const seconds = begun === undefined ? 0 : Math.round((event.at.getTime() - begun.at.getTime()) / 1000);
      const took = seconds === 0 ? "" : ` (${humanDuration(seconds * 1000)})`;
      if (state === "failed") {
        // Later failures are cancellations because of the first one, which the error at the end names.
        const isFirst = !hasFailed;
        hasFailed = true;
        if (isFirst || context.verbose) line(`${paint(31, "✗")} ${name}: ${event.reason ?? "failed"}`);
        return;
      }
      line(`${paint(isRollback ? 33 : 32, isRollback ? "↶" : "✓")} ${name} ${DONE[action]}${took}`);
    },
  };
}
