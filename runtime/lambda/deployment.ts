import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "../../grammar/entry.ts";
import { type Config, withDefaults } from "../../schema/index.ts";
import { type Application, createApplication } from "../index.ts";

/** The folder of the runtime's own files in a deployment. Never served, like every dotfile. */
export const RUNTIME_FOLDER = ".tool";

/** What `RUNTIME_FOLDER/deployment.json` holds: decided when the deployment is built, so that nothing is checked here. */
export interface Deployment {
  /** tool.json, checked, with the stage's overrides applied and the type that was inferred written. */
  readonly config: Config;
  readonly stage: string;
  /** Run by a shell in the deployment's folder; absent for a static site. */
  readonly command?: string;
  /** Variables that the command needs besides the function's own, such as PYTHONPATH. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface DeploymentOptions {
  readonly directory: string;
  /** Environment of the function. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: (entries: readonly Entry[]) => void;
}

/** The deployed app behind the pipeline, not started yet. Rejects if the deployment cannot be read. */
export async function loadDeployment(options: DeploymentOptions): Promise<Application> {
  const { directory, env, log } = options;
  const path = join(directory, RUNTIME_FOLDER, "deployment.json");
  const { config, stage, command, environment }: Deployment = JSON.parse(await readFile(path, "utf8"));
  return createApplication({
    config: withDefaults(config, { env }),
    directory,
    stage: env.TOOL_STAGE ?? stage,
    version: env.AWS_LAMBDA_FUNCTION_VERSION ?? "$LATEST",
    commit: env.TOOL_COMMIT,
    command,
    env: { ...forApp(env), ...environment },
    log,
    // The platform stores lines by the time at which it takes them, and searches by that.
    entryTimes: "now",
  });
}

/** An app that talked to the Runtime API would take events away, and its own children would be wrapped again. */
function forApp(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { AWS_LAMBDA_RUNTIME_API: _api, AWS_LAMBDA_EXEC_WRAPPER: _wrapper, ...own } = env;
  return own;
}
