import { compilePredicate, type Expr, LEVELS, type Query, target } from "../../../../grammar/query/index.ts";

/** By severity: whether a query selects the events of a level. Undefined where it looks at more than the level. */
export function levelsOf(query: Query | undefined): readonly boolean[] | undefined {
  if (query?.expr !== undefined && !isOfLevel(query.expr)) return undefined;
  if (query === undefined) return LEVELS.map(() => true);
  const selects = compilePredicate(query, { nowMs: 0 });
  return LEVELS.map((level) => selects({ timestamp: "", level, message: "", fields: {} }));
}

function isOfLevel(expr: Expr): boolean {
  switch (expr.kind) {
    case "and":
    case "or":
      return expr.terms.every(isOfLevel);
    case "not":
      return isOfLevel(expr.term);
    case "level":
      return true;
    case "stage":
    case "message":
      return false;
    default: {
      const place = target(expr.field);
      return place.at === "entry" && place.name === "level";
    }
  }
}
