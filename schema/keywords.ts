import { toolSchema } from "./tool-schema.generated.ts";

/** The keywords of JSON Schema that tool.schema.json is written with. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly "x-language"?: string;
  /** Whether the setting needs Pro. */
  readonly "x-pro"?: boolean;
  readonly "x-unit"?: string;
}

/** The schema of the whole file in tool.schema.json. */
export const rootSchema = toolSchema as Schema;

/** The schema of a member of that name. ajv's own schema paths start from the root again at some references. */
export function memberSchema(parent: Schema, name: string): Schema {
  const { properties, additionalProperties } = parent;
  if (properties !== undefined && Object.hasOwn(properties, name)) return resolve(properties[name]!);
  return typeof additionalProperties === "object" ? resolve(additionalProperties) : {};
}

/** The schema itself, or what it refers to. */
export function resolve(part: Schema): Schema {
  if (part.$ref === undefined) return part;
  let definition = referred.get(part);
  if (definition === undefined) {
    definition = rootSchema.definitions![part.$ref.slice("#/definitions/".length)]!;
    referred.set(part, definition);
  }
  return definition;
}

// A walk through a long text asks many thousands of times.
const referred = new Map<Schema, Schema>();
