import fc from "fast-check";
import type t from "tap";

/** Runs a property and shows a counterexample, in ASCII: other line ends than LF break the test protocol. */
export function holds(
  assert: Pick<typeof t, "equal">,
  property: fc.IProperty<unknown>,
  settings: fc.Parameters<unknown>,
): void {
  const { failed, counterexample, errorInstance } = fc.check(property, settings);
  const failureText = JSON.stringify([counterexample, String(errorInstance)]).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  assert.equal(failed ? failureText : undefined, undefined, "holds");
}
