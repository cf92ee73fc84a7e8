import { delimiter, join } from "node:path";
import type { Config } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import type { VariableValues } from "../platform/variables.ts";
import { withoutSecrets } from "../without-secrets.ts";

/**
 * The environment of the app on this machine: the variables of the calling shell, below them those of `tool env`, then those
 * of tool.json, and the stage's name. NODE_ENV is the stage's name unless any of them has another.
 */
export function appEnvironment(
  context: Context,
  config: Pick<Config, "environment">,
  stage: string,
  variables: VariableValues,
): NodeJS.ProcessEnv {
  return { NODE_ENV: stage, ...config.environment, ...variables, ...withoutSecrets(context.io.env), TOOL_STAGE: stage };
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
  variables: VariableValues,
): NodeJS.ProcessEnv {
  const isStored = Object.keys(variables).length > 0;
  return {
    ...(stage === "development" && { NODE_ENV: stage }),
    ...config.environment,
    ...withoutSecrets(context.io.env),
    ...(isStored && { NODE_ENV: config.environment?.NODE_ENV ?? stage }),
    ...variables,
    TOOL_STAGE: stage,
  };
}

/** The environment with the commands of the project's packages first in PATH. */
export function withPackageBinaries(env: NodeJS.ProcessEnv, directory: string): NodeJS.ProcessEnv {
  const folder = join(directory, "node_modules", ".bin");
  return { ...env, PATH: env.PATH ? `${folder}${delimiter}${env.PATH}` : folder };
}
