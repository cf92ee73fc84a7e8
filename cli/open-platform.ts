import type { AppLog, LogSource } from "./platform/log.ts";
import type { LogTokens } from "./platform/log-tokens.ts";
import type { MetricsPeriod, StageMetrics } from "./platform/metrics.ts";
import type { Registrar } from "./platform/registrar.ts";
import type { Stack } from "./platform/stack.ts";
import type { DeployTarget, TargetOptions } from "./platform/target.ts";
import type { AppVariables } from "./platform/variables.ts";

// The only door to the cloud: commands know the interfaces in platform/ and get the implementations here. AWS is the one
// there is; a second platform would be chosen in these functions. Each imports its part when it is called, so that a
// command loads (and its bundle contains) only what it uses.

/** The place that tool.json deploys to. Makes no call yet. */
export async function openTarget(options: TargetOptions): Promise<DeployTarget> {
  return (await import("./aws/target.ts")).openTarget(options);
}

/** The variables that `tool env` keeps for the app that tool.json names. Makes no call yet. */
export async function openVariables(options: TargetOptions): Promise<AppVariables> {
  return (await import("./aws/open-variables.ts")).openVariables(options);
}

/** The tokens by which the stages of the app that tool.json names send entries to a log service. Makes no call yet. */
export async function openLogTokens(options: TargetOptions): Promise<LogTokens> {
  return (await import("./aws/open-log-tokens.ts")).openTokenParameters(options);
}

/** The stack of the app that tool.json names. Makes no call yet. */
export async function openStack(options: TargetOptions): Promise<Stack> {
  return (await import("./aws/stack/open.ts")).openStack(options);
}

/**
 * The least that an account has to allow for deploying and running an app, in the form that the account's console takes.
 * Makes no call.
 */
export async function neededAccessPolicy(app: {
  readonly name: string;
  readonly region: string;
  /** Roles that tool.json names for the function. */
  readonly roles: readonly string[];
}): Promise<object> {
  return (await import("./aws/stack/policy.ts")).accessPolicy(app);
}

/** The rest that `"delivery": "firehose"` needs, in the same form. Makes no call. */
export async function neededStreamPolicy(app: { readonly name: string; readonly region: string }): Promise<object> {
  return (await import("./aws/stack/policy.ts")).streamPolicy(app);
}

/** The domain registrar of the account that tool.json names. Makes no call yet. */
export async function openRegistrar(
  options: Pick<TargetOptions, "env" | "clock" | "sandbox"> & { readonly profile?: string | undefined },
): Promise<Registrar> {
  return (await import("./aws/registrar.ts")).openRegistrar(options);
}

/** Reads the figures of a stage between two times. Throws a `PlatformError` when the outside world failed. */
export async function readMetrics(
  options: TargetOptions,
  period: MetricsPeriod,
  signal: AbortSignal,
): Promise<StageMetrics> {
  return (await import("./aws/metrics.ts")).readMetrics(options, period, signal);
}

/** The log of the app that tool.json names. Makes no call yet. */
export async function openLog(source: LogSource): Promise<AppLog> {
  return (await import("./aws/logs/open-log.ts")).openLog(source);
}

/**
 * Whether cloud credentials are set up on this machine. If not, the log of the deployed app is not asked for: each call
 * would only wait for a timeout.
 */
export async function hasCredentials(env: TargetOptions["env"]): Promise<boolean> {
  return (await import("./aws/logs/open-log.ts")).hasCloudCredentials(env);
}
