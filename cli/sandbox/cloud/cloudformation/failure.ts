// Failures of resources: those that a handler finds, and those that it is told to have.
import { AwsError } from "../protocol/error.ts";

export interface ResourceFailure {
  readonly logicalId: string;
  readonly on: "create" | "update" | "delete";
  readonly reason: string;
  /** How often; always if it is absent. */
  times?: number;
}

export class ResourceProblem extends Error {}

/** Fails if the handler of the resource is told to. */
export function meet(failures: readonly ResourceFailure[], on: ResourceFailure["on"], logicalId: string): void {
  const failure = failures.find((one) => one.logicalId === logicalId && one.on === on && (one.times ?? 1) > 0);
  if (failure === undefined) return;
  if (failure.times !== undefined) failure.times -= 1;
  throw new ResourceProblem(failure.reason);
}

/** As the handlers of resources say it. */
export function failureReason(error: unknown): string {
  if (error instanceof ResourceProblem) return error.message;
  if (!(error instanceof AwsError)) throw error;
  if (error.code === "ValidationError") return error.message;
  const code = error.status === 404 ? "NotFound" : error.status === 409 ? "AlreadyExists" : "InvalidRequest";
  return `Resource handler returned message: "${error.message}" (RequestToken: 00000000-0000-0000-0000-000000000000, HandlerErrorCode: ${code})`;
}
