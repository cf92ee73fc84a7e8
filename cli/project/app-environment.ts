import { delimiter, join } from "node:path";
import type { Config } from "../../schema/index.ts";
import type { Context } from "../context.ts";

/** Secrets in the shell that are for the tool only. An app may print its environment, or send it to an error tracker. */
const SECRETS_OF_THE_TOOL = ["TOOL_LOGS_TOKEN"];

/**
 * The environment of the app and of hooks: the variables of the calling shell, those of tool.json, and the stage's name. The
 * shell's take precedence, NODE_ENV too, which is the stage's name in development. The tool's own secrets are removed.
 */
export function appEnvironment(
  context: Context,
  config: Pick<Config, "environment">,
  stage: string,
): NodeJS.ProcessEnv {
  const env = { ...context.io.env };
  for (const name of SECRETS_OF_THE_TOOL) delete env[name];
  return {
    ...(stage === "development" && { NODE_ENV: stage }),
    ...config.environment,
    ...env,
    TOOL_STAGE: stage,
  };
}

/** The environment with the commands of the project's packages first in PATH. */
export function withPackageBinaries(env: NodeJS.ProcessEnv, directory: string): NodeJS.ProcessEnv {
  const folder = join(directory, "node_modules", ".bin");
  return { ...env, PATH: env.PATH ? `${folder}${delimiter}${env.PATH}` : folder };
}
