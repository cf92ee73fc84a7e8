import { humanBytes } from "../../grammar/units/bytes.ts";
import type { Timer } from "../../grammar/units/clock.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { visible } from "../../grammar/visible-text.ts";
import type { BuildEvent } from "../artifact/artifact.ts";
import type { BuildProblem } from "../artifact/problem.ts";
import { type Context, EXIT } from "../context.ts";
import { commandLine } from "../hooks/hooks.ts";
import { plainLine } from "./plain-line.ts";

/** Nobody reads a line that changes more often. */
const REFRESH_MS = 100;

/** A command that takes longer shows the newest line of its output. */
const PATIENCE_MS = 5_000;
/** Between two redraws of that line, which has the seconds. */
const REDRAW_MS = 1_000;
/** Where a line stays, as in the log of a build machine: between two that say that a command is still running. */
const STILL_RUNNING_MS = 30_000;

/** A command of a hook while it runs. */
interface Running {
  readonly title: string;
  readonly hook: string;
  readonly beganMs: number;
  readonly timer: Timer;
  /** The newest line of its output that is not blank, and what follows it. */
  newest: string;
  rest: string;
}

export interface BuildProgress {
  readonly report: (event: BuildEvent) => void;
  /** Erases the line that is still changing. */
  end(): void;
}

/**
 * Shows a build on stderr: on a terminal as a line that changes, elsewhere as a line for each step. A command that takes
 * long is followed by the newest line that it wrote; not with --verbose, which shows all of them, nor with --format json.
 */
export function buildProgress(context: Context): BuildProgress {
  const { stderr, clock } = context.io;
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
  let running: Running | undefined;
  const stop = () => {
    running?.timer.stop();
    running = undefined;
  };
  const follow = ({ title, hook, beganMs, newest, rest }: Running) => {
    const elapsedMs = clock.monotonicMs() - beganMs;
    if (elapsedMs < PATIENCE_MS) return;
    const line = plain(rest) || newest;
    const seconds = humanDuration(Math.floor(elapsedMs / 1000) * 1000);
    if (isLive) show(`${title} (${seconds})${line && `: ${line}`}`);
    else say(dim(`${hook}: still running (${seconds})${line && `: ${commandLine(line)}`}`));
  };
  const begin = (hook: string, command: string): Running => {
    const everyMs = isLive ? REDRAW_MS : STILL_RUNNING_MS;
    // As long as it runs, the command itself keeps this process alive.
    const timer = clock.every(everyMs, () => running !== undefined && follow(running), { isBackground: true });
    // The hook says enough of a long command: the line that it wrote last is what changes.
    const title = `${hook}: ${shortCommand(command)}`;
    return { title, hook, beganMs: clock.monotonicMs(), timer, newest: "", rest: "" };
  };
  return {
    end() {
      stop();
      erase();
    },
    report(event) {
      switch (event.kind) {
        case "command":
          if (isLive) show(`${event.hook}: ${event.command}`);
          else say(dim(`${event.hook}: ${commandLine(event.command)}`));
          stop();
          if (!context.verbose && context.format !== "json") running = begin(event.hook, event.command);
          break;
        case "output":
          if (running !== undefined) readOutput(running, event.text);
          break;
        case "commanded":
          stop();
          if (isLive) say(`${event.hook}: ${commandLine(event.command)} (${humanDuration(event.durationMs)})`);
          else if (context.verbose) say(dim(`${event.hook}: done in ${humanDuration(event.durationMs)}`));
          break;
        case "warning":
          say(`warning: ${visible(event.message)}${event.hint === undefined ? "" : `\n${indented(event.hint)}`}`);
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

/** A program may never end its line: more than this of it is not kept. */
const MAX_LINE_CHARACTERS = 1_000;
/** How much of a command is beside its output in a line. */
const MAX_COMMAND_CHARACTERS = 30;

function shortCommand(command: string): string {
  const line = commandLine(command);
  return line.length > MAX_COMMAND_CHARACTERS ? `${line.slice(0, MAX_COMMAND_CHARACTERS - 1)}…` : line;
}

/** Keeps the newest line. A carriage return begins a line again: that is how programs show their own progress. */
function readOutput(running: Running, text: string): void {
  const lines = (running.rest + text).split(/[\r\n]+/);
  const last = lines.pop() ?? "";
  running.newest = lines.map(plain).findLast((line) => line !== "") ?? running.newest;
  running.rest = last.slice(0, MAX_LINE_CHARACTERS);
}

const plain = (text: string) => plainLine(text).slice(0, MAX_LINE_CHARACTERS).trim();

const indented = (hint: string) =>
  hint
    .split("\n")
    .map((line) => `  ${visible(line)}`)
    .join("\n");

/** Ends the command with all problems of a build on stderr, each after the output of its hook. */
export async function failByBuild(context: Context, problems: readonly BuildProblem[]): Promise<never> {
  for (const { message, hint, output } of problems) {
    if (output !== undefined) await context.say(output);
    // They name files, whose names may be anything.
    await context.error(visible(message), hint?.split("\n").map(visible).join("\n"));
  }
  return context.exit(EXIT.failed);
}
