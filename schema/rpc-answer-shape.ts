/** The types in a JSON value. `generate-rpc.ts` makes them from the schema. */
export interface AnswerShape {
  readonly type: JsonType | readonly JsonType[];
  readonly properties?: Readonly<Record<string, AnswerShape>>;
  readonly required?: readonly string[];
  readonly items?: AnswerShape;
}

type JsonType = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";

/** Whether a value read from JSON has a shape. Members that the shape does not name may be anything. */
export function hasShape(value: unknown, { type, properties = {}, required = [], items }: AnswerShape): boolean {
  const own = typeOf(value);
  const isOfType = (one: JsonType) => one === own || (one === "number" && own === "integer");
  if (!(typeof type === "string" ? isOfType(type) : type.some(isOfType))) return false;
  if (own === "array") return items === undefined || (value as unknown[]).every((item) => hasShape(item, items));
  if (own !== "object") return true;
  const members = value as Readonly<Record<string, unknown>>;
  return (
    required.every((name) => Object.hasOwn(members, name)) &&
    Object.entries(properties).every(([name, part]) => !Object.hasOwn(members, name) || hasShape(members[name], part))
  );
}

function typeOf(value: unknown): JsonType | "undefined" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as "string" | "boolean" | "object" | "undefined";
}
