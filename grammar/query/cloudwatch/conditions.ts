// Conditions of a JSON filter pattern, `{ $.level = "error" && $.fields.status >= 500 }`, as a tree.

export type PatternCondition =
  /** Every event. */
  | { readonly kind: "all" }
  | { readonly kind: "leaf"; readonly text: string }
  | { readonly kind: "and" | "or"; readonly terms: readonly PatternCondition[] };

export const ANY_EVENT: PatternCondition = { kind: "all" };

export const leaf = (text: string): PatternCondition => ({ kind: "leaf", text });

/** All of them; conditions that every event satisfies are left out. */
export function allOf(terms: readonly PatternCondition[]): PatternCondition {
  return join(
    "and",
    terms.filter(({ kind }) => kind !== "all"),
  );
}

/** Any of them; if every event satisfies one, every event satisfies the whole. */
export function anyOf(terms: readonly PatternCondition[]): PatternCondition {
  return terms.some(({ kind }) => kind === "all") ? ANY_EVENT : join("or", terms);
}

function join(kind: "and" | "or", terms: readonly PatternCondition[]): PatternCondition {
  const flat = terms.flatMap((term) => (term.kind === kind ? term.terms : [term]));
  const texts = new Set<string>();
  // A level in two terms, or a wildcard that two values share.
  const distinct = flat.filter((term) => {
    const text = print(term);
    return !texts.has(text) && texts.add(text);
  });
  if (distinct.length === 0) return ANY_EVENT;
  return distinct.length === 1 ? distinct[0]! : { kind, terms: distinct };
}

/** `&&` binds tighter than `||`; an `||` within an `&&` gets parentheses. */
export function print(condition: PatternCondition): string {
  switch (condition.kind) {
    case "all":
      return "";
    case "leaf":
      return condition.text;
    case "or":
      return condition.terms.map(print).join(" || ");
    case "and":
      return condition.terms.map((term) => (term.kind === "or" ? `(${print(term)})` : print(term))).join(" && ");
  }
}
