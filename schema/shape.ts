import { didYouMean } from "../grammar/did-you-mean.ts";
import { type Fix, type Problem, quote, type Span } from "../grammar/problem.ts";
import { withoutCertain } from "./conforms.ts";
import {
  type ArrayNode,
  copyOf,
  type Member,
  memberOf,
  type Node,
  type ObjectNode,
  plainValue,
  withValue,
} from "./json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "./keywords.ts";
import type { Report } from "./report.ts";
import { validate as generated } from "./validate.generated.js";

interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: { additionalProperty?: string; missingProperty?: string; limit?: number };
}

export { memberSchema, resolve, rootSchema, type Schema };

const schema = rootSchema;
const validate = generated as unknown as { (value: unknown): boolean; errors?: readonly SchemaError[] | null };

/** Each run shows the keys below one more level of misspelled ones, and the schema is six levels deep. */
const MAX_RUNS = 8;

/**
 * Checks types, bounds, unknown and missing keys against the schema. A misspelled key or word whose meaning is certain
 * is put right, so that what stands below it is checked in the same pass and nothing is missing for it. Gives the tree
 * that the checks after it go on with: one of its own where something was put right, or `written` itself.
 */
export function checkShape(report: Report, written: ObjectNode): ObjectNode {
  const told = new Set<string>();
  let root = written;
  for (let run = 0; run < MAX_RUNS; run++) {
    if (validate(plainValue(withoutCertain(root, schema)))) return root;
    const errors = withoutFollowUps(validate.errors ?? []);
    if (run === 0) root = copyOf(written);
    // Misspelled keys first: what is put right there is neither missing nor unknown in the next run.
    const unknown = errors.filter(({ keyword }) => keyword === "additionalProperties");
    if (tell(unknown)) continue;
    if (!tell(errors)) break;
  }
  return root;

  function tell(errors: readonly SchemaError[]): boolean {
    let repaired = false;
    for (const error of errors) {
      const { instancePath, keyword, params } = error;
      const key = `${instancePath} ${keyword} ${params.additionalProperty ?? params.missingProperty ?? ""}`;
      const place = told.has(key) ? undefined : find(root, instancePath);
      told.add(key);
      if (place !== undefined && translate(report, error, place)) repaired = true;
    }
    return repaired;
  }
}

/** A value of the wrong type breaks its bounds and enum too: one slip, one problem. */
function withoutFollowUps(errors: readonly SchemaError[]): SchemaError[] {
  const wrongType = new Set(errors.filter(({ keyword }) => keyword === "type").map(({ instancePath }) => instancePath));
  return errors.filter(({ keyword, instancePath }) => keyword === "type" || !wrongType.has(instancePath));
}

/** A value in the tree, and how to put another in its place. */
interface Place {
  readonly node: Node;
  /** How the value is called in messages: `"memory"`, `item 2 of "regions"`. */
  readonly label: string;
  /** What stands for an object that lacks something: its key, or its opening brace. */
  readonly nameSpan: Span;
  readonly path: readonly string[];
  /** What the schema says about it. */
  readonly schema: Schema;
  replace(node: Node): void;
}

function find(root: ObjectNode, pointer: string): Place | undefined {
  let place: Place = {
    node: root,
    label: "the configuration",
    nameSpan: { start: root.span.start, end: root.span.start + 1 },
    path: [],
    schema,
    replace() {},
  };
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const next = step(place, name);
    if (next === undefined) return undefined;
    place = next;
  }
  return place;
}

function step(place: Place, name: string): Place | undefined {
  const path = [...place.path, name];
  if (place.node.type === "array") {
    const items = place.node.items;
    const node = items[Number(name)];
    if (node === undefined) return undefined;
    return {
      node,
      label: `item ${Number(name) + 1} of ${place.label}`,
      nameSpan: { start: node.span.start, end: node.span.start + 1 },
      path,
      schema: resolve(place.schema.items!),
      replace: (by) => {
        items[Number(name)] = by;
      },
    };
  }
  const member = memberOf(place.node, name);
  if (member?.value === undefined) return undefined;
  return {
    node: member.value,
    label: quote(member.key.value),
    nameSpan: member.key.span,
    path,
    schema: memberSchema(place.schema, name),
    replace: (by) => {
      member.value = by;
    },
  };
}

/** Reports one schema error in our own words; true where the tree was put right and is worth another look. */
function translate(report: Report, error: SchemaError, place: Place): boolean {
  const parent = place.schema;
  switch (error.keyword) {
    case "additionalProperties":
      return unknownKey(report, place, parent, error.params.additionalProperty!);
    case "required":
      missingKey(report, place, parent, error.params.missingProperty!);
      return false;
    case "type":
      return wrongType(report, place, parent);
    case "enum":
      return notInEnum(report, place, parent);
    case "minimum":
    case "maximum":
      outOfBounds(report, place, parent, error.keyword, error.params.limit!);
      return false;
    case "minLength":
    case "minItems":
      report.error("config/empty-value", place.node.span, `${place.label} is empty`, { hint: example(place, parent) });
      return false;
    default:
      throw new Error(`the schema uses ${error.keyword}, which has no message`);
  }
}

function unknownKey(report: Report, place: Place, parent: Schema, name: string): boolean {
  const object = place.node as ObjectNode;
  const member = memberOf(object, name);
  if (member === undefined) return false;
  if (notPerStage(report, place, member)) return false;

  const known = Object.keys(parent.properties ?? {});
  const near = didYouMean(name, known);
  const message = `unknown key ${quote(name)}`;
  const span = member.key.span;
  if (near !== undefined && memberOf(object, near) === undefined) {
    report.error("config/unknown-key", span, message, {
      hint: `did you mean ${quote(near)}?`,
      fix: report.replace(member.key, near),
    });
    member.key = withValue(member.key, near);
    return true;
  }
  if (near !== undefined) {
    report.error("config/unknown-key", span, message, { hint: `remove it: ${quote(near)} is there already` });
    return false;
  }
  const owners = ownersOf(name);
  const hint =
    owners.length > 0
      ? `it belongs in ${owners.map((owner) => `"${owner}"`).join(" or ")}`
      : `known keys${place.path.length ? ` of ${place.label}` : ""}: ${known.filter((key) => key !== "$schema").join(", ")}`;
  report.error("config/unknown-key", span, message, { hint });
  return false;
}

/** A setting of the whole app, written for one stage. */
function notPerStage(report: Report, place: Place, member: Member): boolean {
  const [section, stage, part, ...rest] = place.path;
  if (section !== "stages" || stage === undefined) return false;
  const name = member.key.value;
  const app = schema.properties!;
  const proxy = schema.definitions!.proxy!.properties!;
  const known =
    part === undefined ? Object.hasOwn(app, name) : part === "proxy" && !rest.length && Object.hasOwn(proxy, name);
  if (!known) return false;
  const setting = part === undefined ? name : `proxy.${name}`;
  report.error("config/not-per-stage", member.key.span, `${quote(setting)} cannot be overridden for a stage`, {
    hint: `a stage overrides only hooks, function and proxy.command: write ${setting} outside of stages`,
  });
  return true;
}

/** The sections of the configuration that have a key of this name. */
function ownersOf(name: string): string[] {
  const sections = Object.entries(schema.properties!).filter(([, section]) => {
    return Object.hasOwn(resolve(section).properties ?? {}, name);
  });
  return sections.map(([section]) => section);
}

function missingKey(report: Report, place: Place, parent: Schema, name: string) {
  // Written without a readable value: that has been said.
  if (memberOf(place.node, name) !== undefined) return;
  const where = place.path.length === 0 ? "" : ` in ${place.label}`;
  report.error("config/missing-key", place.nameSpan, `${quote(name)} is missing${where}`, {
    hint: `add ${JSON.stringify(name)}: ${JSON.stringify(resolve(parent.properties![name]!).examples![0])}`,
  });
}

function wrongType(report: Report, place: Place, parent: Schema): boolean {
  const { node } = place;
  if (node.type === "broken") return false;
  const meant = coerce(report.source, node, parent);
  const problem: Problem = report.error(
    "config/type",
    node.type === "object" || node.type === "array" ? { start: node.span.start, end: node.span.start + 1 } : node.span,
    `${place.label} must be ${wanted(parent)}, not ${found(node)}`,
    { hint: meant ? `write ${meant.shown}` : example(place, parent), fix: meant?.fix },
  );
  if (meant === undefined) return false;
  if (meant.node.type !== "array" && node.type !== "array") report.coerced(problem);
  place.replace(meant.node);
  return true;
}

/** What a value of the wrong type was certainly meant to be. */
function coerce(
  source: string,
  node: Node,
  parent: Schema,
): { node: Node; shown: string; fix: Fix | undefined } | undefined {
  const types = [parent.type].flat();
  const text = source.slice(node.span.start, node.span.end);
  // Without its quotes a text would melt into whatever stands right beside it.
  const glued = /[\w.+'-]/.test((source[node.span.start - 1] ?? "") + (source[node.span.end] ?? ""));
  const fix = (by: string): Fix | undefined => {
    return glued ? undefined : { title: `Change to ${by}`, edits: [{ span: node.span, text: by }] };
  };
  const { span } = node;
  if (node.type === "string") {
    const number = types.includes("integer")
      ? /^-?\d{1,15}$/
      : types.includes("number")
        ? /^-?\d{1,15}(\.\d{1,15})?$/
        : undefined;
    if (number?.test(node.value)) {
      const value = Number(node.value);
      return { node: { type: "number", span, value }, shown: String(value), fix: fix(String(value)) };
    }
    if (types.includes("boolean") && Object.hasOwn(BOOLEANS, node.value)) {
      const value = BOOLEANS[node.value]!;
      return { node: { type: "boolean", span, value }, shown: `${value}`, fix: fix(`${value}`) };
    }
    // The unit is known, and is not written.
    const amount = parent["x-unit"] && types.includes("integer") ? /^(\d{1,15})\s*([a-z]+)$/i.exec(node.value) : null;
    if (amount !== null && amount[2]!.toLowerCase() === parent["x-unit"]!.toLowerCase()) {
      const value = Number(amount[1]);
      return { node: { type: "number", span, value }, shown: `${value}`, fix: fix(`${value}`) };
    }
  }
  const [only, second] = node.type === "array" && !types.includes("array") ? node.items : [];
  if (only !== undefined && second === undefined && types.includes(only.type === "number" ? "integer" : only.type)) {
    const inner = source.slice(only.span.start, only.span.end);
    const shown = inner.length <= 40 && !inner.includes("\n") ? inner : "it without [ ]";
    return { node: only, shown, fix: { title: "Take it out of the array", edits: [{ span, text: inner }] } };
  }
  if (
    (node.type === "number" || node.type === "boolean") &&
    types.length === 1 &&
    types[0] === "string" &&
    !parent["x-language"]
  ) {
    const value = text;
    const content = span;
    return { node: { type: "string", span, value, content }, shown: `"${text}"`, fix: fix(`"${text}"`) };
  }
  const item = parent.items && resolve(parent.items);
  const isWhole = node.type !== "object" || (text.startsWith("{") && text.endsWith("}"));
  if (types.includes("array") && item?.type === node.type && isWhole) {
    const edits = [
      { span: { start: span.start, end: span.start }, text: "[" },
      { span: { start: span.end, end: span.end }, text: "]" },
    ];
    const wrapped: ArrayNode = { type: "array", span, items: [node] };
    const shown = text.length <= 40 && !text.includes("\n") ? `[${text}]` : "[ ] around it";
    return { node: wrapped, shown, fix: { title: "Put it in an array", edits } };
  }
  return undefined;
}

/** As other formats of configuration spell them. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  yes: true,
  no: false,
  on: true,
  off: false,
};

const NOUNS: Record<string, string> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

function wanted(parent: Schema): string {
  // The only such setting is "zone", and true says nothing there.
  if ([parent.type].flat().join() === "boolean,string") return "false or a string";
  return [parent.type]
    .flat()
    .map((type) => {
      const item = type === "array" && parent.items ? resolve(parent.items).type : undefined;
      return item === undefined ? NOUNS[type!]! : `an array of ${item}s`;
    })
    .join(" or ");
}

function found(node: Node): string {
  switch (node.type) {
    case "string":
      return `the string ${quote(node.value)}`;
    case "number":
      return `${node.value}`;
    case "boolean":
      return `${node.value}`;
    case "null":
      return "null";
    default:
      return NOUNS[node.type]!;
  }
}

function example(place: Place, parent: Schema): string | undefined {
  if (place.node.type === "null" && parent.default !== undefined) {
    return `leave it out for the default, ${JSON.stringify(parent.default)}`;
  }
  const value = parent.examples?.[0];
  if (value === undefined) return undefined;
  const text = spaced(value);
  return text.length <= 80 ? `for example ${text}` : undefined;
}

/** JSON on one line, with the blanks that people put in. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}: ${spaced(part)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function notInEnum(report: Report, place: Place, parent: Schema): boolean {
  const { node } = place;
  if (node.type !== "string") return false;
  const near = didYouMean(node.value, parent.enum!);
  report.error("config/unknown-value", node.span, `${quote(node.value)} is no value of ${place.label}`, {
    hint: near === undefined ? `write one of ${parent.enum!.join(", ")}` : `did you mean ${quote(near)}?`,
    fix: near === undefined ? undefined : report.replace(node, near),
  });
  if (near === undefined) return false;
  place.replace(withValue(node, near));
  return true;
}

function outOfBounds(report: Report, place: Place, parent: Schema, keyword: "minimum" | "maximum", limit: number) {
  const { node } = place;
  if (node.type !== "number") return;
  const unit = parent["x-unit"] ? ` ${parent["x-unit"]}` : "";
  const { minimum, maximum } = parent;
  report.error(
    "config/bounds",
    node.span,
    `${place.label} is ${node.value}, the ${keyword === "minimum" ? "least" : "most"} is ${limit}${unit}`,
    { hint: maximum === undefined ? `write ${minimum} or more` : `write a number from ${minimum} to ${maximum}` },
  );
}
