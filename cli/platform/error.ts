/** The outside world failed, or refused. `message` says what, `hint` what to do; the cause is what it said. */
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
