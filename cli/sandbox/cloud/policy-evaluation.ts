// Evaluates whether a role's policies allow an action ("Policy evaluation logic"), of those that a function of the
// sandbox may be allowed at all.

interface Statement {
  readonly Effect?: unknown;
  readonly Action?: unknown;
  readonly NotAction?: unknown;
  readonly Resource?: unknown;
  readonly NotResource?: unknown;
  readonly Condition?: unknown;
}

export type PolicyDecision = "allowed" | "denied" | "not-allowed";

/** A statement with a condition allows nothing, as none is evaluated, but it denies. */
export function evaluate(documents: Iterable<string>, action: string, resource: string): PolicyDecision {
  const applying = [...documents]
    .flatMap((text) => [(JSON.parse(text) as { Statement: Statement | Statement[] }).Statement].flat())
    .filter((statement) => {
      const { Action, NotAction, Resource, NotResource } = statement;
      // Names of actions have no case.
      return names(Action, NotAction, action, "i") && names(Resource, NotResource, resource, "");
    });
  if (applying.some(({ Effect }) => Effect === "Deny")) return "denied";
  const isAllowed = applying.some(({ Effect, Condition }) => Effect === "Allow" && Condition === undefined);
  return isAllowed ? "allowed" : "not-allowed";
}

function names(patterns: unknown, others: unknown, text: string, flags: string): boolean {
  const fits = (pattern: unknown) => patternOf(String(pattern), flags).test(text);
  if (patterns !== undefined) return [patterns].flat().some(fits);
  return others !== undefined && ![others].flat().some(fits);
}

/** `*` is any characters, `?` is one. */
function patternOf(text: string, flags: string): RegExp {
  const source = text
    .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, `s${flags}`);
}
