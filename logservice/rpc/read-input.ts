import type {
  AlertInput,
  NotificationInput,
  Operations,
  ProjectInput,
  SearchInput,
  TokenInput,
} from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { resolveRef, type ValueSchema } from "../../schema/rpc-schema.ts";
import * as validators from "../../schema/rpc-validate.generated.js";
import { RpcError } from "../error.ts";

/**
 * Reads the input of an operation from a body. Unknown keys are left out, zero values that mean nothing count as absent, and
 * defaults are filled in. Throws `invalid` for the first thing that is wrong.
 */
export function readInput<Name extends keyof Operations>(name: Name, body: unknown): Operations[Name]["input"] {
  if (!isObject(body)) throw new RpcError("bad_request", "the body must be a JSON object");
  const input = filled(rpcSchema.operations[name]!.input, body);
  check(name, input, "");
  // Only events hold it, so what asks for them may name it.
  const { scope } = rpcSchema.operations[name]!;
  if (scope === "events:read" || scope === "events:write") refuseNul(input.project_id, "project_id");
  else refuseNul(input, "");
  return input as Operations[Name]["input"];
}

/** Throws `invalid` for a text with the character that PostgreSQL has in no text: the same is refused whatever holds the records. */
function refuseNul(value: unknown, path: string): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw new RpcError("invalid", `${path}: must not have the character U+0000`);
  } else if (Array.isArray(value)) {
    for (const [at, one] of value.entries()) refuseNul(one, `${path}[${at}]`);
  } else if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) refuseNul(one, path === "" ? key : `${path}.${key}`);
  }
}

interface RecordInputs {
  ProjectInput: ProjectInput;
  AlertInput: AlertInput;
  NotificationInput: NotificationInput;
  SearchInput: SearchInput;
  TokenInput: TokenInput;
}

/** Merges a change into a record and reads the result as if it were added. `path` is the path of the record in messages. */
export function readChanged<Name extends keyof RecordInputs>(
  name: Name,
  path: string,
  record: object,
  change: object,
): RecordInputs[Name] {
  const input = filled(rpcSchema.definitions[name]!, { ...record, ...change });
  check(name, input, path);
  return input as unknown as RecordInputs[Name];
}

/** A new object with the keys that the schema knows, so that a key such as __proto__ is no more than a name. */
function filled(schema: ValueSchema, value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // In a change, zero is a value like any other; readChanged checks the record that results.
  const isChange = schema.$ref?.endsWith("Update") === true;
  const { properties = {}, required = [] } = resolveRef(schema, rpcSchema);
  const result: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(properties)) {
    const own = resolveRef(property, rpcSchema);
    let part = Object.hasOwn(value, key) ? value[key] : undefined;
    if (part === null) part = zeroOf(own);
    const isAbsent = isZero(part, own) && (required.includes(key) || (!isChange && !admitsZero(own)));
    if (part === undefined || isAbsent) {
      if (own.default !== undefined) result[key] = own.default;
    } else {
      result[key] = isObject(part) && own.properties !== undefined ? filled(property, part) : part;
    }
  }
  return result;
}

function zeroOf({ type }: ValueSchema): unknown {
  switch (type) {
    case "string":
      return "";
    case "integer":
      return 0;
    case "boolean":
      return false;
    default:
      return undefined;
  }
}

function isZero(value: unknown, { format }: ValueSchema): boolean {
  return value === "" || value === 0 || (format === "date-time" && isZeroTime(value));
}

/** Whether a text is the zero value that clients with times of a struct type send. */
export function isZeroTime(value: unknown): boolean {
  return typeof value === "string" && /^0001-01-01T00:00:00(\.0+)?(Z|[+-]00:00)$/i.test(value);
}

function admitsZero({ type, minLength = 0, minimum = 0, enum: words, format }: ValueSchema): boolean {
  return type === "string" ? minLength === 0 && words === undefined && format === undefined : minimum <= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Validator {
  (value: unknown): boolean;
  readonly errors?: readonly Failure[] | null;
}

interface Failure {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly schemaPath: string;
}

function check(name: keyof Operations | keyof RecordInputs, input: unknown, path: string): void {
  const validate = (validators as unknown as Record<string, Validator>)[name]!;
  if (validate(input)) return;
  const failure = validate.errors![0]!;
  const at = `${path}${failure.instancePath.replace(/\/(\d+)(?=\/|$)/g, "[$1]").replaceAll("/", ".")}`.replace(
    /^\./,
    "",
  );
  if (failure.keyword === "required") {
    const { missingProperty } = failure.params;
    throw new RpcError("invalid", `${at === "" ? "" : `${at}.`}${missingProperty}: is required`);
  }
  // The number of events in a batch is limited like the number of its bytes.
  const isTooLarge = failure.keyword === "maxItems" && at === "events";
  throw new RpcError(isTooLarge ? "too_large" : "invalid", `${at}: ${messageOf(failure)}`);
}

function messageOf({ keyword, params }: Failure): string {
  const { limit } = params;
  switch (keyword) {
    case "enum":
      return `must be one of: ${(params.allowedValues as string[]).join(", ")}`;
    case "type": {
      // Null counts as absent, and is never wrong.
      const [type] = [params.type as string | readonly string[]].flat();
      return `must be ${TYPE_NAMES[type!] ?? type}`;
    }
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "minItems":
      return `must hold at least ${limit}`;
    case "maxItems":
      return `must hold at most ${limit}`;
    case "pattern":
      return patternWords().get(params.pattern as string) ?? "is not valid";
    default:
      return "is not valid";
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

let knownPatterns: Map<string, string> | undefined;

/** The messages for patterns: what the schema says about each of them in `x-must`. */
function patternWords(): Map<string, string> {
  if (knownPatterns !== undefined) return knownPatterns;
  const words = new Map<string, string>();
  const visit = (schema: ValueSchema) => {
    if (schema.pattern !== undefined) words.set(schema.pattern, schema["x-must"] ?? "is not valid");
    if (schema.items !== undefined) visit(schema.items);
    for (const part of Object.values(schema.properties ?? {})) visit(part);
  };
  for (const definition of Object.values(rpcSchema.definitions)) visit(definition);
  knownPatterns = words;
  return words;
}
