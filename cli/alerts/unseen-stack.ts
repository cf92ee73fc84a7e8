import type { Config } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../context.ts";
import { PlatformError } from "../platform/error.ts";
import { usesFirehose } from "../platform/log-tokens.ts";

/**
 * Runs what asks the cloud for the stack. Returns the error if this machine has no credentials: the log service of tool.json
 * needs none, so that people who have nothing else can plan and apply its alerts. Without such a service, the error is thrown.
 */
export async function unlessUnseen<T>(
  planLogs: () => Promise<{ readonly service: string | undefined } | undefined>,
  run: () => Promise<T>,
): Promise<T | PlatformError> {
  try {
    return await run();
  } catch (error) {
    if (!hasNoCredentials(error) || (await planLogs())?.service === undefined) throw error;
    return error;
  }
}

export const hasNoCredentials = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && error.code === "credentials/missing";

/** Says that the stack was not looked at. Returns the exit code: it is a failure if somebody means there to be one. */
export async function sayUnseen(context: Context, config: Config, { message, hint }: PlatformError): Promise<number> {
  if (namesCloud(config) || CHOSEN.some((name) => context.io.env[name])) {
    await context.error(`the stack was not looked at, and stays as it is: ${message}`, hint);
    return EXIT.failed;
  }
  await context.say(
    `${message}: what is deployed of ${config.name}, if anything, was not looked at and stays as it is`,
  );
  return EXIT.ok;
}

/** Whether tool.json has what only `tool stack apply` makes, or says whose credentials to take. */
function namesCloud(config: Config): boolean {
  const { profile, dns, actions, alerts, stages = {}, logs } = config;
  const ofStack = [profile, dns, actions, alerts, logs?.retention].some((member) => member !== undefined);
  return ofStack || usesFirehose(config) || Object.keys(stages).some((stage) => stage !== "development");
}

/** Variables that choose credentials: those that they mean are missing by mistake. */
const CHOSEN = ["CLOUD_PROFILE", "CLOUD_ACCESS_KEY_ID", "CLOUD_SECRET_ACCESS_KEY", "AWS_PROFILE"];
