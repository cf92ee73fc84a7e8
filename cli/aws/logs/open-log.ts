import { PlatformError } from "../../platform/error.ts";
import type { AppLog, LogSource } from "../../platform/log.ts";
import { profileNames } from "../../project/profile-region.ts";
import { openCloud } from "../clients.ts";
import { CREDENTIAL_VARIABLES } from "../credentials.ts";
import { explainError } from "../errors.ts";
import { isNotFound } from "../function/aliases.ts";
import { functionName, logGroupName, partition } from "../names.ts";
import { readCloudLog } from "./cloud-log.ts";

type Env = Readonly<Record<string, string | undefined>>;

export function openLog({ env, clock, config, sandbox }: LogSource): AppLog {
  const region = config.regions[0]!;
  const { profile } = config;
  const cloud = openCloud({ env, clock, region, profile, sandbox });
  const place = sandbox === undefined ? region : "the sandbox";
  const explain = (error: unknown): unknown => {
    if (isNotFound(error)) {
      return new PlatformError("logs/not-deployed", `${config.name} has no log in ${place}`, "tool deploy makes it");
    }
    return explainError(error, { region, profile, isSandbox: sandbox !== undefined }) ?? error;
  };
  const isDeployed = async (signal: AbortSignal) => {
    const lambda = await cloud.lambda();
    try {
      await lambda.getFunctionConfiguration({ FunctionName: functionName(config.name) }, { abortSignal: signal });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  };
  const liveOf = async (group: string) =>
    `arn:${partition(region)}:logs:${region}:${await cloud.accountId()}:log-group:${group}`;
  return {
    place,
    async *read(request, signal) {
      try {
        const onTrouble = (error: unknown) => {
          const explained = explain(error);
          // Missing rights and credentials do not come by waiting.
          if (!(explained instanceof PlatformError) || !/^(network|platform)\//.test(explained.code)) throw explained;
          request.onTrouble(explained);
        };
        const group = logGroupName(config.name);
        const live = request.live && request.follow ? await liveOf(group) : undefined;
        yield* readCloudLog(
          await cloud.logs(),
          {
            ...request,
            group,
            clock,
            // The platform creates the group when the function first writes to it.
            isAwaited: () => isDeployed(signal),
            onTrouble,
            live: live === undefined ? undefined : { groupArn: live, onSampled: request.onSampled },
          },
          signal,
        );
      } catch (error) {
        if (signal.aborted) return;
        throw explain(error);
      }
    },
  };
}

/** Whether this machine has any cloud credentials. Without them a call would only wait for a timeout. */
export function hasCloudCredentials(env: Env): boolean {
  return VARIABLES.some((name) => env[name]) || profileNames(env).size > 0;
}

const VARIABLES = ["CLOUD_ACCESS_KEY_ID", "CLOUD_PROFILE", "AWS_PROFILE", ...CREDENTIAL_VARIABLES];
