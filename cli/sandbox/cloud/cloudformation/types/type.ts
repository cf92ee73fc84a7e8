// A type of resource: its properties by the published specification, and how one is made, changed and deleted.
import { AwsError } from "../../protocol/error.ts";
import type { World } from "../../world.ts";

/** Whether an update of a property needs a new resource: never, perhaps, always. */
export type Recreation = "Never" | "Conditionally" | "Always";

export interface Property {
  readonly recreation: Recreation;
  readonly isRequired: boolean;
  /** Type of the JSON value; numbers and booleans may come as texts. */
  readonly kind: "text" | "number" | "boolean" | "list" | "object" | "json";
}

export type Properties = Readonly<Record<string, unknown>>;

export interface ResourceContext {
  readonly world: World;
  readonly region: string;
  readonly stackName: string;
  readonly logicalId: string;
  /** A name for a resource that was given none: stack, logical id, letters. */
  uniqueName(maxLength: number): string;
}

/**
 * The handlers of a type of resource. The work of each is done when it returns: it is written down together with the
 * stack's knowledge of it, so that a restart finds both or neither.
 */
export interface ResourceType {
  readonly properties: Readonly<Record<string, Property>>;
  /** How long it takes, in the cloud's time. */
  readonly durationMs: number;
  readonly attributes: readonly string[];
  /** Gives the physical id, which Ref gives too. */
  create(context: ResourceContext, properties: Properties): string;
  /** In place. */
  update(context: ResourceContext, id: string, properties: Properties, before: Properties): void;
  delete(context: ResourceContext, id: string, properties: Properties): void;
  /** Whether the service has done what it was told; at once if it is absent. */
  isSettled?(context: ResourceContext, id: string): boolean;
  attribute(context: ResourceContext, id: string, name: string, properties: Properties): unknown;
  /** The value of Ref, if it is not the physical id. */
  ref?(context: ResourceContext, id: string, properties: Properties): string;
}

/**
 * Properties in few letters: name, then `*` if it is required, `!` if its change makes a new resource (`?`: it
 * may), then the kind: `#` number, `&` boolean, `[]` list, `{}` object, `~` any JSON; a text without.
 */
export function parseProperties(source: string): Record<string, Property> {
  return Object.fromEntries(
    source
      .trim()
      .split(/\s+/)
      .map((word) => {
        const [, name = "", marks = ""] = /^(\w+)(.*)$/.exec(word) ?? [];
        const kind = marks.includes("#")
          ? "number"
          : marks.includes("&")
            ? "boolean"
            : marks.includes("[]")
              ? "list"
              : marks.includes("{}")
                ? "object"
                : marks.includes("~")
                  ? "json"
                  : "text";
        const recreation = marks.includes("!") ? "Always" : marks.includes("?") ? "Conditionally" : "Never";
        return [name, { kind, recreation, isRequired: marks.includes("*") }];
      }),
  );
}

/** The message of the handlers of resources about properties that they cannot take; undefined if they can. */
export function propertiesProblem(type: ResourceType, typeName: string, properties: Properties): string | undefined {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(properties)) {
    const property = type.properties[name];
    if (property === undefined) problems.push(`#: extraneous key [${name}] is not permitted`);
    else if (!isOfKind(property.kind, value))
      problems.push(`#/${name}: expected type: ${KIND_NAMES[property.kind]}, found: ${kindName(value)}`);
  }
  for (const [name, { isRequired }] of Object.entries(type.properties)) {
    if (isRequired && properties[name] === undefined) problems.push(`#: required key [${name}] not found`);
  }
  return problems.length === 0
    ? undefined
    : `Properties validation failed for resource of type ${typeName} with message:\n${problems.join("\n")}`;
}

const KIND_NAMES = {
  text: "String",
  number: "Number",
  boolean: "Boolean",
  list: "JSONArray",
  object: "JSONObject",
  json: "",
};

function isOfKind(kind: Property["kind"], value: unknown): boolean {
  switch (kind) {
    case "text":
      return typeof value !== "object";
    case "number":
      return typeof value === "number" || (typeof value === "string" && value !== "" && Number.isFinite(Number(value)));
    case "boolean":
      return typeof value === "boolean" || value === "true" || value === "false";
    case "list":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "json":
      return true;
  }
}

function kindName(value: unknown): string {
  if (Array.isArray(value)) return "JSONArray";
  return typeof value === "object"
    ? "JSONObject"
    : { string: "String", number: "Integer", boolean: "Boolean" }[typeof value as string]!;
}

/** [{Key, Value}] as a record. */
export function tagsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(((value ?? []) as { Key: string; Value: string }[]).map(({ Key, Value }) => [Key, Value]));
}

export function texts(value: unknown): string[] {
  return ((value ?? []) as unknown[]).map(String);
}

export function textOrNone(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** For what the service answers in a handler. */
export function badRequest(message: string): AwsError {
  return new AwsError("BadRequestException", message, 400);
}

/** Deleting what is gone is no failure. */
export function ignoreNotFound(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (error instanceof AwsError && (error.status === 404 || /NotFound|NoSuch/.test(error.code))) return;
    throw error;
  }
}
