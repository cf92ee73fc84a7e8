import { delimiter, join } from "node:path";
import type { Config } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import type { Values } from "../platform/variables.ts";

/** Secrets in the shell that are for the tool only. An app may print its environment, or send it to an error tracker. */
const SECRETS_OF_THE_TOOL = ["TOOL_LOGS_TOKEN"];

/**
 * The environment of the app and of hooks: the variables of the calling shell, below them those of `tool env`, then those of
 * tool.json, and the stage's name. NODE_ENV is the stage's name in development and together with variables of `tool env`,
 * unless any of them has another. The tool's own secrets are removed.
 */
export function appEnvironment(
  context: Context,
  config: Pick<Config, "environment">,
  stage: string,
  variables: Values = {},
): NodeJS.ProcessEnv {
  const env = { ...context.io.env };
  for (const name of SECRETS_OF_THE_TOOL) delete env[name];
  return {
    ...((stage === "development" || Object.keys(variables).length > 0) && { NODE_ENV: stage }),
    ...config.environment,
    ...variables,
    ...env,
    TOOL_STAGE: stage,
  };
}

/** The environment with the commands of the project's packages first in PATH. */
export function withPackageBinaries(env: NodeJS.ProcessEnv, directory: string): NodeJS.ProcessEnv {
  const folder = join(directory, "node_modules", ".bin");
  return { ...env, PATH: env.PATH ? `${folder}${delimiter}${env.PATH}` : folder };
}
