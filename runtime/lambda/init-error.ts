/** Why a function cannot start. The message says what to do, and contains no value of a variable. */
export class InitError extends Error {
  /** Its type for the platform: `Tool.` and a word. */
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}
