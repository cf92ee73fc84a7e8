import type { Config, Inference } from "../../schema/index.ts";
import { DEFAULT_STAGES, type Hooks, hookCommands } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import { runInShell, type ShellEnd, type ShellOptions } from "./shell.ts";

/** The longest command that is shown: two lines of a narrow terminal. */
const MAX_SHOWN = 140;

export type HookName = keyof Hooks;

/** In the order in which a deploy runs them. */
export const HOOKS = [
  "prebuild",
  "build",
  "postbuild",
  "predeploy",
  "postdeploy",
  "clean",
] as const satisfies HookName[];

/** A hook's commands: those of tool.json for the stage. Build and clean are otherwise inferred from marker files. */
export function commandsForHook(
  hook: HookName,
  config: Pick<Config, "hooks">,
  inference: Inference,
): readonly string[] {
  if (config.hooks?.[hook] !== undefined) return hookCommands(config.hooks, hook);
  const inferred = hook === "build" ? inference.build : hook === "clean" ? inference.clean : undefined;
  return inferred === undefined ? [] : [inferred];
}

/** All stages: the default ones, then those of tool.json. */
export function stagesOf(config: Pick<Config, "stages">): string[] {
  return [...new Set([...DEFAULT_STAGES, ...Object.keys(config.stages ?? {})])];
}

/** A command that has ended. */
export interface CommandEnd extends ShellEnd {
  readonly command: string;
  readonly durationMs: number;
}

/** Runs commands one after another, each in its own shell, until one fails or is interrupted. */
export async function runCommands(
  context: Context,
  commands: readonly string[],
  options: Omit<ShellOptions, "directory"> & {
    readonly onBegin: (command: string) => Promise<void> | void;
    /** Called after a command that ended with 0. */
    readonly onEnd: (end: CommandEnd) => Promise<void> | void;
  },
): Promise<CommandEnd[]> {
  const done: CommandEnd[] = [];
  for (const command of commands) {
    await options.onBegin(command);
    const begin = context.io.clock.monotonicMs();
    const end = await runInShell(context.io, command, { ...options, directory: context.directory });
    const ended = { ...end, command, durationMs: Math.round(context.io.clock.monotonicMs() - begin) };
    done.push(ended);
    if (end.isInterrupted || end.code !== 0) break;
    await options.onEnd(ended);
  }
  return done;
}

/** Why a command failed: `npm run build ended with exit code 3`. */
export function howItEnded({ command, code, signal }: CommandEnd): string {
  return `${commandLine(command)} ${code === null ? `was ended by ${signal}` : `ended with exit code ${code}`}`;
}

/** A command on one line, truncated if it is long. */
export function commandLine(command: string): string {
  const line = command.replace(/\s+/g, " ");
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN - 1)}…` : line;
}
