import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { FunctionConfiguration, UpdateFunctionConfigurationCommandInput } from "@aws-sdk/client-lambda";
import type { Config, ResolvedConfig } from "../../../schema/index.ts";
import { roleName } from "../names.ts";

/** How the function of one stage is set up: all that a published version holds besides its code. */
export interface FunctionSettings {
  readonly runtime: string;
  readonly memoryMiB: number;
  readonly timeoutSeconds: number;
  readonly description: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly vpc: { readonly subnets: readonly string[]; readonly securityGroups: readonly string[] };
  /** Those of tool.json; the runtime's own is added where it is needed. */
  readonly layers: readonly string[];
  /** Of the layer with the runtime, where one is needed. */
  readonly runtimeLayerHash: string | undefined;
  /** As tool.json writes it; undefined for the role that deploying makes, by whose name `tool config` prints it. */
  readonly role: string | undefined;
}

export interface SettingsInput {
  /** The stage's overrides are applied. */
  readonly written: Config;
  readonly config: ResolvedConfig;
  readonly stage: string;
  readonly commit: string | undefined;
  readonly runtime: string;
  readonly wrapper: string;
  readonly runtimeLayerHash: string | undefined;
}

/** Pure. */
export function settingsOf(input: SettingsInput): FunctionSettings {
  const { written, config, stage, commit, runtime, wrapper, runtimeLayerHash } = input;
  const { memory, timeout, vpc, layers } = config.function;
  const role = written.function?.role;
  return {
    runtime,
    memoryMiB: memory,
    timeoutSeconds: timeout,
    description: config.description.slice(0, MAX_DESCRIPTION_LENGTH),
    environment: {
      ...config.environment,
      TOOL_STAGE: stage,
      ...(commit !== undefined && { TOOL_COMMIT: commit }),
      TOOL_RESPONSE_MODE: "stream",
      AWS_LAMBDA_EXEC_WRAPPER: wrapper,
    },
    vpc: { subnets: vpc?.subnets ?? [], securityGroups: vpc?.security_groups ?? [] },
    layers,
    runtimeLayerHash,
    role: role === roleName(config.name, config.regions[0]!) ? undefined : role,
  };
}

/** Lambda's limit. */
const MAX_DESCRIPTION_LENGTH = 256;

/** Of all that would make a new version. 132 bits: two settings never meet by chance, and a record has few characters. */
export function settingsHash(settings: FunctionSettings): string {
  const ordered = { ...settings, environment: Object.entries(settings.environment).sort() };
  return createHash("sha256").update(JSON.stringify(ordered)).digest("base64").slice(0, 22);
}

/** The same in the service's words. What is not wanted is written too: an update leaves alone what it does not name. */
export function configurationOf(
  settings: FunctionSettings,
  { roleArn, runtimeLayerArn }: { readonly roleArn: string; readonly runtimeLayerArn: string | undefined },
) {
  return {
    Runtime: settings.runtime as NonNullable<UpdateFunctionConfigurationCommandInput["Runtime"]>,
    // The platform wants one; the wrapper runs in place of what would look for it.
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

/** Whether the function is set up exactly so. */
export function isConfigured(found: FunctionConfiguration, wanted: ReturnType<typeof configurationOf>): boolean {
  const { Runtime, Handler, Role, MemorySize, Timeout, Description = "", Environment, VpcConfig, Layers = [] } = found;
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

/** Whether a version was published with this stage's environment, and not with that of another deploy between. */
export function hasEnvironment(
  settings: FunctionSettings,
  found: Readonly<Record<string, string>> | undefined,
): boolean {
  const wanted = settings.environment;
  const names = Object.keys(wanted);
  return names.length === Object.keys(found ?? {}).length && names.every((name) => found?.[name] === wanted[name]);
}
