import { didYouMean } from "../grammar/did-you-mean.ts";
import { type Fix, type Parsed, type Problem, quote } from "../grammar/problem.ts";
import { doubtsOf, type NamedStage, parsePipeline, type SeenFields, stagesNamedIn } from "../grammar/query/index.ts";
import { type Location, parseLocation, parseRoute, type Route } from "../grammar/route/index.ts";
import { parseDuration } from "../grammar/units/duration.ts";
import { cleanName } from "./clean-text.ts";
import { isColor, nearColor } from "./colors.ts";
import type { LogFacts } from "./development-log.ts";
import { insertItem, insertMember } from "./edits.ts";
import { type Glob, parseGlob } from "./glob.ts";
import { memberOf, type Node, type ObjectNode, type StringNode } from "./json.ts";
import { resolve, type Schema } from "./keywords.ts";
import type { Memory } from "./memory.ts";
import { withQueryFixes } from "./query-fixes.ts";
import type { ProblemReport } from "./report.ts";
import { toolSchema } from "./tool-schema.generated.ts";

/**
 * The values of the strings of a configuration in their languages, by the node that holds them; none if a string is
 * wrong.
 */
export interface Meanings {
  readonly routes: ReadonlyMap<StringNode, Route>;
  readonly locations: ReadonlyMap<StringNode, Location>;
  readonly durationsMs: ReadonlyMap<StringNode, number>;
  readonly globs: ReadonlyMap<StringNode, Glob>;
  /** Queries with something that only the rest of the file, or a second look, tells. */
  readonly queries: ReadonlyMap<StringNode, QueryMeaning>;
}

/** A valid query: the stages that it names, and what is doubtful about it. */
export interface QueryMeaning {
  readonly stages: readonly NamedStage[];
  readonly warnings: readonly Problem[];
}

/**
 * Checks every string that tool.schema.json marks with `x-language`, keys included (there the mark is in
 * `propertyNames`). In steps: see `checkInSteps`.
 */
export function* checkLanguages(
  report: ProblemReport,
  root: ObjectNode,
  { memory, log }: { readonly memory: Memory; readonly log: LogFacts },
): Generator<undefined, Meanings> {
  const routes = new Map<StringNode, Route>();
  const locations = new Map<StringNode, Location>();
  const durationsMs = new Map<StringNode, number>();
  const globs = new Map<StringNode, Glob>();
  const queries = new Map<StringNode, QueryMeaning>();
  const kept: Readonly<Record<string, Map<StringNode, unknown>>> = {
    route: routes,
    location: locations,
    duration: durationsMs,
    glob: globs,
    query: queries,
  };
  // A project's own templates may use a variable called color for anything.
  const ownPages = memberOf(memberOf(root, "error_pages")?.value, "dir") !== undefined;
  const strings: { readonly language: string; readonly node: StringNode; readonly value: Node | undefined }[] = [];
  eachLanguage(root, toolSchema as Schema, (language, node, { value }) => strings.push({ language, node, value }));
  for (const [i, { language, node, value }] of strings.entries()) {
    if (i % STRINGS_PER_STEP === STRINGS_PER_STEP - 1) yield;
    if (language === "color" && ownPages) continue;
    // Whether a secret and a name of the log service are right depends on what is around them: checks/log-alerts.ts.
    if (language === "secret" || language === "ref:/logs/notifications") continue;
    if (language.startsWith("ref:")) checkReference(report, root, language.slice("ref:".length), node);
    else {
      const read = language === "query" ? queryReader(log.fields) : LANGUAGES[language];
      if (read === undefined) throw new Error(`the schema names the language ${language}, which has no check`);
      const parsed = memory.ofText(language === "query" ? `query ${log.key}` : language, node.value, read);
      if (!parsed.ok) {
        const isRule = value === undefined || value.type === "object";
        report.inside(node, isRule ? parsed.problems : parsed.problems.map(withoutSlash));
      } else if (parsed.value !== undefined) kept[language]?.set(node, parsed.value);
    }
  }
  return { routes, locations, durationsMs, globs, queries };
}

/** A key without a rule is hardly a pattern that lacks only its slash. */
function withoutSlash(problem: Problem): Problem {
  if (problem.code !== "route/missing-slash") return problem;
  const { fix: _, ...rest } = problem;
  return { ...rest, hint: 'a path pattern belongs here, such as "/*"' };
}

/** A few milliseconds of work. */
const STRINGS_PER_STEP = 500;

/** The place of a string in a language. */
export interface LanguagePlace {
  /** From the root; for a key with the key itself as the last name. The array changes during the walk: copy it. */
  readonly path: readonly (string | number)[];
  /** The schema of the string, or of the value of the key. */
  readonly schema: Schema;
  readonly isKey: boolean;
  /** The value of the member whose key it is; undefined for others, and if there is none. */
  readonly value?: Node | undefined;
}

/** Calls back for every string in an `x-language`, in the order of the text. */
export function eachLanguage(
  root: Node,
  schema: Schema,
  visit: (language: string, node: StringNode, place: LanguagePlace) => void,
): void {
  const path: (string | number)[] = [];
  walk(root, schema);

  function walk(node: Node, part: Schema) {
    const schema = resolve(part);
    const { properties, propertyNames, additionalProperties, items, "x-language": language } = schema;
    if (node.type === "string" && language !== undefined) visit(language, node, { path, schema, isKey: false });
    if (node.type === "array" && items !== undefined) {
      for (const [i, item] of node.items.entries()) {
        path.push(i);
        walk(item, items);
        path.pop();
      }
    }
    if (node.type !== "object") return;
    for (const { key, value } of node.members) {
      const property = properties && Object.hasOwn(properties, key.value) ? properties[key.value] : undefined;
      const inner = property ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
      path.push(key.value);
      const ofKey = propertyNames?.["x-language"];
      if (ofKey !== undefined) visit(ofKey, key, { path, schema: resolve(inner ?? {}), isKey: true, value });
      if (inner !== undefined && value !== undefined) walk(value, inner);
      path.pop();
    }
  }
}

/** Reads the value of a string, or its problems, with spans counted from the string's value. */
type Read = (value: string) => Parsed<unknown>;

const LANGUAGES: Readonly<Record<string, Read>> = {
  route: parseRoute,
  location: parseLocation,
  duration: parseDuration,
  glob: parseGlob,
  path: (value) => unless(checkPath(value)),
  command: (value) => unless(checkCommand(value)),
  "header-name": (value) => unless(checkHeaderName(value)),
  color: (value) => unless(checkColor(value)),
};

/** Reads queries for a log with such fields. The tree is of no use here, and takes more room than the text. */
const queryReader = (seen: SeenFields) => (value: string) => {
  const parsed = parsePipeline(value);
  if (!parsed.ok) return { ok: false, problems: withQueryFixes(value, parsed.problems) } as const;
  const meaning: QueryMeaning = { stages: stagesNamedIn(parsed.value), warnings: doubtsOf(parsed.value, seen) };
  return meaning.stages.length + meaning.warnings.length === 0 ? SOUND : ({ ok: true, value: meaning } as const);
};

const SOUND: Parsed<unknown> = { ok: true, value: undefined };

const unless = (problems: readonly Problem[]): Parsed<unknown> =>
  problems.length === 0 ? SOUND : { ok: false, problems };

interface Correction {
  readonly hint: string;
  /** The value that was certainly meant. */
  readonly fixed?: string | undefined;
  /** A value that may have been meant. */
  readonly likely?: string | undefined;
}

function problem(code: string, value: string, message: string, { hint, fixed, likely }: Correction): Problem {
  const span = { start: 0, end: value.length };
  const text = fixed ?? likely;
  return {
    code,
    severity: "error",
    message,
    hint,
    span,
    ...(text !== undefined && {
      fix: { title: `Change to ${text}`, edits: [{ span, text }], ...(fixed === undefined && { isSuggestion: true }) },
    }),
  };
}

/** A path of the project: relative, inside it, with `/`. */
function checkPath(value: string): Problem[] {
  if (value.includes("\0")) {
    const plain = value.replaceAll("\0", "");
    return [
      problem("config/path", value, `${quote(value)} is not a path`, {
        hint: "remove the NUL character",
        fixed: plain || undefined,
      }),
    ];
  }
  if (value.includes("\\")) {
    const fixed = value.replaceAll("\\", "/");
    const certain = !/^[A-Za-z]:|^\//.test(fixed) && !leaves(fixed);
    return [
      problem("config/path", value, `${quote(value)} contains a backslash`, {
        hint: "separate directories by /",
        fixed: certain ? fixed.replace(/^(\.\/+)+(?=.)/, "") : undefined,
        likely: certain ? undefined : insidePath(fixed),
      }),
    ];
  }
  if (/^[/~]|^[A-Za-z]:/.test(value)) {
    // A slash of the project's own top; a file of the machine has more above it.
    const inside = /^\/([^/~]+)\/?$/.exec(value)?.[1];
    return [
      problem("config/path", value, `${quote(value)} is not a path inside the project`, {
        hint:
          inside === undefined
            ? "write it relative to the project directory"
            : `write it relative to the project directory: ${inside}`,
        fixed: inside,
        likely: insidePath(value),
      }),
    ];
  }
  if (leaves(value)) {
    return [
      problem("config/path", value, `${quote(value)} is outside the project directory`, {
        hint: "files outside it are not deployed",
        likely: insidePath(value),
      }),
    ];
  }
  return [];
}

/** A path of the same end inside the project. */
function insidePath(path: string): string | undefined {
  const parts = path.replace(/^(?:[A-Za-z]:|~[^/]*)/, "").split("/");
  const inside = parts.filter((part) => part !== "" && part !== "." && part !== "..").join("/");
  return inside === "" ? undefined : inside;
}

function leaves(path: string): boolean {
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth--;
    else if (part !== "" && part !== ".") depth++;
    if (depth < 0) return true;
  }
  return false;
}

function checkCommand(value: string): Problem[] {
  if (value !== "" && value.trim() === "")
    return [problem("config/empty-value", value, "the command is blank", { hint: "write a shell command" })];
  const nul = value.indexOf("\0");
  if (nul < 0) return [];
  return [
    {
      ...problem("config/command", value, "a command cannot hold a NUL character", {
        hint: "remove it",
        fixed: value.replaceAll("\0", ""),
      }),
      span: { start: nul, end: nul + 1 },
    },
  ];
}

/** RFC 9110 section 5.1: a field name is a token. */
function checkHeaderName(value: string): Problem[] {
  if (value === "")
    return [
      problem("config/header-name", value, "the header name is empty", { hint: "write a name such as Cache-Control" }),
    ];
  const bad = /[^!#$%&'*+.^_`|~0-9A-Za-z-]/u.exec(value);
  if (bad === null) return [];
  const trimmed = value.trim().replace(/:$/, "");
  const certain = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(trimmed) ? trimmed : undefined;
  return [
    {
      ...problem("config/header-name", value, `${quote(bad[0])} is not allowed in a header name`, {
        hint: "a name is letters, digits and -",
        fixed: certain,
        likely: cleanName(value.replace(/:.*$/s, ""), { others: "-!#$%&'*+.^_`|~", digitFirst: true }),
      }),
      span: { start: bad.index, end: bad.index + bad[0].length },
    },
  ];
}

function checkColor(value: string): Problem[] {
  if (isColor(value)) return [];
  return [
    problem("config/color", value, `${quote(value)} is not a CSS colour`, {
      hint: "write a name or a form such as #228be6, rgb(34 139 230)",
      likely: nearColor(value),
    }),
  ];
}

/** `/actions/*\/name`: the string is one of those at these places. */
function checkReference(report: ProblemReport, root: ObjectNode, pointer: string, node: StringNode) {
  const names = targets(root, pointer.split("/").slice(1)).map(({ value }) => value);
  if (names.includes(node.value)) return;
  const [section] = pointer.split("/").slice(1);
  const near = didYouMean(node.value, names);
  const hint =
    near !== undefined
      ? `did you mean ${quote(near)}?`
      : names.length > 0
        ? `${section} has ${names.map((name) => quote(name)).join(", ")}`
        : `add it to "${section}"`;
  report.error("config/unknown-reference", node.span, `no entry of ${section} is called ${quote(node.value)}`, {
    hint,
    fixes: [
      near === undefined ? undefined : report.replace(node, near),
      ...(near === undefined ? names.slice(0, MAX_NAMES).map((name) => report.suggest(node, name)) : []),
      pointer === "/actions/*/name" && near === undefined ? newAction(report.source, root, node.value) : undefined,
    ],
  });
}

// A longer list of fixes is no help.
const MAX_NAMES = 5;

/** An action of the name that an alert refers to, after the others. */
function newAction(source: string, root: ObjectNode, name: string): Fix | undefined {
  if (name === "") return undefined;
  const action = `{ "name": ${JSON.stringify(name)}, "type": "email", "emails": ["ops@example.com"] }`;
  const list = memberOf(root, "actions")?.value;
  if (list !== undefined && list.type !== "array") return undefined;
  const edit =
    list === undefined ? insertMember(source, root, `"actions": [${action}]`) : insertItem(source, list, action);
  return { title: `Add the action ${quote(name)}`, edits: [edit], isSuggestion: true };
}

/** The strings at a pointer in which `*` stands for every item. */
export function targets(node: Node | undefined, path: readonly string[]): StringNode[] {
  if (node === undefined) return [];
  const [name, ...rest] = path;
  if (name === undefined) return node.type === "string" ? [node] : [];
  if (name === "*" && node.type === "array") return node.items.flatMap((item) => targets(item, rest));
  if (name === "*" && node.type === "object") return node.members.flatMap(({ value }) => targets(value, rest));
  return targets(memberOf(node, name)?.value, rest);
}
