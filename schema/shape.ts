import { didYouMean } from "../grammar/did-you-mean.ts";
import { type Fix, type Problem, quote, type Span } from "../grammar/problem.ts";
import { coerce } from "./coerce.ts";
import { withoutCertain } from "./conforms.ts";
import { addition, removal, removeItem, spaced } from "./edits.ts";
import { copyOf, type Member, memberOf, type Node, type ObjectNode, plainValue, withValue } from "./json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "./keywords.ts";
import { movesOf } from "./moves.ts";
import { nearName } from "./near-name.ts";
import { neededKey } from "./needed-keys.ts";
import { placeholder } from "./placeholders.ts";
import type { ProblemReport } from "./report.ts";
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
 * is put right, so that what is below it is checked in the same pass and nothing is missing because of it. Returns the
 * tree for the checks after it: a copy if something was put right, else `written` itself. A part of a configuration lacks
 * nothing at its top.
 */
export function checkShape(report: ProblemReport, written: ObjectNode, { isPart = false } = {}): ObjectNode {
  const reportedKeys = new Set<string>();
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
      if (isPart && keyword === "required" && instancePath === "") continue;
      const key = `${instancePath} ${keyword} ${params.additionalProperty ?? params.missingProperty ?? ""}`;
      const place = reportedKeys.has(key) ? undefined : find(root, instancePath);
      reportedKeys.add(key);
      if (place !== undefined && translate(report, error, place, root)) repaired = true;
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
  /** The span that stands for an object that lacks something: its key, or its opening brace. */
  readonly nameSpan: Span;
  readonly path: readonly string[];
  /** The schema of the value. */
  readonly schema: Schema;
  /** The object or array that it is in; undefined for the root. */
  readonly owner?: Place;
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
      owner: place,
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
    owner: place,
    replace: (by) => {
      member.value = by;
    },
  };
}

/** Reports one schema error in our own words; true if the tree was put right and is worth another look. */
function translate(report: ProblemReport, error: SchemaError, place: Place, root: ObjectNode): boolean {
  const parent = place.schema;
  switch (error.keyword) {
    case "additionalProperties":
      return unknownKey(report, root, place, error.params.additionalProperty!);
    case "required":
      missingKey(report, root, place, error.params.missingProperty!);
      return false;
    case "type":
      return wrongType(report, root, place);
    case "enum":
      return notInEnum(report, root, place);
    case "minimum":
    case "maximum":
      outOfBounds(report, place, parent, { keyword: error.keyword, limit: error.params.limit! });
      return false;
    case "minLength":
    case "minItems": {
      const value = placeholder(root, place.owner!.node, place.path, parent);
      report.error("config/empty-value", place.node.span, `${place.label} is empty`, {
        hint: example(place, parent),
        fix: value === undefined ? undefined : writeInstead(place.node, value),
      });
      return false;
    }
    default:
      throw new Error(`the schema uses ${error.keyword}, which has no message`);
  }
}

/** Another value, which only the user can confirm. */
const writeInstead = (node: Node, text: string): Fix => ({
  title: `Change to ${text}`,
  edits: [{ span: node.span, text }],
  isSuggestion: true,
});

function unknownKey(report: ProblemReport, root: ObjectNode, place: Place, name: string): boolean {
  const parent = place.schema;
  const object = place.node as ObjectNode;
  const member = memberOf(object, name);
  if (member === undefined) return false;
  if (notPerStage(report, root, place, member)) return false;

  const keys = Object.keys(parent.properties ?? {});
  const free = keys.filter((key) => memberOf(object, key) === undefined);
  const near = nearName(name, free);
  const message = `unknown key ${quote(name)}`;
  const span = member.key.span;
  const moves = report.size < MAX_MOVED ? movesOf(report.source, { root, path: place.path, object, member }) : [];
  if (near !== undefined && (near.isSlip || moves.length === 0)) {
    const rename = report.replace(member.key, near.name);
    report.error("config/unknown-key", span, message, {
      hint: `did you mean ${quote(near.name)}?`,
      fixes: [near.isSlip ? rename : { ...rename, isSuggestion: true }, ...moves.map(({ fix }) => fix)],
    });
    member.key = withValue(member.key, near.name);
    return true;
  }
  const needed = neededKey({ source: report.source, root, path: place.path, object, schema: parent, member });
  if (needed !== undefined && !moves.some(({ isCertain }) => isCertain)) {
    const rename: Fix = { ...report.replace(member.key, needed), isSuggestion: true };
    report.error("config/unknown-key", span, message, {
      hint: `did you mean ${quote(needed)}?`,
      fixes: [rename, ...moves.map(({ fix }) => fix)],
    });
    member.key = withValue(member.key, needed);
    return true;
  }
  const there = didYouMean(name, keys);
  if (there !== undefined && moves.length === 0) {
    const other = memberOf(object, there)?.value;
    const isLossless = other !== undefined && member.value !== undefined && sameValue(other, member.value);
    report.error("config/unknown-key", span, message, {
      hint: `remove it: ${quote(there)} is there already`,
      fix: removal(object, member, { isLossless }),
    });
    return false;
  }
  const likely = moves.some(({ isCertain }) => isCertain) ? moves.slice(0, 1) : moves;
  const owners = moves.length > 0 ? likely.map(({ where }) => where) : ownersOf(name).map(quote);
  const hint =
    owners.length > 0
      ? `it belongs in ${owners.join(" or ")}`
      : `known keys${place.path.length ? ` of ${place.label}` : ""}: ${keys.filter((key) => key !== "$schema").join(", ")}`;
  const fixes = moves.map(({ fix, isCertain }): Fix => (isCertain ? fix : { ...fix, isSuggestion: true }));
  report.error("config/unknown-key", span, message, {
    hint,
    fixes: moves.length === 0 ? [removal(object, member)] : fixes,
  });
  return false;
}

// Each looks through the whole tree: in a long file of another kind all keys are unknown.
const MAX_MOVED = 50;

const sameValue = (a: Node, b: Node) => JSON.stringify(plainValue(a)) === JSON.stringify(plainValue(b));

/** A setting of the whole app that was written for one stage. */
function notPerStage(report: ProblemReport, root: ObjectNode, place: Place, member: Member): boolean {
  const [section, stage, part, ...rest] = place.path;
  if (section !== "stages" || stage === undefined) return false;
  const name = member.key.value;
  const app = schema.properties!;
  const proxy = schema.definitions!.proxy!.properties!;
  const isAppSetting =
    part === undefined ? Object.hasOwn(app, name) : part === "proxy" && !rest.length && Object.hasOwn(proxy, name);
  if (!isAppSetting) return false;
  const setting = part === undefined ? name : `proxy.${name}`;
  report.error("config/not-per-stage", member.key.span, `${quote(setting)} cannot be overridden for a stage`, {
    hint:
      setting === "environment"
        ? `write it outside of stages, or keep what differs by \`tool env add NAME VALUE -s ${stage}\``
        : `a stage overrides only hooks, function and proxy.command: write ${setting} outside of stages`,
    // For all stages it is another setting, if the value is the same.
    fixes: movesOf(report.source, { root, path: place.path, object: place.node as ObjectNode, member }).map(
      ({ fix }): Fix => ({ ...fix, isSuggestion: true }),
    ),
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

function missingKey(report: ProblemReport, root: ObjectNode, place: Place, name: string) {
  const object = place.node as ObjectNode;
  // Written without a readable value: that has been said.
  if (memberOf(object, name) !== undefined) return;
  const where = place.path.length === 0 ? "" : ` in ${place.label}`;
  const value = placeholder(root, object, [...place.path, name], memberSchema(place.schema, name))!;
  report.error("config/missing-key", place.nameSpan, `${quote(name)} is missing${where}`, {
    hint: `add ${JSON.stringify(name)}: ${value}`,
    fix: addition(report.source, object, { name, value, order: Object.keys(place.schema.properties!) }),
  });
}

function wrongType(report: ProblemReport, root: ObjectNode, place: Place): boolean {
  const { node, schema: parent } = place;
  if (node.type === "broken") return false;
  const meant = coerce(report.source, node, parent);
  const problem: Problem = report.error(
    "config/type",
    node.type === "object" || node.type === "array" ? { start: node.span.start, end: node.span.start + 1 } : node.span,
    `${place.label} must be ${wanted(parent)}, not ${nodeText(node)}`,
    meant === undefined
      ? { hint: example(place, parent), fixes: otherValues(root, place) }
      : { hint: `write ${meant.wording}`, fix: meant.fix },
  );
  if (meant === undefined) return false;
  if (meant.node.type !== "array" && node.type !== "array") report.coerced(problem);
  place.replace(meant.node);
  return true;
}

/** For a value that says nothing, such as null or an empty list, no value or the schema's example. */
function otherValues(root: ObjectNode, { node, schema, path, owner }: Place): Fix[] {
  if (owner === undefined) return [];
  const name = path.at(-1)!;
  const fixes: Fix[] = [];
  if (node.type === "null" && owner.node.type === "object" && !owner.schema.required?.includes(name)) {
    const isKnown = Object.hasOwn(owner.schema.properties ?? {}, name);
    fixes.push(removal(owner.node, memberOf(owner.node, name)!, { isLossless: isKnown }));
  }
  if (node.type === "null" && owner.node.type === "array") {
    fixes.push({ title: "Remove it", edits: [removeItem(owner.node, node)] });
  }
  const isFull =
    (node.type === "object" && node.members.length > 0) || (node.type === "array" && node.items.length > 0);
  // A value that is not empty is not replaced by an example.
  const value = isFull ? undefined : (placeholder(root, owner.node, path, schema) ?? exampleItem(owner.schema));
  if (value !== undefined) fixes.push(writeInstead(node, value));
  return fixes;
}

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

function nodeText(node: Node): string {
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

/** An item of a list's own example. */
function exampleItem({ items, examples }: Schema): string | undefined {
  const example = items && examples?.find(Array.isArray);
  return example?.[0] === undefined ? undefined : spaced(example[0]);
}

function notInEnum(report: ProblemReport, root: ObjectNode, place: Place): boolean {
  const { node, schema: parent } = place;
  if (node.type !== "string") return false;
  const words = parent.enum!;
  const near = nearName(node.value, words);
  const others = words.length <= MAX_WORDS ? words : [];
  const placeholderText = placeholder(root, place.owner!.node, place.path, parent);
  report.error("config/unknown-value", node.span, `${quote(node.value)} is not a valid value of ${place.label}`, {
    hint: near === undefined ? `write one of ${words.join(", ")}` : `did you mean ${quote(near.name)}?`,
    fixes: near?.isSlip
      ? [report.replace(node, near.name)]
      : [
          near?.name,
          parent.default as string | undefined,
          placeholderText && JSON.parse(placeholderText),
          ...others,
        ].map((word) => report.suggest(node, word)),
  });
  if (near === undefined || !near.isSlip) return false;
  place.replace(withValue(node, near.name));
  return true;
}

// A longer list of fixes is no help: the hint names them all.
const MAX_WORDS = 6;

interface Bound {
  readonly keyword: "minimum" | "maximum";
  readonly limit: number;
}

function outOfBounds(report: ProblemReport, place: Place, parent: Schema, { keyword, limit }: Bound) {
  const { node } = place;
  if (node.type !== "number") return;
  const unit = parent["x-unit"] ? ` ${parent["x-unit"]}` : "";
  const { minimum, maximum } = parent;
  const scaled = inOtherUnit(node.value, parent);
  report.error("config/bounds", node.span, `${place.label} is ${node.value}, the ${keyword} is ${limit}${unit}`, {
    hint: maximum === undefined ? `write ${minimum} or more` : `write a number from ${minimum} to ${maximum}`,
    fixes: [scaled === undefined ? undefined : writeInstead(node, String(scaled)), writeInstead(node, String(limit))],
  });
}

/** The number if it was meant in the next smaller unit, such as milliseconds for seconds: a whole number within bounds. */
function inOtherUnit(value: number, { "x-unit": unit, minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema) {
  const scale = unit === "s" ? 1000 : unit === "MB" ? 1024 : undefined;
  const scaled = scale === undefined ? undefined : value / scale;
  return scaled !== undefined && Number.isInteger(scaled) && scaled >= minimum && scaled <= maximum
    ? scaled
    : undefined;
}
