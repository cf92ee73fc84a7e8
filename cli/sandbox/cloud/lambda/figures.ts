// The figures of invocations, as "Using CloudWatch metrics with Lambda" has them.
import type { InvocationReport } from "../../function/function.ts";
import type { LambdaState } from "./state.ts";

export function recordInvocation(
  state: LambdaState,
  name: string,
  qualifier: string | undefined,
  { durationMs, isError }: InvocationReport,
): void {
  record(state, name, qualifier, { Invocations: 1, Errors: isError ? 1 : 0, Throttles: 0, Duration: durationMs });
}

/** An invocation that was refused: it counts as nothing else. */
export function recordThrottle(state: LambdaState, name: string, qualifier: string | undefined): void {
  record(state, name, qualifier, { Throttles: 1 });
}

function record(
  { world, region }: LambdaState,
  name: string,
  qualifier: string | undefined,
  figures: Readonly<Record<string, number>>,
): void {
  const dimensions = [
    { FunctionName: name },
    { FunctionName: name, Resource: qualifier === undefined ? name : `${name}:${qualifier}` },
  ];
  world.service("monitoring", region).record("AWS/Lambda", dimensions, figures);
}
