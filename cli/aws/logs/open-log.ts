import type { Query } from "../../../grammar/query/index.ts";
import type { ResolvedConfig } from "../../../schema/index.ts";
import type { LogLine } from "../../logs/log-line.ts";
import { PlatformError } from "../../platform.ts";
import { profileNames } from "../../project/profile-region.ts";
import { openCloud } from "../clients.ts";
import { explainError } from "../errors.ts";
import { logGroupName } from "../names.ts";
import { readCloudLog } from "./cloud-log.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface LogRequest {
  readonly query: Query;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  readonly follow: boolean;
  readonly nowMs: () => number;
  /** A log that is followed could not be read for a while. */
  readonly onTrouble: (error: PlatformError) => void;
}

export interface OpenLog {
  readonly region: string;
  /**
   * Lines that the query may select, oldest first. Throws a PlatformError; `logs/not-deployed` where there is no log
   * group.
   */
  read(request: LogRequest, signal: AbortSignal): AsyncGenerator<readonly LogLine[]>;
}

export function openLog({ env, config }: { readonly env: Env; readonly config: ResolvedConfig }): OpenLog {
  const region = config.regions[0]!;
  const { profile } = config;
  const cloud = openCloud({ env, region, profile });
  const explain = (error: unknown): unknown => {
    if (error instanceof Error && error.name === "ResourceNotFoundException") {
      return new PlatformError("logs/not-deployed", `${config.name} has no log in ${region}`, "tool deploy makes it");
    }
    return explainError(error, { region, profile }) ?? error;
  };
  return {
    region,
    async *read(request, signal) {
      try {
        const onTrouble = (error: unknown) => {
          const explained = explain(error);
          // Waiting brings no rights and no credentials.
          if (!(explained instanceof PlatformError) || !/^(network|platform)\//.test(explained.code)) throw explained;
          request.onTrouble(explained);
        };
        yield* readCloudLog(await cloud.logs(), { ...request, group: logGroupName(config.name), onTrouble }, signal);
      } catch (error) {
        if (signal.aborted) return;
        throw explain(error);
      }
    },
  };
}

/** Whether somebody set this machine up for a cloud: without that, nothing is asked, as each call would wait for nothing. */
export function hasCredentials(env: Env): boolean {
  return VARIABLES.some((name) => env[name]) || profileNames(env).size > 0;
}

const VARIABLES = [
  "CLOUD_ACCESS_KEY_ID",
  "CLOUD_PROFILE",
  "AWS_ACCESS_KEY_ID",
  "AWS_PROFILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
