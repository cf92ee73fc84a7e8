/** A sign-in that is missing, damaged or refused, or a service that does not answer: what happened, and what to type next. */
export class TeamError extends Error {
  override readonly name = "TeamError";
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
