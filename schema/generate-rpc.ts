// Makes rpc.schema.json into types, validators and the schema as a value. Called by generate.ts, which writes the files.
import { Ajv } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import { compile, type JSONSchema } from "json-schema-to-typescript";
import type { AnswerShape } from "./rpc-answer-shape.ts";
import { standaloneModule } from "./standalone-module.ts";

type Schema = Record<string, unknown> & {
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
};

interface RpcSource {
  readonly $schema: string;
  readonly definitions: Record<string, Schema>;
  readonly operations: Record<string, Operation>;
}

interface Operation {
  readonly input: Schema;
  readonly group?: string;
  readonly output?: Schema;
  readonly outputIf?: string;
}

const BANNER = "// Generated from rpc.schema.json by generate-rpc.ts.";

/** The generated files by name. `folder` is where esbuild finds ajv's run-time pieces from. */
export async function generateRpc(source: RpcSource, folder: string): Promise<Record<string, string>> {
  const definitions = withForms(source.definitions);
  const { $schema: _, ...whole } = { ...source, definitions };
  return {
    "rpc.generated.ts": await types(definitions, source.operations),
    "rpc-validate.generated.js": await validators(definitions, source.operations, folder),
    "rpc-answers.generated.ts": accountAnswers(definitions, source.operations),
    "rpc-schema.generated.ts":
      `${BANNER}\nimport type { RpcSchema } from "./rpc-schema.ts";\n\n` +
      `export const rpcSchema: RpcSchema = ${JSON.stringify(whole)};\n`,
  };
}

/**
 * The shape of the answer of each operation about people and teams: the command asks services that it did not start.
 * Validators of ajv would be half of its bundle.
 */
function accountAnswers(definitions: Record<string, Schema>, operations: Record<string, Operation>): string {
  const shapes = Object.entries(operations).flatMap(([name, { group, output }]) =>
    group === "account" && output !== undefined ? [[name, shapeOf(output, definitions)] as const] : [],
  );
  return (
    `${BANNER}\nimport type { AnswerShape } from "./rpc-answer-shape.ts";\n\n` +
    `export const accountAnswers: Readonly<Record<string, AnswerShape>> = ${JSON.stringify(Object.fromEntries(shapes))};\n`
  );
}

/** The types of a schema alone. Words are left out, so that a later service may have another role. */
function shapeOf(schema: Schema, definitions: Record<string, Schema>): AnswerShape {
  const name = /^#\/definitions\/(\w+)$/.exec(String(schema.$ref))?.[1];
  if (name !== undefined) return shapeOf(definitions[name]!, definitions);
  const { type = "string", properties, required, items } = schema;
  const members = Object.entries(properties ?? {}).map(([key, part]) => [key, shapeOf(part, definitions)]);
  return {
    type: type as AnswerShape["type"],
    ...(properties !== undefined && { properties: Object.fromEntries(members) }),
    ...(required !== undefined && { required }),
    ...(items !== undefined && { items: shapeOf(items as Schema, definitions) }),
  };
}

/** Each record in its three forms: as answered, as added, and as changed. */
function withForms(definitions: Record<string, Schema>): Record<string, Schema> {
  const result: Record<string, Schema> = {};
  for (const [name, { "x-record": isRecord, ...definition }] of Object.entries(definitions)) {
    if (!isRecord) {
      result[name] = definition;
      continue;
    }
    const properties = definition.properties!;
    const sent = Object.fromEntries(Object.entries(properties).filter(([, { readOnly }]) => readOnly !== true));
    result[name] = { ...definition, required: Object.keys(properties), properties: answered(properties) };
    result[`${name}Input`] = { ...definition, properties: sent };
    const identity = ["id", "project_id"].filter((key) => key in sent);
    result[`${name}Update`] = { ...definition, required: identity, properties: changed(sent, identity) };
  }
  return result;
}

/** An answer keeps no bounds but its type and words: an older record may be outside of them. */
function answered(properties: Record<string, Schema>): Record<string, Schema> {
  const kept = ["description", "type", "enum", "format", "items", "$ref", "readOnly", "examples"];
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      Object.fromEntries(Object.entries(schema).filter(([keyword]) => kept.includes(keyword))),
    ]),
  );
}

/** Zero values replace what was there and may then be refused or filled in, as the record needs it. */
function changed(properties: Record<string, Schema>, identity: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      if (identity.includes(name)) return [name, { minLength: 1, ...schema }];
      const { default: _, minLength: _1, ...rest } = schema;
      return [name, rest];
    }),
  );
}

async function types(definitions: Record<string, Schema>, operations: Record<string, Operation>): Promise<string> {
  const schemas = definitionsOfTypes(definitions, operations);
  const names = Object.keys(schemas);
  const text = await compile(
    withoutSiblingsOfRef({
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }])),
      definitions: schemas,
    }) as JSONSchema,
    "RpcTypes",
    { bannerComment: BANNER, format: false, ignoreMinAndMaxItems: true, additionalProperties: false },
  );
  const rows = Object.entries(operations).map(([name, { output, outputIf }]) => {
    const base = pascal(name);
    const ref = /^#\/definitions\/(\w+)$/.exec(String(output?.$ref))?.[1];
    const answered = output === undefined ? "undefined" : (ref ?? `${base}Response`);
    return `  ${name}: { input: ${base}Request; output: ${answered}${outputIf === undefined ? "" : " | undefined"} };`;
  });
  return `${text}\n/** Every operation: what it takes and what it answers. */\nexport interface Operations {\n${rows.join("\n")}\n}\n`;
}

function definitionsOfTypes(definitions: Record<string, Schema>, operations: Record<string, Operation>) {
  const result: Record<string, unknown> = { ...definitions };
  for (const [name, { input, output }] of Object.entries(operations)) {
    result[`${pascal(name)}Request`] = input;
    if (output !== undefined) result[`${pascal(name)}Response`] = output;
  }
  return result;
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A description beside a $ref would make a second copy of the type that it refers to. */
export function withoutSiblingsOfRef(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSiblingsOfRef);
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value) return { $ref: value.$ref };
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutSiblingsOfRef(part)]));
}

/**
 * One function for the input of each operation and for each record that is added, by name. The events of a batch are
 * left to their reader (logservice/rpc/read-events.ts), which also counts and measures them.
 */
async function validators(
  definitions: Record<string, Schema>,
  operations: Record<string, Operation>,
  folder: string,
): Promise<string> {
  const ajv = new Ajv({
    strict: false,
    validateFormats: false,
    allowUnionTypes: true,
    messages: false,
    // The first of ten thousand wrong events says enough.
    allErrors: false,
    code: { source: true, esm: true, optimize: 2 },
  });
  const names: Record<string, string> = {};
  // A changed record is checked as a whole: here it is only known which one is meant.
  const checked = Object.entries({ ...definitions, NewEvent: {} as Schema }).map(([name, definition]) => {
    if (!name.endsWith("Update")) return [name, definition];
    const { properties, required } = definition;
    return [name, { ...definition, properties: Object.fromEntries(required!.map((key) => [key, properties![key]])) }];
  });
  ajv.addSchema({ $id: "rpc", definitions: Object.fromEntries(checked) });
  for (const name of Object.keys(definitions)) if (name.endsWith("Input")) names[name] = `rpc#/definitions/${name}`;
  for (const [name, { input }] of Object.entries(operations)) {
    ajv.addSchema({ $id: `op-${name}`, ...(refsInto("rpc", input) as Schema) });
    names[name] = `op-${name}`;
  }
  const code = (standaloneCode as unknown as (ajv: Ajv, names: Record<string, string>) => string)(ajv, names);
  return standaloneModule(code, folder, BANNER);
}

function refsInto(id: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((part) => refsInto(id, part));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === "$ref" ? `${id}${part}` : refsInto(id, part)]),
  );
}
