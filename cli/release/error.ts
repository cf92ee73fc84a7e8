/** A release that cannot be had, verified or installed: what is wrong, and what to do. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
