import type { Lambda } from "@aws-sdk/client-lambda";
import type { CheckResult } from "../../../runtime/lambda/check.ts";
import { plainLine } from "../../output/plain-line.ts";
import { PlatformError } from "../../platform/error.ts";

export interface VersionToCheck {
  readonly functionName: string;
  readonly version: string;
  readonly stage: string;
  /** Whether the stage has a version that stays. */
  readonly isFirst: boolean;
  readonly signal: AbortSignal;
}

export interface CheckOutcome {
  /** The result in a few words: `GET / 200`. */
  readonly text: string;
  /** To be told although the version is activated. */
  readonly remark: string | undefined;
}

/**
 * Starts a published version that no stage runs yet, and asks its app for `/`. Throws a PlatformError with the app's last
 * lines if the app cannot be reached; whatever it answers itself is none. One call.
 */
export async function checkVersion(lambda: Lambda, version: VersionToCheck): Promise<CheckOutcome> {
  let answer = await invoke(lambda, version);
  // The permission to read variables, which this deploy may have given, takes some seconds to be known everywhere.
  if (answer.kind === "error" && answer.type === "Tool.NoVariables") answer = await invoke(lambda, version);
  switch (answer.kind) {
    case "refused":
      return { text: "left out", remark: `the version was not checked: ${answer.reason}` };
    case "error":
      throw cannotRun(version, answer.reason, []);
    case "unknown":
      return { text: "left out", remark: "the version was not checked: it does not run the runtime of tool" };
    case "result":
      return ofResult(version, answer.result);
  }
}

function ofResult(version: VersionToCheck, result: CheckResult): CheckOutcome {
  if (!result.available) throw cannotRun(version, result.reason, result.output);
  const { status, reason } = result;
  if (status === undefined) return { text: "GET / without an answer", remark: `GET / was not answered: ${reason}` };
  const isFailure = status >= 500;
  return {
    text: `GET / ${status}`,
    remark: isFailure ? `the app answered GET / with ${status}: tool logs ${version.stage} may say why` : undefined,
  };
}

const CANNOT_RUN = "deploy/cannot-run";

/** Whether `checkVersion` threw it for a version whose app cannot be reached. */
export function isCannotRun(error: unknown): boolean {
  return error instanceof PlatformError && error.code === CANNOT_RUN;
}

type Answer =
  | { readonly kind: "result"; readonly result: CheckResult }
  /** The function ended, or did not start. */
  | { readonly kind: "error"; readonly type: string; readonly reason: string }
  | { readonly kind: "unknown" }
  /** The credentials may not invoke it, or no instance of it may run now. */
  | { readonly kind: "refused"; readonly reason: string };

/** It cannot come through a gateway: an event of theirs has other members. */
const CHECK_EVENT = JSON.stringify({ tool: "check" });

async function invoke(lambda: Lambda, { functionName, version, signal }: VersionToCheck): Promise<Answer> {
  try {
    const { FunctionError, Payload } = await lambda.invoke(
      { FunctionName: functionName, Qualifier: version, Payload: CHECK_EVENT },
      { abortSignal: signal },
    );
    const document = parsed(Payload);
    if (FunctionError === undefined) {
      return isResult(document?.check) ? { kind: "result", result: document.check } : { kind: "unknown" };
    }
    const { errorType, errorMessage } = document ?? {};
    return { kind: "error", type: String(errorType ?? FunctionError), reason: String(errorMessage ?? FunctionError) };
  } catch (error) {
    const { name } = error as Error;
    if (name === "AccessDeniedException") {
      return { kind: "refused", reason: "lambda:InvokeFunction is not allowed (tool stack policy prints what is)" };
    }
    if (name === "TooManyRequestsException") return { kind: "refused", reason: "its concurrency is used up" };
    throw error;
  }
}

function parsed(payload: Uint8Array | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload ?? []).toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isResult(value: unknown): value is CheckResult {
  return typeof value === "object" && value !== null && "available" in value;
}

function cannotRun(
  { version, stage, isFirst }: VersionToCheck,
  reason: string,
  output: readonly string[],
): PlatformError {
  const lines = output.map(plainLine).filter((line) => line.trim() !== "");
  const state = isFirst ? `${stage} was not created` : `${stage} stays as it was`;
  const hint = [
    ...(lines.length === 0 ? [] : ["the last lines of the app:", ...lines.map((line) => `  ${line}`)]),
    `tool deploy ${stage} --no-check deploys it without this check`,
  ];
  return new PlatformError(
    CANNOT_RUN,
    `version ${version} cannot run, so ${state}: ${plainLine(reason)}`,
    hint.join("\n"),
  );
}
