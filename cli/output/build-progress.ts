import { humanBytes } from "../../grammar/units/bytes.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import type { BuildEvent } from "../artifact/artifact.ts";
import type { BuildProblem } from "../artifact/problem.ts";
import { type Context, EXIT } from "../context.ts";
import { commandLine } from "../hooks/hooks.ts";

/** Nobody reads a line that changes more often. */
const REFRESH_MS = 100;

export interface BuildProgress {
  readonly report: (event: BuildEvent) => void;
  /** Erases the line that is still changing. */
  end(): void;
}

/** Shows a build on stderr: on a terminal as a line that changes, elsewhere as a line for each step. */
export function buildProgress(context: Context): BuildProgress {
  const { stderr } = context.io;
  // With --verbose, the output of a hook would be in the middle of the line.
  const isLive = stderr.isTerminal && !context.verbose;
  let isShown = false;
  let shownMs = 0;
  const show = (text: string) => {
    isShown = true;
    void stderr.write(`\r${text.slice(0, stderr.columns - 1)}\u001b[K`);
  };
  const erase = () => {
    if (isShown) void stderr.write("\r\u001b[K");
    isShown = false;
  };
  const say = (text: string) => {
    erase();
    void context.say(text);
  };
  const dim = (text: string) => (stderr.color ? `\u001b[2m${text}\u001b[0m` : text);
  return {
    end: erase,
    report(event) {
      switch (event.kind) {
        case "command":
          if (isLive) show(`${event.hook}: ${event.command}`);
          else say(dim(`${event.hook}: ${commandLine(event.command)}`));
          break;
        case "commanded":
          if (isLive) say(`${event.hook}: ${commandLine(event.command)} (${humanDuration(event.durationMs)})`);
          else if (context.verbose) say(dim(`${event.hook}: done in ${humanDuration(event.durationMs)}`));
          break;
        case "warning":
          say(
            `warning: ${event.message}${event.hint === undefined ? "" : `\n  ${event.hint.replaceAll("\n", "\n  ")}`}`,
          );
          break;
        case "packing": {
          const now = context.io.nowMs();
          if (!isLive || now - shownMs < REFRESH_MS) break;
          shownMs = now;
          show(`build: ${event.done} of ${event.files} files, ${humanBytes(event.bytes)}`);
          break;
        }
        case "packed": {
          const files = event.files === 1 ? "1 file" : `${event.files} files`;
          say(`build: ${files}, ${humanBytes(event.bytes)} (${humanDuration(event.durationMs)})`);
        }
      }
    },
  };
}

/** Ends the command with all problems of a build on stderr, each after the output of its hook. */
export async function failByBuild(context: Context, problems: readonly BuildProblem[]): Promise<never> {
  for (const { message, hint, output } of problems) {
    if (output !== undefined) await context.say(output);
    await context.error(message, hint);
  }
  return context.exit(EXIT.failed);
}
