import { delimiter, join } from "node:path";
import type { Config } from "../../schema/index.ts";
import type { Context } from "../context.ts";

/** Secrets that the shell gives the tool itself. The app prints its environment, or sends it to who collects its errors. */
const SECRETS_OF_THE_TOOL = ["TOOL_LOGS_TOKEN"];

/**
 * The environment of what runs in the project: the calling shell's variables, then those of tool.json, and the stage's
 * name. What the shell sets wins, NODE_ENV included; it is the stage's name in development. The tool's own secrets stay
 * out, for the app and for hooks.
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

/** With the commands that the project's packages bring, before all others. */
export function withPackageBinaries(env: NodeJS.ProcessEnv, directory: string): NodeJS.ProcessEnv {
  const folder = join(directory, "node_modules", ".bin");
  return { ...env, PATH: env.PATH ? `${folder}${delimiter}${env.PATH}` : folder };
}
