/** An error as a service answers it. The status is the model's, and 400 if it has none. */
export class AwsError extends Error {
  readonly code: string;
  readonly status: number | undefined;

  constructor(code: string, message: string, status?: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
