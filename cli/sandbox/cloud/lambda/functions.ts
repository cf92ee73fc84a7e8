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
import { type CodeSource, codeOf, MAX_UNPACKED_BYTES } from "./code.ts";
import type { Layers } from "./layers.ts";
import type { Runner } from "./run.ts";
import { changedSettings } from "./settings.ts";
import {
  type Code,
  checkRevision,
  conflict,
  invalid,
  type LambdaFunction,
  type LambdaState,
  newRevision,
  notFound,
  type Settings,
  type Version,
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
      const found = state.functions.get(name);
      const version = number === "$LATEST" ? found?.latest : found?.versions.get(number);
      if (version === undefined) return;
      version.updateStatus = "Successful";
      version.state = "Active";
      // The end of the work is a revision of its own (aws/aws-sdk issue 377): the id that the update answered is of no
      // use for the next one, only that of the configuration as it is afterwards.
      version.revisionId = newRevision();
    },
  });

  const begin = (found: LambdaFunction, version: Version, ms: number) => {
    version.updateStatus = "InProgress";
    version.revisionId = newRevision();
    version.modifiedAt = clock.date();
    tasks.after(ms, "settle", `${found.name}:${version.version}`);
  };

  const checkIdle = (found: LambdaFunction) => {
    if (found.latest.state === "Pending") {
      throw conflict(
        `The operation cannot be performed at this time. The function is currently in the following state: Pending`,
      );
    }
    if (found.latest.updateStatus === "InProgress") {
      throw conflict(
        `The operation cannot be performed at this time. An update is in progress for resource: ${found.arn}`,
      );
    }
  };

  const checkWhole = (code: Code, settings: Settings) => {
    const bytes = settings.layers.reduce(
      (sum, arn) => sum + (layers.version(arn)?.code.unpackedBytes ?? 0),
      code.unpackedBytes,
    );
    if (bytes > MAX_UNPACKED_BYTES) {
      throw invalid(
        `Function code combined with layers exceeds the maximum allowed size of ${MAX_UNPACKED_BYTES} bytes. The actual size is ${bytes} bytes.`,
      );
    }
  };

  /** "Lambda doesn't publish a version if the function's configuration and code haven't changed since the last version." */
  const publish = (found: LambdaFunction, description?: string): Version => {
    const { latest } = found;
    const settings = description === undefined ? latest.settings : { ...latest.settings, description };
    const last = [...found.versions.values()].pop();
    if (last !== undefined && last.code.sha256 === latest.code.sha256 && isSame(last.settings, settings)) return last;
    const version: Version = {
      ...latest,
      settings,
      version: String(found.nextVersion),
      revisionId: newRevision(),
      modifiedAt: clock.date(),
    };
    found.nextVersion += 1;
    found.versions.set(version.version, version);
    if (version.state === "Pending" || version.updateStatus === "InProgress") begin(found, version, UPDATE_MS);
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
        throw invalid("Runtime and Handler are mandatory parameters for functions created with deployment packages.");
      }
      const code = codeOf(state, input.Code ?? {});
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
      const found: LambdaFunction = {
        name,
        arn: state.arnOf(name),
        latest,
        versions: new Map(),
        nextVersion: 1,
        aliases: new Map(),
        policies: new Map(),
        tags: new Map(Object.entries(input.Tags ?? {})),
      };
      state.functions.set(name, found);
      begin(found, latest, CREATE_MS);
      return described(layers, found, input.Publish ? publish(found) : latest);
    },
    GetFunction(input: GetFunctionCommandInput) {
      const { function: found, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      const version = state.resolve(found, qualifier);
      return {
        Configuration: described(layers, found, version, qualifier),
        Code: {
          RepositoryType: "S3",
          Location: `https://awslambda-${state.region}-tasks.s3.amazonaws.com/${version.code.sha256}`,
        },
        Tags: Object.fromEntries(found.tags),
      };
    },
    GetFunctionConfiguration(input: GetFunctionCommandInput) {
      const { function: found, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      return described(layers, found, state.resolve(found, qualifier), qualifier);
    },
    ListFunctions(input: ListFunctionsCommandInput) {
      const all = [...state.functions.values()];
      const begin = Number(input.Marker ?? 0);
      const limit = Math.min(input.MaxItems ?? MAX_ITEMS, MAX_ITEMS);
      return {
        Functions: all.slice(begin, begin + limit).map((found) => described(layers, found, found.latest)),
        ...(begin + limit < all.length && { NextMarker: String(begin + limit) }),
      };
    },
    UpdateFunctionCode(input: UpdateFunctionCodeCommandInput) {
      const found = state.function(input.FunctionName);
      checkRevision(input.RevisionId, found.latest.revisionId, "GetFunction");
      checkIdle(found);
      const code = codeOf(state, input);
      checkWhole(code, found.latest.settings);
      if (input.DryRun) return described(layers, found, { ...found.latest, code });
      if (code.sha256 !== found.latest.code.sha256) runner.retire(found.name, "$LATEST");
      found.latest.code = code;
      if (input.Architectures !== undefined) {
        found.latest.settings = { ...found.latest.settings, architectures: input.Architectures };
      }
      begin(found, found.latest, UPDATE_MS);
      return described(layers, found, input.Publish ? publish(found) : found.latest);
    },
    UpdateFunctionConfiguration(input: UpdateFunctionConfigurationCommandInput) {
      const found = state.function(input.FunctionName);
      checkRevision(input.RevisionId, found.latest.revisionId, "GetFunction");
      checkIdle(found);
      const settings = changedSettings(state, layers, input, found.latest.settings);
      checkWhole(found.latest.code, settings);
      runner.retire(found.name, "$LATEST");
      found.latest.settings = settings;
      begin(found, found.latest, UPDATE_MS);
      return described(layers, found, found.latest);
    },
    PublishVersion(input: PublishVersionCommandInput) {
      const found = state.function(input.FunctionName);
      checkRevision(input.RevisionId, found.latest.revisionId, "GetFunction");
      checkIdle(found);
      if (input.CodeSha256 !== undefined && input.CodeSha256 !== found.latest.code.sha256) {
        throw invalid(
          `CodeSHA256 (${input.CodeSha256}) is different from current CodeSHA256 in $LATEST (${found.latest.code.sha256}). Please try again with the CodeSHA256 in $LATEST.`,
        );
      }
      return described(layers, found, publish(found, input.Description));
    },
    ListVersionsByFunction(input: ListVersionsByFunctionCommandInput) {
      const found = state.function(input.FunctionName);
      const all = [found.latest, ...found.versions.values()];
      const begin = Number(input.Marker ?? 0);
      const limit = Math.min(input.MaxItems ?? MAX_ITEMS, MAX_ITEMS);
      return {
        Versions: all.slice(begin, begin + limit).map((version) => described(layers, found, version, version.version)),
        ...(begin + limit < all.length && { NextMarker: String(begin + limit) }),
      };
    },
    DeleteFunction(input: DeleteFunctionCommandInput) {
      const { function: found, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      if (qualifier === undefined) {
        runner.retire(found.name);
        state.functions.delete(found.name);
        return {};
      }
      if (qualifier === "$LATEST") throw invalid("$LATEST version cannot be deleted without deleting the function.");
      if (!found.versions.has(qualifier)) throw notFound(`${found.arn}:${qualifier}`);
      const users = [...found.aliases.values()].filter(
        ({ version, weights }) => version === qualifier || Object.hasOwn(weights ?? {}, qualifier),
      );
      if (users.length > 0) {
        throw conflict(
          `Version ${qualifier} cannot be deleted because it is referenced by aliases: ${users.map(({ name }) => name).join(", ")}`,
        );
      }
      runner.retire(found.name, qualifier);
      found.versions.delete(qualifier);
      return {};
    },
    PutFunctionConcurrency(input: { FunctionName?: string; ReservedConcurrentExecutions?: number }) {
      const found = state.function(input.FunctionName);
      found.reservedConcurrency = input.ReservedConcurrentExecutions ?? 0;
      return { ReservedConcurrentExecutions: found.reservedConcurrency };
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
    change(name: string, configuration: UpdateFunctionConfigurationCommandInput, source: CodeSource) {
      const found = state.function(name);
      const settings = changedSettings(state, layers, configuration, found.latest.settings);
      const code = codeOf(state, source);
      checkWhole(code, settings);
      runner.retire(found.name, "$LATEST");
      Object.assign(found.latest, { settings, code });
      begin(found, found.latest, UPDATE_MS);
    },
  };
}

function isSame(a: Settings, b: Settings): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function described(layers: Layers, found: LambdaFunction, version: Version, asked?: string): FunctionConfiguration {
  const { settings, code } = version;
  const qualifier = asked ?? (version.version === "$LATEST" ? undefined : version.version);
  return {
    FunctionName: found.name,
    FunctionArn: qualifier === undefined ? found.arn : `${found.arn}:${qualifier}`,
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
    LoggingConfig: { LogFormat: "Text", LogGroup: `/aws/lambda/${found.name}` },
  };
}
