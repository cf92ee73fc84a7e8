/** A release cannot be made; the message says what to do. */
export class MakeReleaseError extends Error {
  override readonly name = "MakeReleaseError";
  /** The arguments are wrong. */
  readonly isMisuse: boolean;

  constructor(
    message: string,
    { isMisuse = false, cause }: { readonly isMisuse?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.isMisuse = isMisuse;
  }
}
