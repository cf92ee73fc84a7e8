// Faulty versions of valid tool.json files: each has one fault, made by a named operator at a place that is drawn. What is
// a fault follows from the schema and the specification, not from what the checks say. Independent of `mutants.ts`.
import { applyEdits, type Span, type TextEdit } from "../../grammar/problem.ts";
import type { Directory } from "../../schema/directory.ts";
import { type ArrayNode, type Member, memberOf, type Node, type ObjectNode, parseJson } from "../../schema/json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "../../schema/keywords.ts";
import { folderOf } from "./config-folder.ts";
import type { Random } from "./random.ts";

export interface Base {
  readonly name: string;
  readonly text: string;
}

type Path = readonly (string | number)[];

export interface ConfigMutant {
  readonly operator: string;
  readonly base: Base;
  readonly text: string;
  /**
   * Where the fault does not tell what was there: any valid value may be at these places of a repaired file. Everywhere
   * else the original is the only right answer.
   */
  readonly open: readonly Path[];
  /** The same for the name of a member, whose value is determined. */
  readonly openName: Path | undefined;
  /** The same for a setting that may be gone. */
  readonly openOrGone: Path | undefined;
  /** The project's files, for a fault that only they show. */
  readonly directory?: Directory;
}

/** The change that an operator makes to a text. */
interface Fault {
  readonly edits: readonly TextEdit[];
  readonly open?: readonly Path[];
  readonly openName?: Path;
  readonly openOrGone?: Path;
  /** Edits that make the right file of the base, if what is misspelt is not in it: then `edits` are made instead of these. */
  readonly right?: readonly TextEdit[];
  /** The fault shows only with the project's files. */
  readonly needsFiles?: true;
}

type Operator = (base: Tree, random: Random) => Fault | undefined;

/** A fault of that operator; undefined where the text has no place for one. */
export function mutateConfig(operator: string, base: Base, random: Random): ConfigMutant | undefined {
  const fault = (OPERATORS[operator] ?? HABITS[operator])!(treeOf(base.text), random);
  if (fault === undefined) return undefined;
  const right = fault.right === undefined ? base : { ...base, text: applyEdits(base.text, fault.right) };
  const text = applyEdits(base.text, fault.edits);
  if (text === right.text) return undefined;
  const { open = [], openName, openOrGone, needsFiles } = fault;
  return {
    operator,
    base: right,
    text,
    open,
    openName,
    openOrGone,
    ...(needsFiles && { directory: folderOf(base.text) }),
  };
}

/** `count` different faults; the operators take turns. */
export function drawMutants(
  bases: readonly Base[],
  count: number,
  random: Random,
  operators = OPERATOR_NAMES,
): ConfigMutant[] {
  const drawn: ConfigMutant[] = [];
  const seen = new Set<string>();
  for (let turn = 0; drawn.length < count && turn < 20 * count; turn++) {
    const operator = operators[turn % operators.length]!;
    // Another file where this one has no place for the fault.
    for (let tries = 0; tries < 12; tries++) {
      const mutant = mutateConfig(operator, random.pick(bases), random);
      if (mutant === undefined || seen.has(mutant.text)) continue;
      seen.add(mutant.text);
      drawn.push(mutant);
      break;
    }
  }
  return drawn;
}

/** Whether a repaired text says what the original did, but for what the fault leaves open. */
export function saysTheSame({ base, open, openName, openOrGone }: ConfigMutant, repaired: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(repaired);
  } catch {
    return false;
  }
  const original: unknown = JSON.parse(base.text);
  if (openName !== undefined) nameLike(value, original, openName);
  for (const path of open) {
    if (!take(value, path) || !take(original, path)) return false;
  }
  if (openOrGone !== undefined) for (const root of [value, original]) take(root, openOrGone);
  return canonical(value) === canonical(original);
}

/** Gives the one member that the original does not have the name of the one that it lost. */
function nameLike(value: unknown, original: unknown, path: Path) {
  const at = (root: unknown) => path.slice(0, -1).reduce((node, name) => (node as never)?.[name], root);
  const [now, before] = [at(value), at(original)] as Record<string, unknown>[];
  if (now === undefined || before === undefined) return;
  const extra = Object.keys(now).filter((name) => !Object.hasOwn(before, name));
  if (extra.length !== 1 || Object.hasOwn(now, path.at(-1)!)) return;
  now[path.at(-1)!] = now[extra[0]!];
  delete now[extra[0]!];
}

/** Whether there was something to take. */
function take(root: unknown, path: Path): boolean {
  const owner = path.slice(0, -1).reduce((node, name) => (node as never)?.[name], root) as never;
  if (owner?.[path.at(-1)!] === undefined) return false;
  if (Array.isArray(owner)) (owner as unknown[])[path.at(-1) as number] = null;
  else delete owner[path.at(-1)!];
  return true;
}

/** JSON with sorted keys: their order says nothing in a tool.json. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join()}}`;
}

// ---- the tree and its places

interface Site {
  readonly node: Node;
  readonly schema: Schema;
  readonly path: Path;
  /** Set for members of an object. */
  readonly member?: Member;
  readonly object?: ObjectNode;
  readonly owner?: Schema;
}

interface Tree {
  readonly text: string;
  readonly root: ObjectNode;
  readonly sites: readonly Site[];
}

function treeOf(text: string): Tree {
  const root = parseJson(text).root as ObjectNode;
  const sites: Site[] = [];
  const walk = (site: Site) => {
    sites.push(site);
    const { node, schema, path } = site;
    if (node.type === "array") {
      for (const [i, item] of node.items.entries())
        walk({ node: item, schema: resolve(schema.items ?? {}), path: [...path, i] });
    } else if (node.type === "object") {
      for (const member of node.members) {
        const name = member.key.value;
        walk({
          node: member.value!,
          schema: memberSchema(schema, name),
          path: [...path, name],
          member,
          object: node,
          owner: schema,
        });
      }
    }
  };
  walk({ node: root, schema: rootSchema, path: [] });
  return { text, root, sites };
}

type Make = (site: Site, random: Random, tree: Tree) => Fault | string | undefined;

/** An operator at one of the sites that fit; a string takes the place of the value there, which is then determined. */
const at =
  (fits: (site: Site, tree: Tree) => boolean, make: Make): Operator =>
  (tree, random) => {
    const sites = tree.sites.filter((site) => fits(site, tree));
    if (sites.length === 0) return undefined;
    const site = random.pick(sites);
    const made = make(site, random, tree);
    return typeof made === "string" ? put(site.node.span, made) : made;
  };

const put = (span: Span, text: string, more: Partial<Fault> = {}): Fault => ({ edits: [{ span, text }], ...more });
const insert = (offset: number, text: string): Fault => put({ start: offset, end: offset }, text);
const openAt = (site: Site, text: string, ...open: Path[]): Fault =>
  put(site.node.span, text, { open: [site.path, ...open] });
const char = (offset: number): Span => ({ start: offset, end: offset + 1 });
const under =
  (...names: (string | undefined)[]) =>
  ({ path }: Site) =>
    path.length === names.length && names.every((name, i) => name === undefined || path[i] === name);
const isString = ({ node }: Site) => node.type === "string" && node.value !== "";
const str = ({ node }: Site) => (node.type === "string" ? node.value : "");
const inLanguage = (name: string) => (site: Site) => isString(site) && site.schema["x-language"] === name;
const isMember = ({ member }: Site) => member !== undefined;
/** A member of an object whose keys are all known. */
const isSetting = (site: Site) => isMember(site) && site.owner?.additionalProperties === false;
const hasOneType = ({ schema }: Site, type: string) => schema.type === type;
const source = ({ text }: Tree, { span }: Node) => text.slice(span.start, span.end);
const json = (value: unknown) => JSON.stringify(value);
const memberEnd = ({ key, value }: Member) => (value ?? key).span.end;
const length = ({ node }: Site) =>
  node.type === "array" ? node.items.length : node.type === "object" ? node.members.length : 0;

/** Takes members out, each with the comma that goes with it. */
function without(object: ObjectNode, gone: Member): TextEdit {
  const i = object.members.indexOf(gone);
  const next = object.members[i + 1];
  if (next !== undefined) return { span: { start: gone.key.span.start, end: next.key.span.start }, text: "" };
  const before = object.members[i - 1];
  const start = before === undefined ? object.span.start + 1 : memberEnd(before);
  return { span: { start, end: memberEnd(gone) }, text: "" };
}

/** Two neighbours in an object or array. */
function neighbours({ node }: Site, random: Random): [Span, Span] | undefined {
  const parts =
    node.type === "array"
      ? node.items.map(({ span }) => span)
      : (node as ObjectNode).members.map((member) => ({ start: member.key.span.start, end: memberEnd(member) }));
  if (parts.length < 2) return undefined;
  const i = random.below(parts.length - 1);
  return [parts[i]!, parts[i + 1]!];
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** One slip of a finger: a letter left out, doubled, swapped, replaced or put in. */
function slip(word: string, random: Random): string {
  const i = random.below(word.length);
  const letter = LETTERS[random.below(26)]!;
  switch (random.below(5)) {
    case 0:
      return word.slice(0, i) + word.slice(i + 1);
    case 1:
      return word.slice(0, i + 1) + word.slice(i);
    case 2:
      return i === 0 ? word : word.slice(0, i - 1) + word[i] + word[i - 1] + word.slice(i + 1);
    case 3:
      return word.slice(0, i) + letter + word.slice(i + 1);
    default:
      return word.slice(0, i) + letter + word.slice(i);
  }
}

/** A slip that is none of the right words. */
function misspelt(word: string, right: readonly string[], random: Random): string | undefined {
  for (let tries = 0; tries < 10; tries++) {
    const wrong = slip(word, random);
    if (wrong.length > 1 && !right.includes(wrong)) return wrong;
  }
  return undefined;
}

const keysOf = (schema: Schema | undefined) => Object.keys(schema?.properties ?? {});
const renamed = ({ member }: Site, name: string | undefined, more: Partial<Fault> = {}): Fault | undefined =>
  name === undefined || name === member!.key.value ? undefined : put(member!.key.span, json(name), more);

const OTHER_NAMES: Readonly<Record<string, string>> = {
  environment: "env",
  regions: "region",
  header: "headers",
  headers: "header",
  redirects: "redirect",
  hooks: "hook",
  stages: "stage",
  logs: "log",
  alerts: "alert",
  actions: "action",
  description: "desc",
  command: "cmd",
  memory: "mem",
  emails: "email",
  numbers: "number",
  subnets: "subnet",
  security_groups: "security_group",
  layers: "layer",
  queries: "query",
  allowed_origins: "allowed_origin",
  allowed_methods: "methods",
  period: "periods",
  location: "loc",
  variables: "vars",
  dir: "directory",
  attempts: "attempt",
  value: "values",
};

const camel = (name: string) => name.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());
const capital = (name: string) => name[0]!.toUpperCase() + name.slice(1);

/** Sections of the root, and where their keys are often written by mistake. */
function hoisted(site: Site, { root, text }: Tree, to: ObjectNode): Fault | undefined {
  const { object, member } = site;
  if (memberOf(to, member!.key.value) !== undefined) return undefined;
  const moved = text.slice(member!.key.span.start, memberEnd(member!));
  const first = to.members[0];
  if (first === undefined || to === root) {
    const last = root.members.at(-1)!;
    const inSelf = last === rootMember(root, site);
    const offset = inSelf ? root.members[0]!.key.span.start : memberEnd(last);
    const added = inSelf ? `${moved}, ` : `, ${moved}`;
    return { edits: [without(object!, member!), { span: { start: offset, end: offset }, text: added }] };
  }
  const offset = first.key.span.start;
  return { edits: [without(object!, member!), { span: { start: offset, end: offset }, text: `${moved}, ` }] };
}

const rootMember = (root: ObjectNode, { path }: Site) => root.members.find(({ key }) => key.value === path[0]);

const OPERATORS: Readonly<Record<string, Operator>> = {
  // ---- a character too few or too many
  "drop quote": at(
    (site) => isString(site) || isMember(site),
    ({ node, member }, random) => {
      const token = node.type !== "string" || (member && random.chance(0.5)) ? member!.key : node;
      return put(char(random.chance(0.5) ? token.span.start : token.span.end - 1), "");
    },
  ),
  "drop bracket": at(
    (site) => length(site) > 0,
    ({ node }, random) => put(char(random.chance(0.5) ? node.span.start : node.span.end - 1), ""),
  ),
  "drop comma": at(
    (site) => length(site) > 1,
    (site, random, { text }) => {
      const [before] = neighbours(site, random)!;
      return put(char(text.indexOf(",", before.end)), " ");
    },
  ),
  "drop colon": at(isMember, ({ member }, _, { text }) => put(char(text.indexOf(":", member!.key.span.end)), " ")),
  "drop end of file": ({ text }, random) => {
    const closing = /[\s\]}]*$/.exec(text)!.index;
    return put({ start: closing + random.below(text.trimEnd().length - closing), end: text.length }, "\n");
  },
  "surplus comma": at(
    (site) => length(site) > 0,
    (site, random, { text }) => {
      const pair = random.chance(0.4) ? neighbours(site, random) : undefined;
      if (pair !== undefined) return insert(text.indexOf(",", pair[0].end), ",");
      const { node } = site;
      return insert(
        node.type === "array" ? node.items.at(-1)!.span.end : memberEnd((node as ObjectNode).members.at(-1)!),
        ",",
      );
    },
  ),
  "surplus bracket": at(
    (site) => length(site) > 0,
    ({ node }, random) => insert(node.span.end, random.pick(node.type === "array" ? ["]", "]", "}"] : ["}", "}", "]"])),
  ),
  "other bracket": at(
    (site) => length(site) > 0,
    ({ node }) => put(char(node.span.end - 1), node.type === "array" ? "}" : "]"),
  ),
  "semicolon or equals": at(
    (site) => length(site) > 1 || isMember(site),
    (site, random, { text }) => {
      const pair = length(site) > 1 ? neighbours(site, random) : undefined;
      if (pair !== undefined) return put(char(text.indexOf(",", pair[0].end)), ";");
      return put(char(text.indexOf(":", site.member!.key.span.end)), " =");
    },
  ),
  "other quotes": at(
    (site) => isString(site) && !/['"\\`]/.test(str(site)),
    (site, random) => random.pick([`'${str(site)}'`, `'${str(site)}'`, `\u201c${str(site)}\u201d`, `\`${str(site)}\``]),
  ),
  "name without quotes": at(
    (site) => isSetting(site) && /^\w+$/.test(site.member!.key.value),
    ({ member }) => put(member!.key.span, member!.key.value),
  ),
  "text without quotes": at(
    (site) => isString(site) && /^[\w.-]+$/.test(str(site)) && !/^[\d.-]/.test(str(site)),
    (site) => str(site),
  ),
  comment: at(isMember, ({ member }, random) =>
    insert(member!.key.span.start, random.pick(["// for now\n", "/* for now */ ", "# for now\n"])),
  ),
  "line pasted twice": at(isSetting, ({ member }, _, { text }) =>
    insert(member!.key.span.start, `${text.slice(member!.key.span.start, memberEnd(member!))},\n`),
  ),
  "key again with another value": at(
    (site) => isSetting(site) && ["number", "boolean", "string"].includes(site.node.type),
    (site, random, { text }) => {
      const { member, node, schema, path } = site;
      const other =
        node.type === "boolean"
          ? !node.value
          : node.type === "number"
            ? node.value + 1
            : (schema.enum ?? []).filter((word) => word !== str(site))[0];
      if (other === undefined) return undefined;
      const copy = `${json(member!.key.value)}: ${json(other)}`;
      const { start } = member!.key.span;
      // Two values: nobody knows which of them was meant.
      const fault = random.chance(0.5) ? insert(start, `${copy}, `) : insert(memberEnd(member!), `, ${copy}`);
      return text.includes(copy) ? undefined : { ...fault, open: [path] };
    },
  ),

  // ---- names of settings
  "misspell key": at(isSetting, (site, random) =>
    renamed(site, misspelt(site.member!.key.value, keysOf(site.owner), random)),
  ),
  "misspell key twice": at(
    (site) => isSetting(site) && site.member!.key.value.length > 6,
    (site, random) => {
      const keys = keysOf(site.owner);
      const once = misspelt(site.member!.key.value, keys, random);
      const twice = once && misspelt(once, keys, random);
      return twice === site.member!.key.value ? undefined : renamed(site, twice);
    },
  ),
  "case of key": at(isSetting, (site, random) => {
    const name = site.member!.key.value;
    const other = random.pick([capital(name), name.toUpperCase(), camel(name), name.replaceAll("_", "-")]);
    return keysOf(site.owner).includes(other) ? undefined : renamed(site, other);
  }),
  "other name of key": at(
    (site) => isSetting(site) && Object.hasOwn(OTHER_NAMES, site.member!.key.value),
    (site) => renamed(site, OTHER_NAMES[site.member!.key.value]),
  ),
  "key with its unit": at(
    (site) => isSetting(site) && site.schema["x-unit"] !== undefined,
    (site, random) =>
      renamed(site, `${site.member!.key.value}${random.pick(["_", ""])}${site.schema["x-unit"]}`.toLowerCase()),
  ),
  "key above its section": at(
    (site) =>
      isSetting(site) &&
      site.path.length === 2 &&
      !["stages", "variables"].includes(String(site.path[0])) &&
      !keysOf(rootSchema).includes(String(site.path[1])) &&
      site.object!.members.length > 1,
    (site, _, tree) => hoisted(site, tree, tree.root),
  ),
  "key above its inner section": at(
    (site) => isSetting(site) && site.path.length === 3 && ["backoff", "vpc"].includes(String(site.path[1])),
    (site, _, tree) => hoisted(site, tree, memberOf(tree.root, String(site.path[0]))!.value as ObjectNode),
  ),
  "key below another section": at(
    (site, { root }) =>
      site.path.length === 1 && site.path[0] !== "name" && root.members.some(({ key }) => key.value !== site.path[0]),
    (site, random, tree) => {
      const sections = ["function", "proxy", "static", "logs", "hooks", "cors", "error_pages"].filter(
        (name) => name !== site.path[0] && memberOf(tree.root, name)?.value?.type === "object",
      );
      if (sections.length === 0) return undefined;
      const section = random.pick(sections);
      const schema = memberSchema(rootSchema, section);
      if (keysOf(schema).includes(String(site.path[0]))) return undefined;
      return hoisted(site, tree, memberOf(tree.root, section)!.value as ObjectNode);
    },
  ),
  "function or proxy setting of a stage": at(
    (site) =>
      site.path.length === 4 &&
      site.path[0] === "stages" &&
      ["function", "proxy"].includes(String(site.path[2])) &&
      site.object!.members.length > 1 === (site.path[2] === "function"),
    (site, _, { root, text }) => {
      const stage = memberOf(memberOf(root, "stages")!.value, String(site.path[1]))!.value as ObjectNode;
      const moved = text.slice(site.member!.key.span.start, memberEnd(site.member!));
      if (site.object!.members.length === 1) {
        const section = memberOf(stage, String(site.path[2]))!;
        return put({ start: section.key.span.start, end: memberEnd(section) }, moved);
      }
      return {
        edits: [
          without(site.object!, site.member!),
          {
            span: { start: stage.members[0]!.key.span.start, end: stage.members[0]!.key.span.start },
            text: `${moved}, `,
          },
        ],
      };
    },
  ),
  "setting of the app below a stage": at(
    (site, { root }) =>
      site.path.length === 1 &&
      ["regions", "environment", "headers", "redirects", "cors", "static", "logs", "error_pages", "inject"].includes(
        String(site.path[0]),
      ) &&
      stagesOf(root).some(({ members }) => members.length > 0),
    (site, random, { root, text }) => {
      const stage = random.pick(stagesOf(root).filter(({ members }) => members.length > 0));
      const { start } = stage.members[0]!.key.span;
      const moved = text.slice(site.member!.key.span.start, memberEnd(site.member!));
      return { edits: [without(root, site.member!), { span: { start, end: start }, text: `${moved}, ` }] };
    },
  ),

  // ---- what is missing
  "drop required key": at(
    ({ node, schema }) =>
      node.type === "object" && (schema.required ?? []).some((name) => memberOf(node, name) !== undefined),
    ({ node, schema, path }, random) => {
      const object = node as ObjectNode;
      const gone = memberOf(object, random.pick(schema.required!));
      return gone && { edits: [without(object, gone)], open: [[...path, gone.key.value]] };
    },
  ),
  "drop companion": at(
    (site) =>
      isMember(site) &&
      ((site.path[0] === "actions" && ["emails", "numbers", "url"].includes(String(site.path[2]))) ||
        (site.path[1] === "policy" && /^(Not)?(Action|Resource)$/.test(String(site.path[3]))) ||
        (site.path[0] === "inject" && ["value", "file"].includes(String(site.path[3])))),
    (site) => {
      // Its opposite would do as well: what was there is open with its name.
      const name = String(site.path.at(-1));
      const isNamed = site.path[0] === "actions";
      return isNamed
        ? { edits: [without(site.object!, site.member!)], open: [site.path] }
        : {
            edits: [without(site.object!, site.member!)],
            open: [site.path],
            openName: [...site.path.slice(0, -1), name],
          };
    },
  ),
  "drop value": at(
    (site) => isSetting(site) && site.node.type !== "object",
    (site) => openAt(site, ""),
  ),
  "empty value": at(
    (site) =>
      (isString(site) && isSetting(site) && (site.schema.minLength !== undefined || site.schema.enum !== undefined)) ||
      (site.node.type === "array" && site.schema.minItems !== undefined),
    (site) => openAt(site, site.node.type === "array" ? "[]" : '""'),
  ),
  "undefined action": at(under("alerts", undefined, "action"), (site, random, { root }) => {
    const actions = (memberOf(root, "actions")?.value as ArrayNode | undefined)?.items ?? [];
    if (random.chance(0.5))
      return openAt(site, json(random.pick(["everybody", "pager-duty", "team.data"])), ["actions"]);
    // The action that it names is not there.
    const used = actions.findIndex(
      (item) => (memberOf(item, "name")?.value as { value?: string })?.value === str(site),
    );
    const owner = memberOf(root, "actions")!;
    if (actions.length !== 1 || used !== 0) return undefined;
    return { edits: [without(root, owner)], open: [["actions"]] };
  }),

  // ---- types
  "number in quotes": at(
    ({ node }) => node.type === "number",
    ({ node }, _, tree) => `"${source(tree, node)}"`,
  ),
  "number with its unit": at(
    (site) => site.node.type === "number" && site.schema["x-unit"] !== undefined,
    ({ node, schema }, random, tree) =>
      random.pick([`"${source(tree, node)}${schema["x-unit"]}"`, `"${source(tree, node)} ${schema["x-unit"]}"`]),
  ),
  "number with another unit": at(
    (site) => site.node.type === "number" && ["s", "ms"].includes(site.schema["x-unit"] ?? ""),
    ({ node, schema }) => {
      const value = (node as { value: number }).value;
      return schema["x-unit"] === "s"
        ? `"${value * 1000}ms"`
        : value % 1000 === 0
          ? `"${value / 1000}s"`
          : `"${value / 1000} s"`;
    },
  ),
  "number that JSON does not know": at(
    ({ node }) => node.type === "number",
    ({ node }, random, tree) =>
      random.pick([`+${source(tree, node)}`, `0${source(tree, node)}`, `${source(tree, node)}.`]),
  ),
  "true or false as text or number": at(
    ({ node }) => node.type === "boolean",
    ({ node }, random) => {
      const is = (node as { value: boolean }).value;
      return random.pick(is ? ['"true"', '"yes"', "1", "True", "yes"] : ['"false"', '"no"', "0", "False", "no"]);
    },
  ),
  "number or true for text": at(
    (site) =>
      isString(site) &&
      site.schema.enum === undefined &&
      hasOneType(site, "string") &&
      /^\d{1,9}$|^(true|false)$/.test(str(site)),
    (site) => str(site),
  ),
  "number for text": at(
    (site) => isString(site) && isSetting(site) && hasOneType(site, "string"),
    (site, random) => openAt(site, random.pick(["12", "true", "0"])),
  ),
  "text for list": at(
    ({ node, schema }) => schema.type === "array" && node.type === "array" && node.items.length === 1,
    ({ node }, _, tree) => source(tree, (node as ArrayNode).items[0]!),
  ),
  "text with commas for list": at(
    ({ node, schema }) =>
      schema.type === "array" &&
      node.type === "array" &&
      node.items.length > 1 &&
      node.items.every((item) => item.type === "string" && !/[,\s]/.test(item.value)),
    ({ node }, random) =>
      json((node as ArrayNode).items.map((item) => (item as { value: string }).value).join(random.pick([",", ", "]))),
  ),
  "list for one value": at(
    (site) =>
      isSetting(site) &&
      ["string", "number", "boolean"].includes(site.node.type) &&
      typeof site.schema.type === "string",
    ({ node }, _, tree) => `[${source(tree, node)}]`,
  ),
  "value for section": at(
    (site) => site.node.type === "object" && isMember(site) && length(site) === 1 && site.path.length < 4,
    ({ node, path }, _, tree) => {
      const only = (node as ObjectNode).members[0]!;
      // Only where the value alone tells its name.
      const distinctive = ["location", "command", "dir", "domain", "memory", "build"];
      return distinctive.includes(only.key.value) || path[0] === "cors" ? source(tree, only.value!) : undefined;
    },
  ),
  "list for object": at(
    (site) => site.node.type === "object" && isMember(site) && length(site) > 0,
    ({ node }, _, tree) => `[${source(tree, node)}]`,
  ),
  "object for list": at(
    ({ node, schema }) =>
      schema.type === "array" && node.type === "array" && node.items.length === 1 && node.items[0]!.type === "object",
    ({ node }, _, tree) => source(tree, (node as ArrayNode).items[0]!),
  ),
  "pairs as texts": at(
    (site) => under("environment")(site) && length(site) > 0,
    ({ node }) =>
      json((node as ObjectNode).members.map(({ key, value }) => `${key.value}=${(value as { value: string }).value}`)),
  ),
  null: at(
    (site) => isSetting(site) && !(site.owner!.required ?? []).includes(site.member!.key.value),
    (site) => openOrGone(site, "null"),
  ),
  "fraction for whole number": at(
    (site) => site.node.type === "number" && site.schema.type === "integer",
    (site, random) => openAt(site, `${(site.node as { value: number }).value}.${random.pick(["5", "25", "9"])}`),
  ),

  // ---- values
  "misspell word": at(
    (site) => isString(site) && site.schema.enum !== undefined && str(site).length > 2,
    (site, random) => {
      const wrong = misspelt(str(site), site.schema.enum!, random);
      return wrong && json(wrong);
    },
  ),
  "case of word": at(
    (site) => isString(site) && site.schema.enum !== undefined && /[a-z]/i.test(str(site)),
    (site, random) => {
      const other = random.pick([str(site).toUpperCase(), capital(str(site)), str(site).toLowerCase()]);
      return site.schema.enum!.includes(other) ? undefined : json(other);
    },
  ),
  "foreign word": at(
    (site) => isString(site) && site.schema.enum !== undefined,
    (site, random) => openAt(site, json(random.pick(["auto", "default", "p99", "custom"]))),
  ),
  "out of bounds": at(
    ({ node, schema }) => node.type === "number" && (schema.minimum !== undefined || schema.maximum !== undefined),
    (site, random) => {
      const { minimum, maximum } = site.schema;
      const low = minimum === undefined ? [] : [minimum - 1, -1, -100, minimum > 0 ? 0 : -2];
      const high = maximum === undefined ? [] : [maximum + 1, maximum * 10, maximum + 7];
      return openAt(site, String(random.pick([...low, ...high])));
    },
  ),
  "milliseconds for seconds": at(
    (site) => site.node.type === "number" && site.schema["x-unit"] === "s" && site.schema.maximum === 25,
    ({ node }) => `${(node as { value: number }).value}000`,
  ),
  "misspell region": at(under("regions", undefined), (site, random) => {
    const wrong = misspelt(str(site), [], random);
    return wrong && json(wrong);
  }),
  "region in other form": at(under("regions", undefined), (site, random) => {
    const region = str(site);
    return json(
      random.pick([region.toUpperCase(), region.replaceAll("-", "_"), region.replaceAll("-", ""), `${region}a`]),
    );
  }),
  "second region": at(under("regions"), ({ node, path }, random) => ({
    ...insert(node.span.end - 1, `, ${json(random.pick(["us-east-2", "eu-north-1", "ap-south-1"]))}`),
    open: [path],
  })),
  "name of app": at(under("name"), (site, random) => {
    const name = str(site);
    const wrong = random.pick([
      capital(name),
      name.toUpperCase(),
      `${name} app`,
      name.replace("-", "_"),
      `${name}.app`,
      `2${name}`,
      `${name}!`,
      name.repeat(8).padEnd(41, "x"),
    ]);
    return wrong === name ? undefined : openAt(site, json(wrong));
  }),
  "name of stage": at(
    (site) => under("stages", undefined)(site),
    (site, random) => {
      const name = String(site.path[1]);
      const wrong = random.pick([capital(name), name.toUpperCase(), `${name} 2`, `1${name}`, `${name}!`, `${name}/eu`]);
      return renamed(site, wrong, { openName: site.path });
    },
  ),
  "name of variable": at(under("environment", undefined), (site, random) => {
    const name = String(site.path[1]);
    const wrong = random.pick([name.replace("_", "-"), `${name} `, `$${name}`, `1${name}`, `${name}.X`, `${name}=`]);
    return renamed(site, wrong, { openName: site.path });
  }),
  "name of query": at(under("logs", "queries", undefined), (site, random) => {
    const name = String(site.path[2]);
    return renamed(site, random.pick([`@${name}`, `${name} now`, `1${name}`, `${name}!`]), { openName: site.path });
  }),
  duration: at(inLanguage("duration"), (site, random) => {
    const [, number, unit] = /^(\d+)(\w+)$/.exec(str(site))!;
    const words: Record<string, readonly string[]> = {
      s: ["sec", "seconds", "S"],
      m: ["min", "mins", "minutes"],
      h: ["hr", "hours", "H"],
    };
    return json(
      random.pick([
        ...words[unit!]!.map((word) => number + word),
        `${number} ${unit}`,
        `${number} ${words[unit!]![1]}`,
      ]),
    );
  }),
  "duration that says little": at(inLanguage("duration"), (site, random) => {
    const number = /^\d+/.exec(str(site))![0];
    return openAt(
      site,
      random.pick([json(number), number, json(`${number}s`), '"soon"', '"-5m"', '"90s"', '"0m"', json(`${number}x`)]),
    );
  }),
  "path out of project": at(inLanguage("path"), (site, random) => {
    const path = str(site);
    return random.pick([
      json(`/${path}`),
      json(`./${path}`.replaceAll("/", "\\")),
      json(`/srv/www/${path}`),
      json(`../${path}`),
    ]);
  }),
  route: at(
    (site) => isMember(site) && site.path.length === 2 && ["redirects", "headers"].includes(String(site.path[0])),
    (site, random) => {
      const route = site.member!.key.value;
      const rows = [
        route.slice(1),
        `https://acme.example${route}`,
        route.replace(/\*$/, "**"),
        route.replace(/:(\w+)/, "{$1}"),
        route.replace(/:(\w+)/, "<$1>"),
        route.replace(/:(\w+)/, "[$1]"),
        route.replace(/:(\w+)/, "$${$1}"),
        route.replace(/\*$/, "(.*)"),
        route.replace(/:(\w+)/, ":$1?"),
        route.replace(/:(\w+)/, ":$1(\\d+)"),
      ].filter((row) => row !== route && row !== "*" && row !== "");
      return renamed(site, random.pick(rows));
    },
  ),
  "route that says less": at(
    (site) => isMember(site) && site.path.length === 2 && ["redirects", "headers"].includes(String(site.path[0])),
    (site, random) => {
      const route = site.member!.key.value;
      return renamed(
        site,
        random.pick([`${route}?a=1`, `${route}#top`, `${route}/a b`, ` ${route}`, `${route}/:`, `${route}%zz`]),
        {
          openName: site.path,
        },
      );
    },
  ),
  location: at(inLanguage("location"), (site, random) => {
    const place = str(site);
    const rows = [
      /^\/\w/.test(place) ? place.slice(1) : place,
      place.replace(/^https:\/\//, "//"),
      place.replace(/^https:\/\//, "https:/"),
      place.replace(/^https:\/\//, "https:"),
      place.replace(/^https:\/\//, "htps://"),
      place.replace(/:splat$/, "*"),
      place.replace(/:(\w+)$/, "{$1}"),
      place.replace(/:splat$/, "$1"),
    ].filter((row) => row !== place);
    return rows.length === 0 ? undefined : json(random.pick(rows));
  }),
  "capture that is none": at(
    (site) => inLanguage("location")(site) && /:[a-z]+/i.test(str(site).replace(/^https?:\/\/[^/]*/, "")),
    (site, random) => {
      const place = str(site);
      const names = [...place.matchAll(/(?<=\/|=):([a-z]+)/gi)].map(([, name]) => name!);
      if (names.length === 0) return undefined;
      const name = random.pick(names);
      const wrong = slip(name, random);
      const params: readonly string[] = String(site.path[1]).match(/(?<=:)\w+/g) ?? [];
      if (params.includes(wrong) || wrong === "splat" || wrong === name || !/^[a-z]\w*$/i.test(wrong)) return undefined;
      return json(place.replace(`:${name}`, `:${wrong}`));
    },
  ),
  "status of redirect": at(under("redirects", undefined, "status"), (site, random) =>
    openAt(site, random.pick(["304", "404", "3001", "30", "300", "500", "201"])),
  ),
  "redirect to itself": at(
    (site) => under("redirects", undefined)(site) && !/[:*]/.test(String(site.path[1])),
    (site) => {
      const location = memberOf(site.node, "location")!.value!;
      const status = memberOf(site.node, "status")?.value;
      if (status?.type !== "number" || status.value === 200) return undefined;
      return put(location.span, json(site.path[1]), { open: [[...site.path, "location"]] });
    },
  ),
  "two rules of one shape": at(
    (site) => under("redirects", undefined)(site) && /:\w/.test(String(site.path[1])),
    ({ member }, _, { text }) => {
      const copy = text.slice(member!.key.span.start, memberEnd(member!)).replace(/:(\w+)/, ":$1x");
      return insert(member!.key.span.start, `${copy.replace(/(?<=location": ?")[^"]*/, "/elsewhere")}, `);
    },
  ),
  domain: at(
    (site) => under("stages", undefined, "domain")(site),
    (site, random) => {
      const name = str(site);
      return json(
        random.pick([
          `https://${name}`,
          `https://${name}/`,
          name.replace(".", ".."),
          `${name}/`,
          ` ${name}`,
          `${name}:443`,
          name.replace(".", ". "),
        ]),
      );
    },
  ),
  "domain that says little": at(
    (site) => under("stages", undefined, "domain")(site),
    (site, random) =>
      openAt(
        site,
        json(
          random.pick([str(site).split(".")[0], str(site).replace(".", "_."), `-${str(site)}`, "", "*.acme.example"]),
        ),
      ),
  ),
  "zone of another domain": at(under("stages", undefined, "zone"), (site, random) =>
    openAt(site, random.pick(["true", '"other.example"', '"acme"', '""'])),
  ),
  "domain of two stages": at(
    (site, { root }) =>
      under("stages", undefined, "domain")(site) &&
      stagesOf(root).filter((stage) => memberOf(stage, "domain")).length > 1,
    (site, _, { root }) => {
      const stages = (memberOf(root, "stages")!.value as ObjectNode).members;
      const name = stages.find(({ key, value }) => {
        const domain = memberOf(value, "domain")?.value;
        return key.value !== site.path[1] && domain && memberOf(value, "path") === undefined;
      })?.key.value;
      const other = memberOf(memberOf(memberOf(root, "stages")!.value, name ?? "")?.value, "domain")?.value;
      const own = memberOf(memberOf(root, "stages")!.value, String(site.path[1]))!.value;
      if (memberOf(own, "path") !== undefined || memberOf(own, "zone") !== undefined) return undefined;
      // Either of the two may get another.
      return other?.type === "string" ? openAt(site, json(other.value), ["stages", name!, "domain"]) : undefined;
    },
  ),
  "path of stage": at(under("stages", undefined, "path"), (site, random) =>
    openAt(site, json(random.pick(["/v 1", "/a//b", "https://acme.example/v1", "/v1?x"]))),
  ),
  query: at(inLanguage("query"), (site, random) => {
    const query = str(site);
    const rows = [
      query.replace(/>=/, "=>"),
      query.replace(/!=/, "<>"),
      query.replace(/ and /, " && "),
      query.replace(/ or /, " || "),
      query.replace(/\bnot /, "!"),
      query.replace(/ and /, " And "),
      query.replace(/(\d)(s|ms|mb)\b/, "$1 $2"),
      query.replace(/(\d)s\b/, "$1sec"),
      query.replace(/, /, " "),
      query.replace(/\((?=[A-Z])/, "[").replace(/(?<=[A-Z])\)/, "]"),
      query.replace(/"([^"]*)"/, "'$1'"),
      query.replace(/ contains /, " like "),
      query.replace(/ = (?=\w)/, ": "),
      query.replace(/\/i?$/, ""),
    ].filter((row) => row !== query);
    return rows.length === 0 ? undefined : json(random.pick(rows));
  }),
  "query that breaks off": at(inLanguage("query"), (site, random) => {
    const query = str(site);
    return openAt(
      site,
      json(
        random.pick([
          `${query} and`,
          `or ${query}`,
          `(${query}`,
          `${query})`,
          query.replace(/\S+$/, ""),
          `${query} and status >=`,
          `${query} and "x`,
        ]),
      ),
    );
  }),
  "name of header": at(
    (site) =>
      under("headers", undefined, undefined)(site) ||
      under("cors", "allowed_headers", undefined)(site) ||
      under("cors", "exposed_headers", undefined)(site),
    (site, random) => {
      const name = site.member?.key.value ?? str(site);
      const wrong = json(random.pick([`${name}:`, `${name} `, name.replace("-", " "), name.replace("-", ": ")]));
      if (wrong === json(name)) return undefined;
      return put(site.member?.key.span ?? site.node.span, wrong);
    },
  ),
  "header of the connection": at(under("headers", undefined, undefined), (site, random) =>
    renamed(site, random.pick(["Connection", "Content-Length", "Transfer-Encoding", "Keep-Alive"]), {
      openOrGone: site.path,
    }),
  ),
  "value of header": at(under("headers", undefined, undefined), (site, random) =>
    openAt(site, json(random.pick([`${str(site)}\r\n`, `${str(site)}\nX-A: b`, `${str(site)} \u2713`]))),
  ),
  origin: at(under("cors", "allowed_origins", undefined), (site, random) => {
    const value = str(site);
    if (value.includes("*")) return undefined;
    return json(
      random.pick([
        `${value}/`,
        value.replace("https://", ""),
        `${value}/app`,
        ` ${value}`,
        value.replace("://", ":/"),
      ]),
    );
  }),
  method: at(under("cors", "allowed_methods", undefined), (site, random) =>
    json(random.pick([`${str(site)} `, str(site).slice(0, -1) + str(site).at(-1)!.repeat(2)])),
  ),
  "type of record": at(under("dns", undefined, undefined, "type"), (site, random) =>
    random.pick([
      json(str(site).toLowerCase()),
      json(` ${str(site)}`),
      json(str(site).slice(0, -1) + str(site).at(-1)!.repeat(2)),
    ]),
  ),
  "name of record": at(under("dns", undefined, undefined, "name"), (site, random) => {
    const name = str(site);
    const zone = String(site.path[1]);
    const below = name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : undefined;
    return json(
      random.pick([
        `https://${name}`,
        name.replace(".", ".."),
        ...(below && !below.includes(".") ? [below, below] : []),
      ]),
    );
  }),
  "value of record": at(under("dns", undefined, undefined, "value", undefined), (site, random) => {
    const type = (memberOf(site.object, "type")?.value ?? { value: "" }) as { value: string };
    const value = str(site);
    void type;
    return openAt(
      site,
      json(
        random.pick(
          [`https://${value}`, value.replace(/^\d+ /, ""), value.replace(/\.\d+$/, ".999"), value.replace(/:/, "")]
            .filter((row) => row !== value && !/^v=/.test(value))
            .concat(/^v=/.test(value) ? ["\u0001"] : []),
        ),
      ),
    );
  }),
  "same record twice": at(
    (site) => under("dns", undefined, undefined)(site) || (site.path.length === 3 && site.path[0] === "dns"),
    ({ node }, _, tree) => insert(node.span.start, `${source(tree, node)}, `),
  ),
  email: at(
    (site) => site.path[0] === "actions" && site.path[2] === "emails" && site.path.length === 4,
    (site, random) => {
      const value = str(site);
      return openAt(
        site,
        json(
          random.pick([
            value.replace("@", ""),
            value.replace("@", " at "),
            `${value},`,
            `mailto:${value}`,
            `<${value}>`,
            value.split("@")[0],
          ]),
        ),
      );
    },
  ),
  "telephone number": at(
    (site) => site.path[0] === "actions" && site.path[2] === "numbers" && site.path.length === 4,
    (site, random) => {
      const value = str(site);
      return openAt(
        site,
        json(
          random.pick([
            value.slice(1),
            value.replace("+", "00"),
            `${value.slice(0, 3)} ${value.slice(3)}`,
            `${value.slice(0, 4)}-${value.slice(4)}`,
            `tel:${value}`,
          ]),
        ),
      );
    },
  ),
  "address of chat": at(
    (site) => site.path[0] === "actions" && site.path[2] === "url",
    (site, random) =>
      json(random.pick([str(site).replace("https:", "http:"), str(site).replace("https://", ""), ` ${str(site)}`])),
  ),
  "two actions of one name": at(
    (site, { root }) =>
      site.path[0] === "actions" &&
      site.path[2] === "name" &&
      (memberOf(root, "actions")!.value as ArrayNode).items.length > 1,
    (site, _, { root }) => {
      const items = (memberOf(root, "actions")!.value as ArrayNode).items;
      const other = items.find((_, i) => i !== site.path[1])!;
      const name = memberOf(other, "name")!.value as { value: string };
      // If alerts refer to the name, the action that they mean is open, too.
      const used = (memberOf(root, "alerts")?.value as ArrayNode | undefined)?.items.some(
        (alert) => (memberOf(alert, "action")?.value as { value?: string })?.value === str(site),
      );
      return used ? undefined : openAt(site, json(name.value));
    },
  ),
  "field of another action": at(
    (site) => under("actions", undefined)(site) || (site.path.length === 2 && site.path[0] === "actions"),
    ({ node }) => {
      const type = (memberOf(node, "type")!.value as { value: string }).value;
      const extra = type === "email" ? '"channel": "#ops"' : '"emails": ["ops@acme.example"]';
      return insert(memberEnd((node as ObjectNode).members.at(-1)!), `, ${extra}`);
    },
  ),
  metric: at(
    (site, { root }) =>
      under("alerts", undefined, "metric")(site) ||
      (site.path.length === 3 && site.path[0] === "alerts" && site.path[2] === "metric" && root !== undefined),
    (site, random) => {
      if (memberOf(site.object, "namespace") !== undefined) return undefined;
      const metric = str(site);
      return json(
        random.pick([
          metric.replace("http.", ""),
          metric.replace(".", "_"),
          metric.toUpperCase(),
          slip(metric, random),
        ]),
      );
    },
  ),
  "variable of the tool": at(
    (site) => under("environment")(site) && length(site) > 0,
    ({ node }, random) =>
      insert(
        (node as ObjectNode).members[0]!.key.span.start,
        random.pick(['"PORT": "3000", ', '"TOOL_STAGE": "production", ']),
      ),
  ),
  "backoff that begins above its end": at(
    (site) => under("proxy", "backoff", "min")(site),
    (site, _, tree) => {
      const max = memberOf(site.object, "max")?.value;
      if (max === undefined) return undefined;
      return {
        edits: [
          { span: site.node.span, text: source(tree, max) },
          { span: max.span, text: source(tree, site.node) },
        ],
      };
    },
  ),
  "value and file": at(
    (site) => site.path.length === 3 && site.path[0] === "inject",
    ({ node, path }) => {
      const extra = memberOf(node, "value") ? '"file": "snippets/a.js"' : '"value": "/a.js"';
      return { ...insert(memberEnd((node as ObjectNode).members.at(-1)!), `, ${extra}`), open: [path] };
    },
  ),
  colour: at(under("error_pages", "variables", "color"), (site, random, { root }) =>
    memberOf(memberOf(root, "error_pages")!.value, "dir")
      ? undefined
      : openAt(site, json(random.pick(["228be6", "#22", "#228be", "tomatoe", "rgb(1, 2"]))),
  ),
  "older dialect": at(
    (site) =>
      under("function")(site) ||
      under("logs", "disable")(site) ||
      under("error_pages", "disable")(site) ||
      (isString(site) && ["tracker", "analytics"].includes(str(site))),
    (site) => {
      if (site.path[0] === "function") return renamed(site, "lambda");
      if (site.path[0] === "inject") return str(site) === "tracker" ? '"segment"' : '"google analytics"';
      const value = (site.node as { value: boolean }).value;
      return put({ start: site.member!.key.span.start, end: site.node.span.end }, `"enable": ${!value}`);
    },
  ),
  "unknown key": at(
    (site) => site.node.type === "object" && site.schema.additionalProperties === false && length(site) > 0,
    ({ node }, random) =>
      insert(
        (node as ObjectNode).members[0]!.key.span.start,
        random.pick(['"version": 2, ', '"owner": "team-a", ', '"runtime_version": "20", ', '"colour": "red", ']),
      ),
  ),
};

export const OPERATOR_NAMES: readonly string[] = Object.keys(OPERATORS);

// ---- what people write out of habit, or remember only nearly

/** Words for a required setting that other tools have, or that people think of. */
const REMEMBERED: Readonly<Record<string, readonly string[]>> = {
  action: ["notify", "target", "send", "receiver", "actoin", "channel"],
  emails: ["mails", "addresses", "to", "recipients", "emial", "email_addresses"],
  location: ["goto", "dest", "target", "href", "locaton", "redirect"],
  metric: ["measure", "metrics", "series", "metirc", "what"],
  name: ["id", "title", "nme", "label", "key", "record"],
  numbers: ["phones", "phone_numbers", "to", "tel", "numbrs", "recipients"],
  statistic: ["stat", "function", "aggregate", "statistics", "aggregation"],
  threshold: ["limit", "value", "above", "treshold", "level"],
  type: ["kind", "record", "tpye", "category", "typ"],
  url: ["webhook", "href", "link", "endpoint", "ulr", "hook"],
  value: ["records", "data", "content", "target", "answer", "vaule"],
};

const isNeeded = (site: Site) =>
  isMember(site) &&
  ((site.owner?.required ?? []).includes(site.member!.key.value) ||
    (site.path[0] === "actions" && ["emails", "numbers", "url"].includes(String(site.path[2]))));

/** A query with a pipe, and the same with a slip in it. */
const inPipe = (make: (random: Random) => readonly [right: string, wrong: string], isOpen = false): Operator =>
  at(inLanguage("query"), (site, random) => {
    const query = str(site);
    if (query.includes("|")) return undefined;
    const [right, wrong] = make(random);
    const edit = (pipe: string) => [{ span: site.node.span, text: json(`${query} | ${pipe}`) }];
    return { edits: edit(wrong), right: edit(right), ...(isOpen && { open: [site.path] }) };
  });

const FIELD_NAMES = ["path", "status", "method", "ip"] as const;
const KEYS = [
  "sk_live_9aXb27cQ41mZt8LpR05w",
  "ghp_0123456789abcdefghijABCDEFGHIJ012345",
  "AKIAIOSFODNN7EXAMPLE",
  "xoxb-123456789012-abcdefghij",
] as const;

const HABITS: Readonly<Record<string, Operator>> = {
  "remembered word for a required key": at(isNeeded, (site, random) => {
    const words = REMEMBERED[site.member!.key.value] ?? [];
    const free = words.filter((word) => !keysOf(site.owner).includes(word) && !memberOf(site.object!, word));
    return free.length === 0 ? undefined : renamed(site, random.pick(free));
  }),
  "misspelt required key": at(isNeeded, (site, random) => {
    const keys = keysOf(site.owner);
    const once = misspelt(site.member!.key.value, keys, random);
    const twice = once && once.length > 4 ? misspelt(once, keys, random) : once;
    return renamed(site, twice);
  }),
  "near name of a folder or file": at(inLanguage("path"), (site, random) => {
    const wrong = misspelt(str(site), [], random);
    if (wrong === undefined || /^[./]|\/\/|\/$/.test(wrong)) return undefined;
    return put(site.node.span, json(wrong), { needsFiles: true });
  }),
  "near name of a region": at(under("regions", undefined), (site, random) => {
    const region = str(site);
    const [place = "", direction = "", digit = ""] = region.split("-");
    const row = random.below(6);
    if (row === 0) return openAt(site, json(`${place}-${direction}-9`));
    if (row === 1) return openAt(site, json(`${place}-${direction}-1${digit}`));
    return json(
      [
        `${place}-${direction}${digit}`,
        `${place}${direction}-${digit}`,
        `${place} ${direction} ${digit}`,
        misspelt(region, [], random)!,
      ][row - 2]!,
    );
  }),
  "near name of a stage in a query": at(inLanguage("query"), (site, random, { root }) => {
    const query = str(site);
    if (query.includes("|")) return undefined;
    const names = [
      "development",
      "staging",
      "production",
      ...((memberOf(root, "stages")?.value as ObjectNode | undefined)?.members ?? []).map(({ key }) => key.value),
    ];
    const name = random.pick(names);
    const short: Record<string, readonly string[]> = {
      development: ["dev", "develop", "devel"],
      staging: ["stage", "stg", "stag"],
      production: ["prod", "prd", "prodution", "live"],
    };
    const wrong = random.chance(0.5) ? misspelt(name, names, random) : random.pick(short[name] ?? [`${name}1`]);
    if (wrong === undefined || names.includes(wrong)) return undefined;
    const edit = (stage: string) => [{ span: site.node.span, text: json(`(${query}) and stage = ${stage}`) }];
    return {
      edits: edit(wrong),
      right: edit(name),
      ...(["live", "stag"].includes(wrong) && { open: [site.path] }),
    };
  }),
  "misspelt pipe": inPipe((random) => {
    const [word, rest] = random.pick([
      ["count", "by path"],
      ["stats", "avg(duration) by path"],
      ["timeseries", "1h"],
      ["top", "10 path"],
      ["sort", "timestamp desc"],
      ["limit", "20"],
      ["fields", "path, status"],
      ["where", "duration > 1s"],
    ] as const);
    return [`${word} ${rest}`, `${misspelt(word, [], random)} ${rest}`];
  }),
  "direction of another form": inPipe((random) => {
    const [right, wrongs] = random.pick([
      ["desc", ["dsc", "decs", "descending", "DESC", "down", "desk"]],
      ["asc", ["acs", "ascending", "ASC", "up", "ascc"]],
    ] as const);
    return [`sort duration ${right}`, `sort duration ${random.pick(wrongs)}`];
  }),
  "direction alone": inPipe(
    (random) => ["sort timestamp desc", `sort ${random.pick(["dsc", "desc", "descending", "asc"])}`],
    true,
  ),
  "number that is none in a pipe": inPipe(
    (random) => ["limit 10", random.pick(["limit x", "limit", "limit ten", "limit -5", "limit 1.5", "top x path"])],
    true,
  ),
  "function without its brackets": inPipe((random) => {
    const name = random.pick(["avg", "max", "min", "sum", "p99"] as const);
    const field = random.pick(["duration", "size"] as const);
    const by = random.chance(0.5) ? ` by ${random.pick(FIELD_NAMES)}` : "";
    const wrong = random.pick([`stats ${name} ${field}${by}`, `${name} ${field}${by}`, `stats ${name}(${field}${by}`]);
    return [`stats ${name}(${field})${by}`, wrong];
  }),
  "word of a pipe left out or put in": inPipe((random) => {
    const field = random.pick(FIELD_NAMES);
    return random.pick([
      [`count by ${field}`, `count ${field}`],
      [`sort ${field} desc`, `sort by ${field} desc`],
      [`count by ${field}, level`, `count by ${field} level`],
      [`count by ${field}`, `count group by ${field}`],
      [`top 5 ${field}`, `top ${field} 5`],
    ] as const);
  }),
  "secret in a header": at(
    (site) => under("headers", undefined)(site) && length(site) > 0,
    ({ node }, random) => {
      const key = random.pick(KEYS);
      const [name, value] = random.pick([
        ["Authorization", `Bearer ${key}`],
        ["X-Api-Key", key],
        ["X-Auth-Token", "9f8a7b6c5d4e3f2a1b0c"],
      ] as const);
      return insert((node as ObjectNode).members[0]!.key.span.start, `${json(name)}: ${json(value)}, `);
    },
  ),
  "secret in a command": at(inLanguage("command"), (site, random) => {
    const key = random.pick(KEYS);
    const name = random.pick(["API_TOKEN", "NPM_TOKEN", "DB_PASSWORD"] as const);
    return openAt(
      site,
      json(random.pick([`${name}=${key} ${str(site)}`, `${str(site)} --token=${key}`, `${str(site)} --token ${key}`])),
    );
  }),
  "redirects that form a loop": at(
    (site) => under("redirects", undefined)(site) && !/[:*]/.test(String(site.path[1])),
    ({ member, node }) => {
      const location = memberOf(node, "location")?.value;
      const status = memberOf(node, "status")?.value;
      if (status?.type !== "number" || status.value === 200 || location?.type !== "string") return undefined;
      if (!/^\/[\w/.-]+$/.test(location.value)) return undefined;
      const back = `${json(location.value)}: { "location": ${json(member!.key.value)}, "status": 302 }, `;
      return { ...insert(member!.key.span.start, back), openOrGone: ["redirects"] };
    },
  ),
  "id of another form": at(
    (site) => site.path.includes("vpc") && isString(site),
    (site, random) => {
      const id = str(site);
      const digits = id.replace(/^\w+-/, "");
      const row = random.below(6);
      if (row === 0) return openAt(site, json(id.slice(0, -1)));
      if (row === 1) return openAt(site, json(`${id}0`));
      if (row === 2) return json(digits);
      if (row === 3) return json(id.toUpperCase());
      if (row === 4) return json(id.replace("-", "_"));
      return json(` ${id}`);
    },
  ),
  "role or layer by its name": at(
    (site) => site.path[0] === "function" && (site.path[1] === "role" || site.path[1] === "layers") && isString(site),
    (site, random) => {
      const arn = str(site);
      const parts = arn.split(":");
      return openAt(
        site,
        json(
          random.pick([parts.slice(5).join(":"), parts.slice(1).join(":"), parts.slice(0, -1).join(":"), ` ${arn}`]),
        ),
      );
    },
  ),
};

/** A second set of operators, with other draws than the first. */
export const HABIT_NAMES: readonly string[] = Object.keys(HABITS);

const stagesOf = (root: ObjectNode): ObjectNode[] => {
  const stages = memberOf(root, "stages")?.value;
  return stages?.type === "object"
    ? stages.members.flatMap(({ value }) => (value?.type === "object" ? [value] : []))
    : [];
};

/** A repaired file has some value there, or nothing, which is the default. */
const openOrGone = (site: Site, text: string): Fault => ({ ...put(site.node.span, text), openOrGone: site.path });
