import type { FunctionConfiguration, Lambda } from "@aws-sdk/client-lambda";
import type { Clock } from "../../../grammar/units/clock.ts";
import { PlatformError } from "../../platform/error.ts";
import { accountOf } from "../names.ts";
import { polling, retrying } from "../retrying.ts";
import { withoutValues } from "../without-values.ts";
import { configurationOf, type FunctionSettings, hasEnvironment, isConfigured } from "./settings.ts";
import type { FunctionCode } from "./upload.ts";

export interface Publication {
  readonly functionName: string;
  readonly settings: FunctionSettings;
  /** Whether the function may have these settings already: the stage's last deploy had the same ones. */
  readonly mayBeConfigured: boolean;
  readonly roleArn: string;
  /** Called if the service cannot assume the role, which may be missing and not just new. */
  readonly onRoleRefused: () => Promise<void>;
  readonly runtimeLayerArn: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly code: () => Promise<FunctionCode>;
  readonly sha256Base64: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly note: (text: string) => void;
}

export interface Published {
  readonly version: string;
  /** `reused`: an update that changes neither code nor configuration gives the last version again. */
  readonly origin: "created" | "updated" | "reused";
  readonly functionArn: string;
  readonly accountId: string;
}

/** A new role takes about ten seconds to be known everywhere. */
const ROLE_WAIT_MS = 60_000;
/** Other deploys of the same app, and attaching a network, take up to minutes. */
const BUSY_WAIT_MS = 180_000;
/** A function is ready after a second or two, after minutes in a VPC. */
const READY_WAIT_MS = 300_000;
const FIRST_WAIT_MS = 100;

/** Creates the function with its first version. Undefined if it exists by now. */
export async function createFunction(lambda: Lambda, publication: Publication): Promise<Published | undefined> {
  const { functionName, settings, roleArn, runtimeLayerArn, tags, signal } = publication;
  const code = await publication.code();
  try {
    const created = await retrying(
      () =>
        withoutValues(settings.environment, () =>
          lambda.createFunction(
            {
              FunctionName: functionName,
              ...configurationOf(settings, { roleArn, runtimeLayerArn }),
              PackageType: "Zip",
              // Compiled code (Go, Python's libraries) is built for this one.
              Architectures: ["x86_64"],
              Code: code,
              Publish: true,
              Tags: tags,
            },
            { abortSignal: signal },
          ),
        ),
      { ...roleWait(publication), signal, clock: publication.clock },
    );
    return { ...(await finish(lambda, publication, created)), origin: "created" };
  } catch (error) {
    if ((error as Error).name === "ResourceConflictException") return undefined;
    throw error;
  }
}

/**
 * Publishes a version with exactly this configuration and code. All stages share the unpublished function: the code is
 * put on top of the configuration only where nobody changed that in between, else all of it is done again.
 */
export async function updateFunction(lambda: Lambda, publication: Publication): Promise<Published> {
  const { functionName, settings, sha256Base64, signal, note } = publication;
  const code = await publication.code();
  let mayBeConfigured = publication.mayBeConfigured;
  return retrying(
    async () => {
      const existing = mayBeConfigured ? await alreadyConfigured(lambda, publication) : undefined;
      // If another deploy came between, the function is configured in any case.
      mayBeConfigured = false;
      const ready = existing ?? (await configure(lambda, publication));
      if (!hasEnvironment(settings, ready.Environment?.Variables)) throw new ChangedMeanwhile();
      const published = await lambda.updateFunctionCode(
        { FunctionName: functionName, ...code, Publish: true, RevisionId: ready.RevisionId },
        { abortSignal: signal },
      );
      const isOurs =
        published.CodeSha256 === sha256Base64 && hasEnvironment(settings, published.Environment?.Variables);
      if (!isOurs) throw new ChangedMeanwhile();
      const isReused = ready.CodeSha256 === sha256Base64 && (existing !== undefined || isOlder(published, ready));
      return { ...(await finish(lambda, publication, published)), origin: isReused ? "reused" : "updated" };
    },
    {
      isWorthAnother: ({ name }) =>
        name === "ChangedMeanwhile" || name === "PreconditionFailedException" || name === "ResourceConflictException",
      firstWaitMs: FIRST_WAIT_MS,
      limitMs: BUSY_WAIT_MS,
      onWait: () => note("another deploy of this app is in progress, waiting for it"),
      signal,
      clock: publication.clock,
    },
  );
}

/** The unpublished function was configured just now: a version that was modified before that is not new. */
function isOlder(version: FunctionConfiguration, configured: FunctionConfiguration): boolean {
  return Date.parse(version.LastModified ?? "") < Date.parse(configured.LastModified ?? "");
}

/** Configures the unpublished function and waits until it is ready. */
async function configure(lambda: Lambda, publication: Publication): Promise<FunctionConfiguration> {
  const { functionName, settings, roleArn, runtimeLayerArn, signal } = publication;
  const configured = await retrying(
    () =>
      withoutValues(settings.environment, () =>
        lambda.updateFunctionConfiguration(
          { FunctionName: functionName, ...configurationOf(settings, { roleArn, runtimeLayerArn }) },
          { abortSignal: signal },
        ),
      ),
    { ...roleWait(publication), signal, clock: publication.clock },
  );
  return settled(lambda, { functionName }, configured, publication);
}

/**
 * The unpublished function, if it has these settings and no update is running. Saves an update that would change nothing.
 */
async function alreadyConfigured(
  lambda: Lambda,
  { functionName, settings, roleArn, runtimeLayerArn, signal }: Publication,
): Promise<FunctionConfiguration | undefined> {
  const current = await lambda.getFunctionConfiguration({ FunctionName: functionName }, { abortSignal: signal });
  const isIdle = current.State === "Active" && current.LastUpdateStatus === "Successful";
  return isIdle && isConfigured(current, configurationOf(settings, { roleArn, runtimeLayerArn })) ? current : undefined;
}

class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
  constructor() {
    super("other deploys of this app kept changing the function");
  }
}

function roleWait({ note, onRoleRefused }: Publication) {
  return {
    isWorthAnother: ({ name, message }: Error) =>
      name === "InvalidParameterValueException" && /role.*cannot be assumed/i.test(message),
    firstWaitMs: 500,
    limitMs: ROLE_WAIT_MS,
    async onWait() {
      note("waiting for the function's role to become usable");
      await onRoleRefused();
    },
  };
}

/** Waits until the last update of the function, or of a version, is done. */
async function settled(
  lambda: Lambda,
  { functionName, qualifier }: { readonly functionName: string; readonly qualifier?: string },
  first: FunctionConfiguration,
  { signal, clock }: Pick<Publication, "signal" | "clock">,
): Promise<FunctionConfiguration> {
  const isDone = ({ State, LastUpdateStatus }: FunctionConfiguration) =>
    State !== "Pending" && LastUpdateStatus !== "InProgress";
  const configuration = isDone(first)
    ? first
    : await polling(
        async () => {
          const now = await lambda.getFunctionConfiguration(
            { FunctionName: functionName, ...(qualifier !== undefined && { Qualifier: qualifier }) },
            { abortSignal: signal },
          );
          return isDone(now) ? now : undefined;
        },
        { firstWaitMs: FIRST_WAIT_MS, limitMs: READY_WAIT_MS, signal, clock },
      );
  if (configuration === undefined) {
    throw new PlatformError(
      "function/not-ready",
      `the function ${functionName} is not ready after ${READY_WAIT_MS / 60_000} minutes`,
      "run the command again: it continues with what exists",
    );
  }
  if (configuration.State === "Failed" || configuration.LastUpdateStatus === "Failed") {
    const reason =
      configuration.LastUpdateStatusReason ?? configuration.StateReason ?? configuration.LastUpdateStatusReasonCode;
    throw new PlatformError(
      "function/failed",
      `the function ${functionName} cannot be set up: ${(reason ?? "the service gives no reason").replace(/\.$/, "")}`,
      "fix that, in tool.json or in the account, and deploy again",
    );
  }
  return configuration;
}

/** Waits until the version can be invoked. */
async function finish(lambda: Lambda, { functionName, signal, clock }: Publication, published: FunctionConfiguration) {
  const version = published.Version!;
  const { FunctionArn } = await settled(lambda, { functionName, qualifier: version }, published, { signal, clock });
  const functionArn = FunctionArn!.split(":").slice(0, 7).join(":");
  return { version, functionArn, accountId: accountOf(functionArn) };
}
