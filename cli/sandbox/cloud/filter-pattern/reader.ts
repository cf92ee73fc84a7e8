// The characters of a filter pattern, read from left to right.

export type Matcher = (message: string) => boolean;

export class PatternSyntaxError extends Error {}

export class PatternReader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get atEnd(): boolean {
    return this.at === this.text.length;
  }

  /** Takes the text that a sticky expression matches here, if it does. */
  take(expression: RegExp): string | undefined {
    expression.lastIndex = this.at;
    const [match] = expression.exec(this.text) ?? [];
    this.at += match?.length ?? 0;
    return match;
  }

  expect(expression: RegExp, what: string): string {
    const match = this.take(expression);
    if (match === undefined) throw this.error(what);
    return match;
  }

  /** Takes a token with the space around it. */
  token(expression: RegExp): string | undefined {
    this.space();
    const token = this.take(expression);
    if (token !== undefined) this.space();
    return token;
  }

  space(): void {
    this.take(/\s*/y);
  }

  /** The text in double quotes, with \" and \\ undone. */
  quoted(): string | undefined {
    const literal = this.take(/"(?:[^"\\]|\\[\s\S])*"/y);
    return literal?.slice(1, -1).replaceAll(/\\(["\\])/g, "$1");
  }

  end(): void {
    this.space();
    if (!this.atEnd) throw this.error("the end of the pattern");
  }

  error(expected: string): PatternSyntaxError {
    const rest = this.text.slice(this.at, this.at + 10);
    return new PatternSyntaxError(
      `Invalid filter pattern: expected ${expected} at ${this.at}, found ${rest || "its end"}`,
    );
  }
}
