import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { FunctionConfiguration, UpdateFunctionConfigurationCommandInput } from "@aws-sdk/client-lambda";
import type { Config, ResolvedConfig } from "../../../schema/index.ts";
import type { DeployRequest } from "../../platform/target.ts";
import { roleName } from "../names.ts";

/** The configuration of one stage's function: everything in a published version besides its code. */
export interface FunctionSettings {
  readonly runtime: string;
  readonly memoryMiB: number;
  readonly timeoutSeconds: number;
  readonly description: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly vpc: { readonly subnets: readonly string[]; readonly securityGroups: readonly string[] };
  /** The layers of tool.json. The layer with the runtime is added if it is needed. */
  readonly layers: readonly string[];
  /** Hash of the executable in the runtime's layer; undefined if none is needed. */
  readonly runtimeLayerHash: string | undefined;
  /** As written in tool.json; undefined for the role that a deploy creates, even if it is written by name. */
  readonly role: string | undefined;
}

export interface SettingsInput {
  /** tool.json with the stage's overrides applied, as written and with defaults. */
  readonly written: Config;
  readonly config: ResolvedConfig;
  readonly runtime: string;
  readonly runtimeLayerHash: string | undefined;
  /** All variables of the function. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The variables that are the same for whatever is in `tool env`: those of tool.json and the tool's own. Pure. */
export function fixedVariables(
  config: Pick<ResolvedConfig, "environment">,
  {
    stage,
    commit,
    wrapper,
    logs,
  }: {
    readonly stage: string;
    readonly commit: string | undefined;
    readonly wrapper: string;
    readonly logs?: DeployRequest["logs"];
  },
): Record<string, string> {
  return {
    ...config.environment,
    TOOL_STAGE: stage,
    ...(commit !== undefined && { TOOL_COMMIT: commit }),
    ...(logs !== undefined && { TOOL_LOGS_URL: logs.url, TOOL_LOGS_TOKEN: logs.token }),
    TOOL_RESPONSE_MODE: "stream",
    AWS_LAMBDA_EXEC_WRAPPER: wrapper,
  };
}

/** Pure. */
export function functionSettings(input: SettingsInput): FunctionSettings {
  const { written, config, environment, runtime, runtimeLayerHash } = input;
  const { memory, timeout, vpc, layers } = config.function;
  const role = written.function?.role;
  return {
    runtime,
    memoryMiB: memory,
    timeoutSeconds: timeout,
    description: config.description.slice(0, MAX_DESCRIPTION_LENGTH),
    environment,
    vpc: { subnets: vpc?.subnets ?? [], securityGroups: vpc?.security_groups ?? [] },
    layers,
    runtimeLayerHash,
    role: role === roleName(config.name, config.regions[0]!) ? undefined : role,
  };
}

/** Lambda's limit. */
const MAX_DESCRIPTION_LENGTH = 256;

/** Hash of everything that makes a new version. 132 bits: no collisions by chance, and short enough for a record. */
export function settingsHash(settings: FunctionSettings): string {
  const ordered = { ...settings, environment: Object.entries(settings.environment).sort() };
  return createHash("sha256").update(JSON.stringify(ordered)).digest("base64").slice(0, 22);
}

/** The settings in the service's terms. Empty ones are included, because an update keeps what it does not name. */
export function configurationOf(
  settings: FunctionSettings,
  { roleArn, runtimeLayerArn }: { readonly roleArn: string; readonly runtimeLayerArn: string | undefined },
) {
  return {
    Runtime: settings.runtime as NonNullable<UpdateFunctionConfigurationCommandInput["Runtime"]>,
    // Required by the platform; never called, because the wrapper replaces the runtime.
    Handler: "tool.handler",
    Role: roleArn,
    MemorySize: settings.memoryMiB,
    Timeout: settings.timeoutSeconds,
    Description: settings.description,
    Environment: { Variables: { ...settings.environment } },
    VpcConfig: { SubnetIds: [...settings.vpc.subnets], SecurityGroupIds: [...settings.vpc.securityGroups] },
    Layers: [...settings.layers, ...(runtimeLayerArn === undefined ? [] : [runtimeLayerArn])],
  } satisfies Omit<UpdateFunctionConfigurationCommandInput, "FunctionName">;
}

/** Whether the function has exactly this configuration. */
export function isConfigured(current: FunctionConfiguration, wanted: ReturnType<typeof configurationOf>): boolean {
  const {
    Runtime,
    Handler,
    Role,
    MemorySize,
    Timeout,
    Description = "",
    Environment,
    VpcConfig,
    Layers = [],
  } = current;
  const own: typeof wanted = {
    Runtime: Runtime!,
    Handler: Handler as typeof wanted.Handler,
    Role: Role!,
    MemorySize: MemorySize!,
    Timeout: Timeout!,
    Description,
    Environment: { Variables: { ...Environment?.Variables } },
    VpcConfig: { SubnetIds: VpcConfig?.SubnetIds ?? [], SecurityGroupIds: VpcConfig?.SecurityGroupIds ?? [] },
    Layers: Layers.map(({ Arn }) => Arn!),
  };
  return isDeepStrictEqual(own, wanted);
}

/** Whether a version has this stage's environment, and not that of another deploy that came between. */
export function hasEnvironment(
  settings: FunctionSettings,
  current: Readonly<Record<string, string>> | undefined,
): boolean {
  const wanted = settings.environment;
  const names = Object.keys(wanted);
  return names.length === Object.keys(current ?? {}).length && names.every((name) => current?.[name] === wanted[name]);
}
