/**
 * The cloud, the network or a tool that was called failed or refused. `message` says what happened, `hint` what to do about
 * it; `cause` is the original error.
 */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}
