import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { didYouMean } from "../../grammar/did-you-mean.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { type Config, DEFAULT_STAGES, forStage, type Hooks, hookCommands } from "../../schema/index.ts";
import { CONFIG_FILE, readConfigFile } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { appEnvironment, withPackageBinaries } from "../project/app-environment.ts";
import { resolveProject } from "../project/resolve-config.ts";

const HOOKS = ["prebuild", "build", "postbuild", "predeploy", "postdeploy", "clean"] as const;

/** What an interrupted hook left behind gets to end by itself. */
const GROUP_END_MS = 1000;

/**
 * A shell that is just starting a command when SIGINT comes waits for that command, which has not heard the signal. What
 * still runs after this long is asked by SIGTERM, which shells do not put off.
 */
const HEED_SIGNAL_MS = 5000;

/** `tool run <hook>`: its commands one after another, each in its own shell in the project's folder. */
export async function run(context: Context, hook: string, flags: { readonly stage: string }): Promise<number> {
  if (!isHook(hook)) {
    const near = didYouMean(hook, HOOKS);
    return context.misuse(
      `there is no hook ${JSON.stringify(hook)}`,
      near === undefined ? `the hooks are: ${HOOKS.join(", ")}` : `did you mean ${near}?`,
    );
  }
  const file = await readConfigFile(context);
  if (file.code !== undefined) return file.code;
  const stage = flags.stage || "staging";
  const stages = [...new Set([...DEFAULT_STAGES, ...Object.keys(file.config.stages ?? {})])];
  if (!stages.includes(stage)) {
    return context.misuse(`there is no stage ${JSON.stringify(stage)}`, `the stages are: ${stages.join(", ")}`);
  }

  const config = forStage(file.config, stage);
  const commands = commandsOf(context, config, hook);
  if (commands.length === 0) {
    await context.say(`there is nothing to run: ${CONFIG_FILE} has no hook ${hook}, and none follows from the files`);
  }
  const env = withPackageBinaries(appEnvironment(context, config, stage), context.directory);
  const done: { command: string; exitCode: number | null; signal: string | null; durationMs: number }[] = [];
  let code: number = EXIT.ok;
  for (const command of commands) {
    await context.say(paintDim(context, `${hook}: ${command}`));
    const begin = performance.now();
    const end = await runInShell(context, command, env);
    const durationMs = Math.round(performance.now() - begin);
    done.push({ command, exitCode: end.code, signal: end.signal, durationMs });
    if (end.isInterrupted) code = EXIT.interrupted;
    else if (end.code !== 0) {
      const how = end.code === null ? `was ended by ${end.signal}` : `ended with exit code ${end.code}`;
      code = await context.fail(`${hook} failed: ${command} ${how}`);
    } else if (context.verbose) await context.say(paintDim(context, `${hook}: done in ${humanDuration(durationMs)}`));
    if (code !== EXIT.ok) break;
  }
  if (context.format === "json") await context.print(JSON.stringify({ hook, stage, commands: done }, null, 2));
  return code;
}

function isHook(name: string): name is (typeof HOOKS)[number] {
  return (HOOKS as readonly string[]).includes(name);
}

/** What tool.json writes; for build and clean, what the marker files tell. */
function commandsOf(context: Context, config: Config, hook: keyof Hooks): readonly string[] {
  if (config.hooks?.[hook] !== undefined) return hookCommands(config.hooks, hook);
  const { inference } = resolveProject(context, config, { development: false });
  const inferred = hook === "build" ? inference.build : hook === "clean" ? inference.clean : undefined;
  return inferred === undefined ? [] : [inferred];
}

interface ShellEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isInterrupted: boolean;
}

function runInShell(context: Context, command: string, env: NodeJS.ProcessEnv): Promise<ShellEnd> {
  const { io } = context;
  // On a terminal the hook stays in its process group: it may ask questions, and Ctrl-C reaches it. Elsewhere it gets a
  // group of its own, so that all that it started can be ended.
  const isOwnGroup = !io.stderr.isTerminal;
  const child = spawn("sh", ["-c", command], {
    cwd: context.directory,
    env,
    detached: isOwnGroup,
    // With --format json stdout belongs to the document.
    stdio: ["inherit", context.format === "json" ? 2 : "inherit", "inherit"],
  });
  const send = (signal: NodeJS.Signals | 0): boolean => {
    if (child.pid === undefined) return false;
    try {
      return process.kill(isOwnGroup ? -child.pid : child.pid, signal);
    } catch (error) {
      // Nobody is left.
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
      throw error;
    }
  };
  let signals = 0;
  let unheeded: NodeJS.Timeout | undefined;
  const stopListening = io.onSignal((signal) => {
    signals++;
    if (signals > 1) send("SIGKILL");
    // The terminal has sent its Ctrl-C to the hook already.
    else if (isOwnGroup || signal !== "SIGINT") {
      send(signal);
      unheeded = setTimeout(() => send("SIGTERM"), HEED_SIGNAL_MS);
    }
  });
  const release = () => {
    clearTimeout(unheeded);
    stopListening();
  };
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      release();
      reject(new Error(`cannot start a shell in ${context.directory}`, { cause: error }));
    });
    child.once("exit", async (code, signal) => {
      const isInterrupted = signals > 0;
      // What a shell starts in the background does not hear SIGINT.
      if (isInterrupted && isOwnGroup && send("SIGTERM")) {
        for (let waitedMs = 0; waitedMs < GROUP_END_MS && send(0); waitedMs += 20) await sleep(20);
        send("SIGKILL");
      }
      release();
      resolve({ code, signal, isInterrupted });
    });
  });
}

function paintDim({ io }: Context, text: string): string {
  return io.stderr.color ? `\u001b[2m${text}\u001b[0m` : text;
}
