import type { Matcher } from "ohm-js";
import { unread } from "./failure.ts";
import { loadGrammar } from "./query.generated.ts";
import { tokenize } from "./tokens.ts";

/**
 * Answers what may follow a text. Keeps one matcher alive: when the text changes by a few characters, Ohm reads no
 * more than those again.
 */
export class Expectation {
  #matcher: Matcher | undefined;

  /**
   * The grammar's names of what may follow `text` ("a field", "an operator", "or", ...). Undefined if the text is wrong
   * already. A character that no query has is appended; what Ohm expected in its place is the answer.
   */
  after(text: string): ReadonlySet<string> | undefined {
    const input = `${unread(text, tokenize(text)).text}\uffff`;
    this.#matcher ??= loadGrammar().matcher();
    const matcher = this.#matcher;
    const before = matcher.getInput();
    const [start, end] = changed(before, input);
    matcher.replaceInputRange(start, before.length - end, input.slice(start, input.length - end));
    const match = matcher.match("Pipeline");
    if (!match.failed()) return undefined;
    if (match.getRightmostFailurePosition() < input.trimEnd().length - 1) return undefined;
    // Ohm has the method, its types do not.
    const { getRightmostFailures } = match as unknown as { getRightmostFailures(): readonly object[] };
    return new Set(getRightmostFailures.call(match).map(String));
  }
}

/** How many characters at the start and at the end are the same. */
function changed(before: string, after: string): [start: number, end: number] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return [start, end];
}
