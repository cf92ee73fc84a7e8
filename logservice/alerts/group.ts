import {
  columnName,
  type Expr,
  groupsOf,
  jsonText,
  type Pipe,
  parseQuery,
  printField,
  printQuery,
  type Query,
  type RowColumn,
  type Value,
} from "../../grammar/query/index.ts";
import type { AlertGroupValue } from "../../schema/rpc.generated.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import type { AlertQuery } from "./alert-query.ts";

type GroupValues = AlertMessage["group"];

/** The key of a group, the same for equal values only; "" if nothing is grouped by. */
export const groupKey = (values: readonly unknown[]) => (values.length === 0 ? "" : jsonText(values));

/** The values of a group by the names of their columns. Empty without groups, and for keys that are no list of values. */
export function groupValuesOf(columns: readonly RowColumn[], key: string): GroupValues {
  const names = columns.filter(({ isGroup }) => isGroup).map(({ name }) => name);
  return readKey(key).map((value, at) => ({ name: names[at] ?? `group ${at + 1}`, value }));
}

/** The same for answers: a list or an object as its JSON. */
export function plainGroup(group: GroupValues): AlertGroupValue[] {
  return group.map(({ name, value }) => {
    const isPlain = value === null || ["string", "number", "boolean"].includes(typeof value);
    return { name, value: isPlain ? (value as AlertGroupValue["value"]) : JSON.stringify(value) };
  });
}

function readKey(key: string): readonly unknown[] {
  if (!key.startsWith("[")) return [];
  return JSON.parse(key) as unknown[];
}

/** Selects the events of a group, as far as a query can say it: values that are lists or objects are left out. */
export function queryOfGroup({ query, pipes }: AlertQuery, group: GroupValues): Query | undefined {
  const terms = termsOf(pipes, group);
  const all = query?.expr === undefined ? terms : [query.expr, ...terms];
  const [first] = all;
  if (first === undefined) return undefined;
  const expr: Expr = all.length === 1 ? first : { kind: "and", terms: all, operators: [], span: NOWHERE };
  // Read again, so that the tree is one that the parser makes.
  const read = parseQuery(printQuery({ source: "", expr }));
  return read.ok ? read.value : query;
}

/** The terms that events of the group fulfil. */
function termsOf(pipes: readonly Pipe[], group: GroupValues): Expr[] {
  // Only the first stage that groups has columns that are fields of events.
  const first = pipes.find((pipe) => pipe.kind !== "where");
  const by = (first && groupsOf(first)) ?? [];
  return by.flatMap((field) => {
    const match = group.find(({ name }) => name === columnName(field));
    if (match === undefined) return [];
    const exists: Expr = { kind: "exists", operator: NOWHERE, field, span: NOWHERE };
    const equals = (value: Value): Expr => ({
      ...{ kind: "comparison", field, op: "=", operator: NOWHERE, value, span: NOWHERE },
    });
    const isMissing: Expr = { kind: "not", term: exists, operator: NOWHERE, span: NOWHERE };
    if (match.value === null) {
      const isNull = equals({ kind: "null", span: NOWHERE });
      return [{ kind: "or", terms: [isMissing, isNull], operators: [], span: NOWHERE }];
    }
    const value = literalOf(match.value);
    return value === undefined || printField(field) === "" ? [] : [equals(value)];
  });
}

function literalOf(value: unknown): Value | undefined {
  switch (typeof value) {
    case "string":
      return { kind: "string", chunks: [value], span: NOWHERE };
    case "number":
      return { kind: "number", text: String(value), value, span: NOWHERE };
    case "boolean":
      return { kind: "boolean", value, span: NOWHERE };
    default:
      return undefined;
  }
}

/** The terms are printed and read again, which gives them their places. */
const NOWHERE = { start: 0, end: 0 };
