import { delimiter, join } from "node:path";
import type { Config } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import type { Values } from "../platform/variables.ts";

/** Secrets in the shell that are for the tool only. An app may print its environment, or send it to an error tracker. */
const SECRETS_OF_THE_TOOL = ["TOOL_LOGS_TOKEN"];

/**
 * The environment of the app on this machine: the variables of the calling shell, below them those of `tool env`, then those
 * of tool.json, and the stage's name. NODE_ENV is the stage's name unless any of them has another.
 */
export function appEnvironment(
  context: Context,
  config: Pick<Config, "environment">,
  stage: string,
  variables: Values,
): NodeJS.ProcessEnv {
  return { NODE_ENV: stage, ...config.environment, ...variables, ...shellOf(context), TOOL_STAGE: stage };
}

/**
 * The environment of a hook, which may write values into what is deployed: the variables of `tool env` come before those of
 * the shell, which may be left from another stage. With them NODE_ENV is the stage's name, unless tool.json or one of them
 * says otherwise. Variables of tool.json are below the shell's.
 */
export function hookEnvironment(
  context: Context,
  config: Pick<Config, "environment">,
  stage: string,
  variables: Values,
): NodeJS.ProcessEnv {
  const isStored = Object.keys(variables).length > 0;
  return {
    ...(stage === "development" && { NODE_ENV: stage }),
    ...config.environment,
    ...shellOf(context),
    ...(isStored && { NODE_ENV: config.environment?.NODE_ENV ?? stage }),
    ...variables,
    TOOL_STAGE: stage,
  };
}

/** The shell's variables without the tool's own secrets. */
function shellOf(context: Context): NodeJS.ProcessEnv {
  const env = { ...context.io.env };
  for (const name of SECRETS_OF_THE_TOOL) delete env[name];
  return env;
}

/** The environment with the commands of the project's packages first in PATH. */
export function withPackageBinaries(env: NodeJS.ProcessEnv, directory: string): NodeJS.ProcessEnv {
  const folder = join(directory, "node_modules", ".bin");
  return { ...env, PATH: env.PATH ? `${folder}${delimiter}${env.PATH}` : folder };
}
