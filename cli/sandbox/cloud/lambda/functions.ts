// Functions and their versions.
import type {
  CreateFunctionCommandInput,
  DeleteFunctionCommandInput,
  FunctionConfiguration,
  GetFunctionCommandInput,
  ListFunctionsCommandInput,
  ListVersionsByFunctionCommandInput,
  PublishVersionCommandInput,
  UpdateFunctionCodeCommandInput,
  UpdateFunctionConfigurationCommandInput,
} from "@aws-sdk/client-lambda";
import { AwsError } from "../protocol/error.ts";
import { type FunctionCodeSource, functionCodeOf, MAX_UNPACKED_BYTES } from "./code.ts";
import type { Layers } from "./layers.ts";
import type { Runner } from "./run.ts";
import { changedSettings } from "./settings.ts";
import {
  checkRevision,
  conflict,
  type FunctionCode,
  functionNotFound,
  invalidParameterValue,
  type LambdaFunction,
  type LambdaState,
  newRevision,
  type Version,
  type VersionSettings,
} from "./state.ts";

/** How long a new function is pending and a change in progress, in the cloud's time. */
const CREATE_MS = 3_000;
const UPDATE_MS = 1_000;

/** "ListVersionsByFunction: at most 50 items in each response, even if you set the number higher." */
const MAX_ITEMS = 50;

export function functionOperations(state: LambdaState, layers: Layers, runner: Runner) {
  const { clock } = state.world;

  const tasks = state.world.tasks("lambda", state.region, {
    settle(key) {
      const [name = "", number = ""] = key.split(":");
      const lambdaFunction = state.functions.get(name);
      const version = number === "$LATEST" ? lambdaFunction?.latest : lambdaFunction?.versions.get(number);
      if (version === undefined) return;
      version.updateStatus = "Successful";
      version.state = "Active";
      // The end of the work is a revision of its own (aws/aws-sdk issue 377): the id that the update answered is of no
      // use for the next one, only that of the configuration as it is afterwards.
      version.revisionId = newRevision();
    },
  });

  const begin = (lambdaFunction: LambdaFunction, version: Version, ms: number) => {
    version.updateStatus = "InProgress";
    version.revisionId = newRevision();
    version.modifiedAt = clock.date();
    tasks.after(ms, "settle", `${lambdaFunction.name}:${version.version}`);
  };

  const checkWhole = (code: FunctionCode, settings: VersionSettings) => {
    const bytes = settings.layers.reduce(
      (sum, arn) => sum + (layers.version(arn)?.code.unpackedBytes ?? 0),
      code.unpackedBytes,
    );
    if (bytes > MAX_UNPACKED_BYTES) {
      throw invalidParameterValue(
        `Function code combined with layers exceeds the maximum allowed size of ${MAX_UNPACKED_BYTES} bytes. The actual size is ${bytes} bytes.`,
      );
    }
  };

  /** "Lambda doesn't publish a version if the function's configuration and code haven't changed since the last version." */
  const publish = (lambdaFunction: LambdaFunction, description?: string): Version => {
    const { latest } = lambdaFunction;
    const settings = description === undefined ? latest.settings : { ...latest.settings, description };
    const last = [...lambdaFunction.versions.values()].pop();
    if (last !== undefined && last.code.sha256 === latest.code.sha256 && isSame(last.settings, settings)) return last;
    const version: Version = {
      ...latest,
      settings,
      version: String(lambdaFunction.nextVersion),
      revisionId: newRevision(),
      modifiedAt: clock.date(),
    };
    lambdaFunction.nextVersion += 1;
    lambdaFunction.versions.set(version.version, version);
    if (version.state === "Pending" || version.updateStatus === "InProgress") begin(lambdaFunction, version, UPDATE_MS);
    return version;
  };

  const operations = {
    CreateFunction(input: CreateFunctionCommandInput) {
      const name = (input.FunctionName ?? "").replace(/^arn:aws:lambda:[^:]+:\d+:function:/, "");
      if (!/^[\w-]{1,64}$/.test(name)) {
        throw new AwsError(
          "ValidationException",
          `1 validation error detected: Value '${name}' at 'functionName' failed to satisfy constraint: Member must satisfy regular expression pattern: (arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}((-gov)|(-iso(b?)))?-[a-z]+-\\d{1}:)?(\\d{12}:)?(function:)?([a-zA-Z0-9-_]+)(:(\\$LATEST|[a-zA-Z0-9-_]+))?`,
        );
      }
      if (state.functions.has(name)) throw conflict(`Function already exist: ${name}`);
      const settings = changedSettings(state, layers, input);
      if (settings.runtime === undefined || settings.handler === undefined) {
        throw invalidParameterValue(
          "Runtime and Handler are mandatory parameters for functions created with deployment packages.",
        );
      }
      const code = functionCodeOf(state, input.Code ?? {});
      checkWhole(code, settings);
      const latest: Version = {
        version: "$LATEST",
        settings,
        code,
        modifiedAt: clock.date(),
        revisionId: newRevision(),
        state: "Pending",
        updateStatus: "InProgress",
      };
      const lambdaFunction: LambdaFunction = {
        name,
        arn: state.arnOf(name),
        latest,
        versions: new Map(),
        nextVersion: 1,
        aliases: new Map(),
        policies: new Map(),
        tags: new Map(Object.entries(input.Tags ?? {})),
      };
      state.functions.set(name, lambdaFunction);
      begin(lambdaFunction, latest, CREATE_MS);
      return described(layers, lambdaFunction, input.Publish ? publish(lambdaFunction) : latest);
    },
    GetFunction(input: GetFunctionCommandInput) {
      const { lambdaFunction, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      const version = state.resolve(lambdaFunction, qualifier);
      return {
        Configuration: described(layers, lambdaFunction, version, qualifier),
        Code: {
          RepositoryType: "S3",
          Location: `https://awslambda-${state.region}-tasks.s3.amazonaws.com/${version.code.sha256}`,
        },
        Tags: Object.fromEntries(lambdaFunction.tags),
      };
    },
    GetFunctionConfiguration(input: GetFunctionCommandInput) {
      const { lambdaFunction, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      return described(layers, lambdaFunction, state.resolve(lambdaFunction, qualifier), qualifier);
    },
    ListFunctions(input: ListFunctionsCommandInput) {
      const all = [...state.functions.values()];
      const begin = Number(input.Marker ?? 0);
      const limit = Math.min(input.MaxItems ?? MAX_ITEMS, MAX_ITEMS);
      return {
        Functions: all
          .slice(begin, begin + limit)
          .map((lambdaFunction) => described(layers, lambdaFunction, lambdaFunction.latest)),
        ...(begin + limit < all.length && { NextMarker: String(begin + limit) }),
      };
    },
    UpdateFunctionCode(input: UpdateFunctionCodeCommandInput) {
      const lambdaFunction = state.function(input.FunctionName);
      checkRevision(input.RevisionId, lambdaFunction.latest.revisionId, "GetFunction");
      checkIdle(lambdaFunction);
      const code = functionCodeOf(state, input);
      checkWhole(code, lambdaFunction.latest.settings);
      if (input.DryRun) return described(layers, lambdaFunction, { ...lambdaFunction.latest, code });
      if (code.sha256 !== lambdaFunction.latest.code.sha256) runner.retire(lambdaFunction.name, "$LATEST");
      lambdaFunction.latest.code = code;
      if (input.Architectures !== undefined) {
        lambdaFunction.latest.settings = { ...lambdaFunction.latest.settings, architectures: input.Architectures };
      }
      begin(lambdaFunction, lambdaFunction.latest, UPDATE_MS);
      return described(layers, lambdaFunction, input.Publish ? publish(lambdaFunction) : lambdaFunction.latest);
    },
    UpdateFunctionConfiguration(input: UpdateFunctionConfigurationCommandInput) {
      const lambdaFunction = state.function(input.FunctionName);
      checkRevision(input.RevisionId, lambdaFunction.latest.revisionId, "GetFunction");
      checkIdle(lambdaFunction);
      const settings = changedSettings(state, layers, input, lambdaFunction.latest.settings);
      checkWhole(lambdaFunction.latest.code, settings);
      runner.retire(lambdaFunction.name, "$LATEST");
      lambdaFunction.latest.settings = settings;
      begin(lambdaFunction, lambdaFunction.latest, UPDATE_MS);
      return described(layers, lambdaFunction, lambdaFunction.latest);
    },
    PublishVersion(input: PublishVersionCommandInput) {
      const lambdaFunction = state.function(input.FunctionName);
      checkRevision(input.RevisionId, lambdaFunction.latest.revisionId, "GetFunction");
      checkIdle(lambdaFunction);
      if (input.CodeSha256 !== undefined && input.CodeSha256 !== lambdaFunction.latest.code.sha256) {
        throw invalidParameterValue(
          `CodeSHA256 (${input.CodeSha256}) is different from current CodeSHA256 in $LATEST (${lambdaFunction.latest.code.sha256}). Please try again with the CodeSHA256 in $LATEST.`,
        );
      }
      return described(layers, lambdaFunction, publish(lambdaFunction, input.Description));
    },
    ListVersionsByFunction(input: ListVersionsByFunctionCommandInput) {
      const lambdaFunction = state.function(input.FunctionName);
      const all = [lambdaFunction.latest, ...lambdaFunction.versions.values()];
      const begin = Number(input.Marker ?? 0);
      const limit = Math.min(input.MaxItems ?? MAX_ITEMS, MAX_ITEMS);
      return {
        Versions: all
          .slice(begin, begin + limit)
          .map((version) => described(layers, lambdaFunction, version, version.version)),
        ...(begin + limit < all.length && { NextMarker: String(begin + limit) }),
      };
    },
    DeleteFunction(input: DeleteFunctionCommandInput) {
      const { lambdaFunction, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      if (qualifier === undefined) {
        runner.retire(lambdaFunction.name);
        state.functions.delete(lambdaFunction.name);
        return {};
      }
      if (qualifier === "$LATEST")
        throw invalidParameterValue("$LATEST version cannot be deleted without deleting the function.");
      if (!lambdaFunction.versions.has(qualifier)) throw functionNotFound(`${lambdaFunction.arn}:${qualifier}`);
      const users = [...lambdaFunction.aliases.values()].filter(
        ({ version, weights }) => version === qualifier || Object.hasOwn(weights ?? {}, qualifier),
      );
      if (users.length > 0) {
        throw conflict(
          `Version ${qualifier} cannot be deleted because it is referenced by aliases: ${users.map(({ name }) => name).join(", ")}`,
        );
      }
      runner.retire(lambdaFunction.name, qualifier);
      lambdaFunction.versions.delete(qualifier);
      return {};
    },
    PutFunctionConcurrency(input: { FunctionName?: string; ReservedConcurrentExecutions?: number }) {
      const lambdaFunction = state.function(input.FunctionName);
      lambdaFunction.reservedConcurrency = input.ReservedConcurrentExecutions ?? 0;
      return { ReservedConcurrentExecutions: lambdaFunction.reservedConcurrency };
    },
    TagResource(input: { Resource?: string; Tags?: Record<string, string> }) {
      const { tags } = state.function(input.Resource);
      for (const [key, value] of Object.entries(input.Tags ?? {})) tags.set(key, value);
    },
    UntagResource(input: { Resource?: string; TagKeys?: string[] }) {
      for (const key of input.TagKeys ?? []) state.function(input.Resource).tags.delete(key);
    },
    ListTags: (input: { Resource?: string }) => ({ Tags: Object.fromEntries(state.function(input.Resource).tags) }),
  };
  return {
    operations,
    /** Settings and code at once, as a stack changes them. */
    change(name: string, configuration: UpdateFunctionConfigurationCommandInput, source: FunctionCodeSource) {
      const lambdaFunction = state.function(name);
      const settings = changedSettings(state, layers, configuration, lambdaFunction.latest.settings);
      const code = functionCodeOf(state, source);
      checkWhole(code, settings);
      runner.retire(lambdaFunction.name, "$LATEST");
      Object.assign(lambdaFunction.latest, { settings, code });
      begin(lambdaFunction, lambdaFunction.latest, UPDATE_MS);
    },
  };
}

function isSame(a: VersionSettings, b: VersionSettings): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function checkIdle(lambdaFunction: LambdaFunction): void {
  if (lambdaFunction.latest.state === "Pending") {
    throw conflict(
      `The operation cannot be performed at this time. The function is currently in the following state: Pending`,
    );
  }
  if (lambdaFunction.latest.updateStatus === "InProgress") {
    throw conflict(
      `The operation cannot be performed at this time. An update is in progress for resource: ${lambdaFunction.arn}`,
    );
  }
}

function described(
  layers: Layers,
  lambdaFunction: LambdaFunction,
  version: Version,
  requestedQualifier?: string,
): FunctionConfiguration {
  const { settings, code } = version;
  const qualifier = requestedQualifier ?? (version.version === "$LATEST" ? undefined : version.version);
  return {
    FunctionName: lambdaFunction.name,
    FunctionArn: qualifier === undefined ? lambdaFunction.arn : `${lambdaFunction.arn}:${qualifier}`,
    Runtime: settings.runtime as NonNullable<FunctionConfiguration["Runtime"]>,
    Role: settings.role,
    Handler: settings.handler,
    CodeSize: code.zip.length,
    Description: settings.description,
    Timeout: settings.timeout,
    MemorySize: settings.memory,
    LastModified: version.modifiedAt.toISOString().replace("Z", "+0000"),
    CodeSha256: code.sha256,
    Version: version.version,
    ...(settings.environment !== undefined && { Environment: { Variables: { ...settings.environment } } }),
    ...(settings.vpc !== undefined && {
      VpcConfig: {
        SubnetIds: [...settings.vpc.subnets],
        SecurityGroupIds: [...settings.vpc.securityGroups],
        VpcId: "vpc-0123456789",
      },
    }),
    TracingConfig: { Mode: settings.tracing as "PassThrough" },
    RevisionId: version.revisionId,
    ...(settings.layers.length > 0 && {
      Layers: settings.layers.map((arn) => ({ Arn: arn, CodeSize: layers.version(arn)?.code.zip.length })),
    }),
    State: version.state,
    ...(version.state === "Pending" && {
      StateReason: "The function is being created.",
      StateReasonCode: "Creating" as const,
    }),
    LastUpdateStatus: version.updateStatus,
    ...(version.updateStatus === "InProgress" &&
      version.state === "Active" && { LastUpdateStatusReason: "The function is being updated." }),
    PackageType: "Zip",
    Architectures: [...settings.architectures] as NonNullable<FunctionConfiguration["Architectures"]>,
    EphemeralStorage: { Size: settings.ephemeralMiB },
    LoggingConfig: { LogFormat: "Text", LogGroup: `/aws/lambda/${lambdaFunction.name}` },
  };
}
