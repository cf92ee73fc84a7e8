// Conditions of a JSON filter pattern, `{ $.level = "error" && $.fields.status >= 500 }`, as a tree.

export type Condition =
  /** Every event. */
  | { readonly kind: "all" }
  | { readonly kind: "leaf"; readonly text: string }
  | { readonly kind: "and" | "or"; readonly terms: readonly Condition[] };

export const ALL: Condition = { kind: "all" };

export const leaf = (text: string): Condition => ({ kind: "leaf", text });

/** All of them; conditions that every event satisfies are left out. */
export function both(terms: readonly Condition[]): Condition {
  return join(
    "and",
    terms.filter(({ kind }) => kind !== "all"),
  );
}

/** Any of them; if every event satisfies one, every event satisfies the whole. */
export function either(terms: readonly Condition[]): Condition {
  return terms.some(({ kind }) => kind === "all") ? ALL : join("or", terms);
}

function join(kind: "and" | "or", terms: readonly Condition[]): Condition {
  const flat = terms.flatMap((term) => (term.kind === kind ? term.terms : [term]));
  const texts = new Set<string>();
  // A level in two terms, or a wildcard that two values share.
  const distinct = flat.filter((term) => {
    const text = print(term);
    return !texts.has(text) && texts.add(text);
  });
  if (distinct.length === 0) return ALL;
  return distinct.length === 1 ? distinct[0]! : { kind, terms: distinct };
}

/** `&&` binds tighter than `||`; an `||` within an `&&` gets parentheses. */
export function print(condition: Condition): string {
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
