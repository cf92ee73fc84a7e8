/** The answer to a request that was refused or failed. The message says what is wrong, then what to do. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly type: ErrorType;
  /** When the request may be sent again: the answer gets a Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(type: ErrorType, message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.type = type;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export type ErrorType = keyof typeof ERROR_STATUS;

export const ERROR_STATUS = {
  invalid: 400,
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  misdirected: 421,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  notification_failed: 502,
  unavailable: 503,
  timeout: 504,
} as const;

/** Why the service cannot start, or a command on its data directory cannot run. For the operators of the service. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  /** A remedy for it. */
  readonly hint: string | undefined;
  /** The folder is not a data directory, and one could be created there. */
  readonly mayBeCreated: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { readonly hint?: string | undefined; readonly mayBeCreated?: boolean } = {},
  ) {
    super(message, options);
    this.hint = options.hint;
    this.mayBeCreated = options.mayBeCreated ?? false;
  }
}
