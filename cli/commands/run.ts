import { didYouMean } from "../../grammar/did-you-mean.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { forStage } from "../../schema/index.ts";
import { CONFIG_FILE, readConfigFile } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { commandsForHook, HOOKS, type HookName, howItEnded, runCommands, stagesOf } from "../hooks/hooks.ts";
import { hookEnvironment, withPackageBinaries } from "../project/app-environment.ts";
import { resolveProject } from "../project/resolve-config.ts";
import { explainStageOf } from "../project/stage-word.ts";
import { stageVariables } from "../stage-variables.ts";
import type { Options } from "../table.ts";

/** `tool run <hook>`: runs its commands one after another, each in its own shell in the project's folder. */
export async function run(context: Context, { hook, stage, ...flags }: Options<"run">): Promise<number> {
  if (!isHook(hook)) {
    const near = didYouMean(hook, HOOKS);
    return context.misuse(
      `there is no hook ${JSON.stringify(hook)}`,
      near === undefined ? `the hooks are: ${HOOKS.join(", ")}` : `did you mean ${near}?`,
    );
  }
  const file = await readConfigFile(context);
  const misuse = explainStageOf(stage, stagesOf(file.config));
  if (misuse !== undefined) return context.misuse(misuse.message, misuse.hint);

  const config = forStage(file.config, stage);
  const { config: resolved, inference } = resolveProject(context, file.config, { development: false, stage });
  const commands = commandsForHook(hook, config, inference);
  if (commands.length === 0) {
    await context.say(`there is nothing to run: ${CONFIG_FILE} has no hook ${hook}, and none follows from the files`);
  }
  const variables =
    commands.length > 0 ? await stageVariables(context, { config: file.config, resolved, stage, flags }) : {};
  const env = {
    ...hookEnvironment(context, config, stage, variables),
    // Commands of the tool that a hook runs work on the same place.
    ...(flags.sandbox && { TOOL_SANDBOX: "1" }),
  };
  const done = await runCommands(context, commands, {
    env: withPackageBinaries(env, context.directory),
    // With --format json, stdout holds the document alone.
    output: context.format === "json" ? "shown-on-stderr" : "shown",
    onBegin: (command) => context.say(paintDim(context, `${hook}: ${command}`)),
    onEnd: async ({ durationMs }) => {
      if (context.verbose) await context.say(paintDim(context, `${hook}: done in ${humanDuration(durationMs)}`));
    },
  });
  const last = done.at(-1);
  let code: number = EXIT.ok;
  if (last?.isInterrupted) code = EXIT.interrupted;
  else if (last !== undefined && last.code !== 0) {
    await context.error(`${hook} failed: ${howItEnded(last)}`);
    code = EXIT.failed;
  }
  if (context.format === "json") {
    const ends = done.map(({ command, code, signal, durationMs }) => ({ command, exitCode: code, signal, durationMs }));
    await context.print(JSON.stringify({ hook, stage, commands: ends }, null, 2));
  }
  return code;
}

function isHook(name: string): name is HookName {
  return (HOOKS as readonly string[]).includes(name);
}

function paintDim({ io }: Context, text: string): string {
  return io.stderr.color ? `\u001b[2m${text}\u001b[0m` : text;
}
