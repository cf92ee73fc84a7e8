/** rpc.schema.json as a value, records in their three forms. The keywords are those of JSON Schema that it uses. */
export interface RpcSchema {
  readonly title: string;
  readonly description: string;
  readonly definitions: Readonly<Record<string, ValueSchema>>;
  readonly operations: Readonly<Record<string, OperationSchema>>;
}

/** The scope of operations that every token and session may ask for. */
export const ANY_SCOPE = "any";
/** The scope of operations for signed-in people, whatever their teams. */
export const PERSON_SCOPE = "person";
/** The scope of operations that need no credential. */
export const PUBLIC_SCOPE = "public";

/** Whether people alone have a scope, by their role in a team. */
export const isScopeOfPeople = (scope: string) => scope.startsWith("team:") || scope.startsWith("billing:");

/** The scope that an operation needs, in a sentence. `code` marks the name of a scope. */
export function neededWords(scope: string, code: (text: string) => string): string {
  if (scope === PUBLIC_SCOPE) return "Needs no token.";
  if (scope === PERSON_SCOPE) return "For signed-in people only.";
  if (scope === ANY_SCOPE) return "Any token is accepted.";
  return isScopeOfPeople(scope)
    ? `Needs ${code(scope)}: for signed-in people only.`
    : `Needs the scope ${code(scope)}.`;
}

export interface OperationSchema {
  readonly group: string;
  readonly summary: string;
  /** A scope of tokens, one of people, or one of the three above. */
  readonly scope: string;
  /** Needs Pro, as the command that calls it does. */
  readonly pro?: boolean;
  /** Reads many events: few at once for a token, and stopped after some time. */
  readonly limited?: boolean;
  readonly input: ValueSchema;
  /** Absent if there is nothing to answer. */
  readonly output?: ValueSchema;
  /** The member of the input that must be true for the output; otherwise there is nothing to answer. */
  readonly outputIf?: string;
}

export interface ValueSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly items?: ValueSchema;
  readonly additionalProperties?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  /** The pattern in words, for the message when a value does not match it. */
  readonly "x-must"?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly readOnly?: boolean;
}

/** The definition that a schema refers to, or the schema itself. */
export function resolveRef(schema: ValueSchema, { definitions }: RpcSchema): ValueSchema {
  if (schema.$ref === undefined) return schema;
  return definitions[schema.$ref.slice("#/definitions/".length)]!;
}
