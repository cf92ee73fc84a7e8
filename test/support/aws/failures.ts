// Failures on demand: the nth call of an operation is refused, slow, or its connection is cut.
import { AwsError } from "../../../cli/sandbox/cloud/protocol/error.ts";

export interface Failure {
  /** As in the address of the service: lambda, cloudformation, logs ... Any where it is absent. */
  readonly service?: string;
  readonly operation?: string;
  /** Which of the calls that fit, counted from 1; the first if it is absent. */
  readonly nth?: number;
  /** How many calls from there on; `Infinity` for all. */
  readonly times?: number;
  /** Whether the input of a call fits, too. */
  readonly when?: (input: Readonly<Record<string, unknown>>) => boolean;
  readonly error?: { readonly code: string; readonly message?: string; readonly status?: number };
  /** The connection is cut: `before` anything was done, or `after` all of it. */
  readonly drop?: "before" | "after";
  /** In real time, before anything is done. */
  readonly delayMs?: number;
  /** Called instead of failing, before the operation: a test kills something here. */
  readonly run?: () => void | Promise<void>;
}

/** The errors of the services when there are too many calls. */
export const THROTTLING = {
  lambda: { code: "TooManyRequestsException", message: "Rate Exceeded.", status: 429 },
  apigateway: { code: "TooManyRequestsException", message: "Too Many Requests", status: 429 },
  s3: { code: "SlowDown", message: "Please reduce your request rate.", status: 503 },
  any: { code: "ThrottlingException", message: "Rate exceeded", status: 400 },
  query: { code: "Throttling", message: "Rate exceeded", status: 400 },
} as const;

export class Failures {
  readonly #planned: { failure: Failure; seen: number }[] = [];

  plan(...failures: readonly Failure[]): void {
    for (const failure of failures) this.#planned.push({ failure, seen: 0 });
  }

  clear(): void {
    this.#planned.length = 0;
  }

  /** Returns the failure that this call meets; all that fit are counted, the first that is due counts. */
  meet(service: string, operation: string, input: unknown): Failure | undefined {
    let due: Failure | undefined;
    for (const planned of this.#planned) {
      const { failure } = planned;
      if (failure.service !== undefined && failure.service !== service) continue;
      if (failure.operation !== undefined && failure.operation !== operation) continue;
      if (failure.when?.((input ?? {}) as Record<string, unknown>) === false) continue;
      planned.seen += 1;
      const { nth = 1, times = 1 } = failure;
      if (planned.seen >= nth && planned.seen < nth + times) due ??= failure;
    }
    return due;
  }
}

export function errorOf({ code, message = code, status }: NonNullable<Failure["error"]>): AwsError {
  return new AwsError(code, message, status);
}
