// The settings of a function: what a request changes of them, and what the service refuses.
import type { CreateFunctionCommandInput, UpdateFunctionConfigurationCommandInput } from "@aws-sdk/client-lambda";
import { AwsError } from "../protocol/error.ts";
import type { Layers } from "./layers.ts";
import { invalidParameterValue, type LambdaState, type VersionSettings } from "./state.ts";

/** "4 KB, for all environment variables associated with the function, in aggregate." */
const MAX_ENVIRONMENT_BYTES = 4096;

/** "You can add up to five layers to a function." */
const MAX_LAYERS = 5;

const RUNTIMES = [
  "nodejs20.x",
  "nodejs22.x",
  "nodejs24.x",
  "python3.10",
  "python3.11",
  "python3.12",
  "python3.13",
  "python3.14",
  "java17",
  "java21",
  "java25",
  "provided.al2",
  "provided.al2023",
];

/** "Reserved environment variables: the keys are reserved and can't be set in your function configuration." */
const RESERVED =
  /^(_HANDLER|_X_AMZN_TRACE_ID|AWS_DEFAULT_REGION|AWS_REGION|AWS_EXECUTION_ENV|AWS_LAMBDA_(FUNCTION_(NAME|MEMORY_SIZE|VERSION)|INITIALIZATION_TYPE|LOG_(GROUP|STREAM)_NAME|RUNTIME_API)|AWS_ACCESS_KEY(_ID)?|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|LAMBDA_TASK_ROOT|LAMBDA_RUNTIME_DIR)$/;

const DEFAULTS: VersionSettings = {
  role: "",
  runtime: undefined,
  handler: undefined,
  description: "",
  timeout: 3,
  memory: 128,
  environment: undefined,
  layers: [],
  architectures: ["x86_64"],
  vpc: undefined,
  ephemeralMiB: 512,
  tracing: "PassThrough",
};

/** Environment, layers and the like are replaced whole if they are named. */
export function changedSettings(
  state: LambdaState,
  layers: Layers,
  input: CreateFunctionCommandInput | UpdateFunctionConfigurationCommandInput,
  before: VersionSettings = DEFAULTS,
): VersionSettings {
  checkRange("timeout", input.Timeout, 1, 900);
  checkRange("memorySize", input.MemorySize, 128, 10_240);
  checkRange("ephemeralStorage.size", input.EphemeralStorage?.Size, 512, 10_240);
  if (input.Runtime !== undefined && !RUNTIMES.includes(input.Runtime)) {
    throw invalidParameterValue(
      `Value ${input.Runtime} at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: [${RUNTIMES.join(", ")}] or be a valid ARN`,
    );
  }
  if (input.Role !== undefined) checkRole(state, input.Role);
  if (input.Environment?.Variables !== undefined) checkEnvironment(input.Environment.Variables);
  if (input.Layers !== undefined) checkLayers(layers, input.Layers);
  const { VpcConfig: vpc } = input;
  const isInVpc = (vpc?.SubnetIds?.length ?? 0) > 0;
  if (isInVpc && (vpc?.SecurityGroupIds?.length ?? 0) === 0)
    throw invalidParameterValue("Security group ids are required where there are subnet ids.");
  return {
    role: input.Role ?? before.role,
    runtime: input.Runtime ?? before.runtime,
    handler: input.Handler ?? before.handler,
    description: input.Description ?? before.description,
    timeout: input.Timeout ?? before.timeout,
    memory: input.MemorySize ?? before.memory,
    environment: input.Environment === undefined ? before.environment : input.Environment.Variables,
    layers: input.Layers ?? before.layers,
    architectures: ("Architectures" in input ? input.Architectures : undefined) ?? before.architectures,
    vpc:
      vpc === undefined
        ? before.vpc
        : isInVpc
          ? { subnets: vpc.SubnetIds ?? [], securityGroups: vpc.SecurityGroupIds ?? [] }
          : undefined,
    ephemeralMiB: input.EphemeralStorage?.Size ?? before.ephemeralMiB,
    tracing: input.TracingConfig?.Mode ?? before.tracing,
  };
}

function checkRange(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (value >= min && value <= max)) return;
  const side = value < min ? `greater than or equal to ${min}` : `less than or equal to ${max}`;
  throw new AwsError(
    "ValidationException",
    `1 validation error detected: Value '${value}' at '${name}' failed to satisfy constraint: Member must have value ${side}`,
  );
}

/** IAM needs some seconds until Lambda sees a new role. */
function checkRole(state: LambdaState, arn: string): void {
  const { world } = state;
  if (!/^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]+$/.test(arn)) {
    throw new AwsError(
      "ValidationException",
      `1 validation error detected: Value '${arn}' at 'role' failed to satisfy constraint: Member must satisfy regular expression pattern: arn:(aws[a-zA-Z-]*)?:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+`,
    );
  }
  const role = world.service("iam").roles.get(arn.split("/").pop()!);
  const isAssumable = role?.isAssumable === true && role.refusals === 0;
  if (role !== undefined && role.refusals > 0) role.refusals -= 1;
  if (!isAssumable || !role?.trust.includes("lambda.amazonaws.com")) {
    throw invalidParameterValue("The role defined for the function cannot be assumed by Lambda.");
  }
}

function checkEnvironment(variables: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(variables).filter((name) => RESERVED.test(name));
  if (reserved.length > 0) {
    throw invalidParameterValue(
      `Lambda was unable to configure your environment variables because the environment variables you have provided contains reserved keys that are currently not supported for modification. Reserved keys used in this request: ${reserved.join(", ")}`,
    );
  }
  const wrong = Object.keys(variables).find((name) => !/^[a-zA-Z]\w+$/.test(name));
  if (wrong !== undefined) {
    throw new AwsError(
      "ValidationException",
      `1 validation error detected: Value at 'environment.variables' failed to satisfy constraint: Map keys must satisfy constraint: [Member must satisfy regular expression pattern: [a-zA-Z]([a-zA-Z0-9_])+] (${wrong})`,
    );
  }
  const text = JSON.stringify(variables);
  if (Buffer.byteLength(text) > MAX_ENVIRONMENT_BYTES) {
    throw invalidParameterValue(
      `Lambda was unable to configure your environment variables because the environment variables you have provided exceeded the 4KB limit. String measured: ${text}`,
    );
  }
}

function checkLayers(layers: Layers, arns: readonly string[]): void {
  if (arns.length > MAX_LAYERS) throw invalidParameterValue(`Too many layers. Maximum of ${MAX_LAYERS} allowed`);
  for (const arn of arns) {
    if (layers.version(arn) === undefined) throw invalidParameterValue(`Layer version ${arn} does not exist.`);
  }
}
