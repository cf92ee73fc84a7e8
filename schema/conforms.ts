import type { Member, Node } from "./json.ts";
import { memberSchema, resolve, type Schema } from "./keywords.ts";

/**
 * The tree without the entries of maps (redirects, headers, queries) that are certainly right. There may be thousands, and
 * the validator is slow even where it finds nothing.
 */
export function withoutCertain(node: Node, part: Schema): Node {
  if (node.type !== "object") return node;
  const { properties, additionalProperties } = resolve(part);
  const members: Member[] = [];
  const doubtful = new Map<string, Member>();
  for (const member of node.members) {
    const { key, value } = member;
    const name = key.value;
    if (value === undefined || value.type === "broken") continue;
    if (properties !== undefined && Object.hasOwn(properties, name)) {
      members.push({ key, value: withoutCertain(value, properties[name]!) });
    } else if (typeof additionalProperties === "object" && conforms(value, additionalProperties)) {
      // If a key occurs twice, the last one counts.
      doubtful.delete(name);
    } else {
      doubtful.set(name, member);
    }
  }
  members.push(...doubtful.values());
  return { ...node, members };
}

/** Whether a value is certainly as the schema wants it. False is not a complaint: the validator looks again. */
function conforms(node: Node, part: Schema): boolean {
  const schema = resolve(part);
  if (!isUnderstood(schema) || !hasType(node, schema.type)) return false;
  switch (node.type) {
    case "object": {
      if (schema.required?.some((name) => !node.members.some(({ key }) => key.value === name))) return false;
      return node.members.every(({ key, value }) => {
        if (value === undefined) return false;
        const { properties, additionalProperties } = schema;
        const isKnown = properties !== undefined && Object.hasOwn(properties, key.value);
        if (!isKnown && typeof additionalProperties !== "object") return additionalProperties === undefined;
        return conforms(value, memberSchema(schema, key.value));
      });
    }
    case "array":
      if (schema.minItems !== undefined && node.items.length < schema.minItems) return false;
      return schema.items === undefined || node.items.every((item) => conforms(item, schema.items!));
    case "string":
      if (schema.enum !== undefined && !schema.enum.includes(node.value)) return false;
      // A character of two units counts once, so that only the first is certain.
      return schema.minLength === undefined || (schema.minLength <= 1 && node.value.length >= schema.minLength);
    case "number":
      if (schema.enum !== undefined) return false;
      return node.value >= (schema.minimum ?? node.value) && node.value <= (schema.maximum ?? node.value);
    default:
      return schema.enum === undefined;
  }
}

function isUnderstood(schema: Schema): boolean {
  let result = understood.get(schema);
  if (result === undefined) {
    const names = Object.keys(schema.propertyNames ?? {});
    result = Object.keys(schema).every((name) => KEYWORDS.has(name)) && names.every((name) => name === "x-language");
    understood.set(schema, result);
  }
  return result;
}

const understood = new Map<Schema, boolean>();

/** Those that `conforms` looks at, and those that say nothing of what is right. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "properties",
  "additionalProperties",
  "required",
  "items",
  "minItems",
  "minLength",
  "minimum",
  "maximum",
  "propertyNames",
  "title",
  "description",
  "markdownDescription",
  "default",
  "examples",
  "x-language",
  "x-pro",
  "x-unit",
]);

function hasType(node: Node, type: Schema["type"]): boolean {
  if (node.type === "broken") return false;
  if (type === undefined) return true;
  if (Array.isArray(type)) return type.some((one) => hasType(node, one));
  if (node.type !== "number") return node.type === type;
  return type === "number" ? Number.isFinite(node.value) : type === "integer" && Number.isInteger(node.value);
}
