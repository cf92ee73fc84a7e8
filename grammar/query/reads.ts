import { type Expr, type Field, type Query, target } from "./ast.ts";

/** The properties of an entry that a query looks at. */
export interface Reads {
  readonly entry: ReadonlySet<"level" | "message" | "timestamp" | "id">;
  /** The first keys below `fields`. */
  readonly fields: ReadonlySet<string>;
}

/** The parts of entries that a reader has to deliver so that the query's predicate answers as on whole entries. */
export function readsOf(query: Query): Reads {
  const reads: MutableReads = { entry: new Set(), fields: new Set() };
  if (query.expr !== undefined) addExpr(query.expr, reads);
  return reads;
}

export interface MutableReads {
  readonly entry: Set<"level" | "message" | "timestamp" | "id">;
  readonly fields: Set<string>;
}

export function addExpr(expr: Expr, reads: MutableReads): void {
  switch (expr.kind) {
    case "or":
    case "and":
      for (const term of expr.terms) addExpr(term, reads);
      return;
    case "not":
      addExpr(expr.term, reads);
      return;
    case "level":
      reads.entry.add("level");
      return;
    case "stage":
      reads.fields.add("stage");
      return;
    case "message":
      reads.entry.add("message");
      return;
    default:
      addField(expr.field, reads);
  }
}

export function addField(field: Field, reads: MutableReads): void {
  const place = target(field);
  if (place.at === "entry") {
    reads.entry.add(place.name);
    // An entry without an id has it among its fields.
    if (place.name === "id") reads.fields.add("id");
  } else {
    // The fields of an entry are never an array: an index reads nothing.
    const first = place.path[0];
    if (typeof first === "string") reads.fields.add(first);
  }
}
