import type { Config, Inference, ResolvedConfig } from "../schema/index.ts";
import { readConfigFile, readNeededConfig } from "./config-file.ts";
import type { Context } from "./context.ts";
import { openTarget } from "./open-platform.ts";
import { openSandbox, placed, usesSandbox } from "./open-sandbox.ts";
import type { SandboxAccess } from "./platform/sandbox.ts";
import type { DeployTarget } from "./platform/target.ts";
import { resolveProject } from "./project/resolve-config.ts";
import { explainStage } from "./project/stage-word.ts";

/** A project and the target that it is deployed to. */
export interface OpenedProject {
  readonly config: Config;
  readonly resolved: ResolvedConfig;
  readonly inference: Inference;
  readonly stage: string;
  readonly target: DeployTarget;
  /** The sandbox, if the target is there. */
  readonly sandbox: SandboxAccess | undefined;
}

/** Reads tool.json, checks the stage's name, and opens the target. Makes no call yet. */
export async function openProjectTarget(
  context: Context,
  stage: string,
  options: {
    readonly sandbox: boolean;
    readonly deploys?: boolean;
    /** Needs little of tool.json: errors in the rest do not end the command. */
    readonly needsLittle?: boolean;
  },
): Promise<OpenedProject> {
  const { deploys = false, needsLittle = false } = options;
  const isForCloud = deploys && !usesSandbox(context, options.sandbox);
  const { config } = needsLittle
    ? await readNeededConfig(context)
    : await readConfigFile(context, { sizes: deploys, appliesPro: deploys, isForCloud });
  const wrong = explainStage(stage, config);
  if (wrong !== undefined) return context.misuse(wrong.message, wrong.hint);
  const { config: resolved, inference } = resolveProject(context, config, { development: false, stage });
  const sandbox = await openSandbox(context, options.sandbox, {
    app: config.name,
    deploys,
  });
  const target = await openTarget({
    env: context.io.env,
    clock: context.io.clock,
    config,
    resolved: placed(resolved, sandbox),
    sandbox,
  });
  return { config, resolved, inference, stage, target, sandbox };
}
