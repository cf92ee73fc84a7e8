// Valid texts with one slip each, as people make them. A kind of slip says where it can be made and what it makes of the
// text there; which one, and where, is drawn by a seed. What is wrong about a mutant follows from the definition of
// tool.json and its languages, not from what our checks say.
import { applyEdits, type Span, type TextEdit } from "../../grammar/problem.ts";
import type { DocumentKind } from "../../language-server/service/document.ts";
import { type Member, memberOf, type Node, type ObjectNode, parseJson, removeMembers } from "../../schema/json.ts";
import { REGIONS } from "../../schema/regions.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "../../schema/shape.ts";
import type { Random } from "./random.ts";

export interface Base {
  readonly name: string;
  readonly kind: DocumentKind;
  readonly text: string;
}

export interface Mutant {
  readonly kind: string;
  readonly base: Base;
  readonly text: string;
  /**
   * The value, key or gap that the slip is in, in the mutant's text. A problem that touches one of these is at its place.
   */
  readonly faulty: readonly Span[];
}

/** Makes one slip of a kind, at a place that is drawn; undefined where the text has no such place. */
export function mutate(kind: string, base: Base, random: Random): Mutant | undefined {
  const slip = (SLIPS[kind] ?? TEXT_SLIPS[kind])!(sitesOf(base), random);
  if (slip === undefined) return undefined;
  const edits = slip.edits.filter(({ span, text }) => base.text.slice(span.start, span.end) !== text);
  if (edits.length === 0) return undefined;
  const moved = (offset: number, side: "start" | "end") =>
    edits.reduce((sum, { span, text }) => {
      const isBefore = span.end < offset || (span.end === offset && side === "end" && span.start < offset);
      const isInserted = span.start === offset && span.end === offset && side === "end";
      return isBefore || isInserted ? sum + text.length - (span.end - span.start) : sum;
    }, offset);
  const faulty = slip.faulty.map(({ start, end }) => {
    const from = moved(start, "start");
    return { start: from, end: Math.max(from, moved(end, "end")) };
  });
  return { kind, base, text: applyEdits(base.text, edits), faulty };
}

/** The kinds of slips of a kind of text. */
export function kindsFor(kind: DocumentKind): string[] {
  return kind === "config" ? Object.keys(SLIPS) : Object.keys(TEXT_SLIPS).filter((name) => name.startsWith(kind));
}

/** A value of the tree. */
interface Site {
  readonly node: Node;
  readonly schema: Schema;
  readonly path: readonly (string | number)[];
  /** The object that it is a member of. */
  readonly object?: ObjectNode;
  readonly member?: Member;
  /** The schema of that object. */
  readonly owner?: Schema;
}

interface Sites {
  readonly text: string;
  readonly root: Node | undefined;
  readonly all: readonly Site[];
}

interface Slip {
  readonly edits: readonly TextEdit[];
  /** In the text before the edits. */
  readonly faulty: readonly Span[];
}

type Make = (sites: Sites, random: Random) => Slip | undefined;

function sitesOf({ text, kind }: Base): Sites {
  const root = kind === "config" ? parseJson(text).root : undefined;
  const all: Site[] = [];
  if (root !== undefined) walk({ node: root, schema: rootSchema, path: [] });
  return { text, root, all };

  function walk(site: Site) {
    all.push(site);
    const { node, path, schema } = site;
    if (node.type === "array") {
      const items = resolve(schema.items ?? {});
      for (const [i, item] of node.items.entries()) walk({ node: item, schema: items, path: [...path, i] });
    }
    if (node.type !== "object") return;
    for (const member of node.members) {
      const name = member.key.value;
      const inner = { schema: memberSchema(schema, name), path: [...path, name] };
      if (member.value) walk({ ...inner, node: member.value, object: node, member, owner: schema });
    }
  }
}

/** Draws one of the sites that fit. */
function at(
  fits: (site: Site) => boolean,
  make: (site: Site, random: Random, sites: Sites) => Slip | string | undefined,
): Make {
  return (sites, random) => {
    const candidates = sites.all.filter(fits);
    if (candidates.length === 0) return undefined;
    const site = random.pick(candidates);
    const made = make(site, random, sites);
    return typeof made === "string" ? replaced(site.node.span, made) : made;
  };
}

const replaced = (span: Span, text: string): Slip => ({ edits: [{ span, text }], faulty: [span] });
const stringOf = ({ node }: Site) => (node.type === "string" ? node.value : "");
const isString = ({ node }: Site) => node.type === "string" && node.value !== "";
const language = (name: string) => (site: Site) => isString(site) && site.schema["x-language"] === name;
const isUnder =
  (...names: (string | number | undefined)[]) =>
  ({ path }: Site) =>
    path.length === names.length && names.every((name, i) => name === undefined || name === path[i]);
const isClosed = (site: Site) => site.owner?.additionalProperties === false && site.path[0] !== "$schema";

/** A name with one slip of the fingers: swapped, dropped, doubled or replaced. */
export function misspelt(word: string, random: Random): string {
  const i = random.below(word.length);
  switch (random.below(4)) {
    case 0:
      return i + 1 < word.length
        ? word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2)
        : word + random.pick([..."aest"]);
    case 1:
      return word.slice(0, i) + word.slice(i + 1);
    case 2:
      return word.slice(0, i) + word[i] + word.slice(i);
    default:
      return word.slice(0, i) + random.pick([..."qwertasdfgzxcvb"]) + word.slice(i + 1);
  }
}

/** A slip that is none of the words that are right. */
function slipOf(word: string, right: readonly string[], random: Random): string | undefined {
  for (let i = 0; i < 8; i++) {
    const slip = misspelt(word, random);
    if (!right.includes(slip) && slip !== "") return JSON.stringify(slip);
  }
  return undefined;
}

const atKey = ({ member }: Site, text: string | undefined): Slip | undefined =>
  text === undefined ? undefined : replaced(member!.key.span, text);
const inserted = (offset: number, text: string, faulty: readonly Span[]): Slip => ({
  edits: [{ span: { start: offset, end: offset }, text }],
  faulty,
});
const char = (offset: number): Span => ({ start: offset, end: offset + 1 });

/** The place between two neighbours of an object or array that has some. */
function gapOf({ node }: Site, random: Random): { before: Span; after: Span } | undefined {
  const parts =
    node.type === "array"
      ? node.items.map(({ span }) => span)
      : node.type === "object"
        ? node.members.map(({ key, value }) => ({ start: key.span.start, end: (value ?? key).span.end }))
        : [];
  if (parts.length < 2) return undefined;
  const i = random.below(parts.length - 1);
  return { before: parts[i]!, after: parts[i + 1]! };
}

const hasGap = ({ node }: Site) =>
  (node.type === "array" && node.items.length > 1) || (node.type === "object" && node.members.length > 1);
const isContainer = ({ node }: Site) =>
  (node.type === "array" && node.items.length > 0) || (node.type === "object" && node.members.length > 0);

const SLIPS: Readonly<Record<string, Make>> = {
  "misspelt key": at(isClosed, (site, random) =>
    atKey(site, slipOf(site.member!.key.value, Object.keys(site.owner!.properties!), random)),
  ),
  "misspelt word of a list": at(
    (site) => isString(site) && site.schema.enum !== undefined && stringOf(site).length > 1,
    (site, random) => slipOf(stringOf(site), site.schema.enum!, random),
  ),
  "misspelt region": at(isUnder("regions", undefined), (site, random) => slipOf(stringOf(site), REGIONS, random)),
  "misspelt action": at(isUnder("alerts", undefined, "action"), (site, random, { root }) =>
    slipOf(stringOf(site), actionNames(root), random),
  ),
  "misspelt metric": at(isUnder("alerts", undefined, "metric"), (site, random) => {
    const metrics = ["http.count", "http.latency", "http.4xx", "http.5xx"];
    // With another prefix it is a custom metric.
    const tail = slipOf(stringOf(site).slice(5), ["count", "latency", "4xx", "5xx"], random);
    return metrics.includes(stringOf(site)) && tail ? `"http.${JSON.parse(tail)}"` : undefined;
  }),
  "misspelt method": at(
    (site) => isUnder("cors", "allowed_methods", undefined)(site) && isString(site),
    (site, random) =>
      slipOf(
        stringOf(site),
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "*"],
        random,
      ),
  ),
  "unknown key": at(isClosed, (site, random) => atKey(site, random.pick(['"colour"', '"verbosity"', '"x"']))),
  "bad header name": at(
    (site) => isUnder("headers", undefined, undefined)(site) && site.member!.key.value.length > 2,
    (site, random) => {
      const name = site.member!.key.value;
      const i = 1 + random.below(name.length - 1);
      return atKey(
        site,
        JSON.stringify(random.pick([`${name}:`, `${name} `, `${name.slice(0, i)} ${name.slice(i)}`, `(${name})`])),
      );
    },
  ),
  "bad duration": at(language("duration"), (site, random) => {
    const [number, unit] = [stringOf(site).replace(/\D.*/, ""), stringOf(site).replace(/\d+/, "")];
    const spelled = { s: ["sec", "seconds"], m: ["min", "mins", "minutes"], h: ["hrs", "hr", "hours"] }[unit] ?? [];
    return JSON.stringify(number + random.pick([...spelled, "x", "", ` ${unit}`]));
  }),
  "wrong type": at(
    ({ schema, path, node }) => [schema.type].flat().length === 1 && path.length > 0 && node.type !== "null",
    wrongType,
  ),
  "unwrapped array": at(
    ({ node, schema }) => schema.type === "array" && node.type === "array" && node.items.length === 1,
    ({ node }, _, { text }) =>
      node.type === "array" ? text.slice(node.items[0]!.span.start, node.items[0]!.span.end) : undefined,
  ),
  "missing quote": at(isString, ({ node }, random) => {
    const quote = random.chance(0.5) ? node.span.start : node.span.end - 1;
    return { edits: [{ span: char(quote), text: "" }], faulty: [node.span] };
  }),
  "missing quote of a key": at(
    ({ member }) => member !== undefined,
    ({ member }, random) => {
      const { span } = member!.key;
      const quote = random.chance(0.5) ? span.start : span.end - 1;
      return { edits: [{ span: char(quote), text: "" }], faulty: [span] };
    },
  ),
  "key without quotes": at(
    (site) => isClosed(site) && /^\w+$/.test(site.member!.key.value),
    (site) => atKey(site, site.member!.key.value),
  ),
  "single quotes": at(isString, (site) => (/['"\\]/.test(stringOf(site)) ? undefined : `'${stringOf(site)}'`)),
  "missing comma": at(hasGap, (site, random, { text }) => {
    const { before, after } = gapOf(site, random)!;
    const comma = text.indexOf(",", before.end);
    const gap = { start: before.end, end: after.start };
    // Two neighbours without anything between would be another slip.
    const blank = text.slice(before.end, after.start).replace(",", "") === "" ? " " : "";
    return { edits: [{ span: char(comma), text: blank }], faulty: [gap] };
  }),
  "surplus comma": at(isContainer, ({ node }, random) => {
    const end = lastEnd(node);
    const start = node.span.start + 1;
    const offset = random.chance(0.8) ? end : start;
    return inserted(offset, ",", [{ start: offset, end: offset }]);
  }),
  "missing colon": at(
    ({ member }) => member !== undefined,
    ({ member, node }, _, { text }) => {
      const colon = text.indexOf(":", member!.key.span.end);
      return {
        edits: [{ span: char(colon), text: " " }],
        faulty: [{ start: member!.key.span.start, end: node.span.start }],
      };
    },
  ),
  "missing closing bracket": at(isContainer, ({ node }) => {
    const close = node.span.end - 1;
    return {
      edits: [{ span: char(close), text: "" }],
      faulty: [char(node.span.start), { start: lastEnd(node), end: close + 1 }],
    };
  }),
  "missing opening bracket": at(isContainer, ({ node, member }) => {
    const first = node.type === "array" ? node.items[0]!.span : (node as ObjectNode).members[0]!.key.span;
    const start = member?.key.span.start ?? node.span.start;
    return { edits: [{ span: char(node.span.start), text: "" }], faulty: [{ start, end: first.end }] };
  }),
  "wrong bracket": at(isContainer, ({ node }) => {
    const close = node.span.end - 1;
    const text = node.type === "array" ? "}" : "]";
    return { edits: [{ span: char(close), text }], faulty: [char(close)] };
  }),
  "value left out": at(
    ({ member, node }) => member !== undefined && node.type !== "object",
    ({ member, node }) => ({
      edits: [{ span: node.span, text: "" }],
      faulty: [{ start: member!.key.span.start, end: node.span.end }],
    }),
  ),
  "stray word": at(
    ({ node }) => node.type !== "object" && node.type !== "array",
    ({ node }, random) => {
      const { end } = node.span;
      return inserted(end, random.pick([" x", " null", ";", " = 1"]), [{ start: node.span.start, end }]);
    },
  ),
  "another spelling of a literal": at(
    ({ node }) => node.type === "boolean",
    ({ node }, random) => {
      const isTrue = node.type === "boolean" && node.value;
      return random.pick(isTrue ? ["True", "yes", "TRUE", "on"] : ["False", "no", "FALSE", "off"]);
    },
  ),
  "a number that is none in JSON": at(
    ({ node }) => node.type === "number",
    ({ node }, random, { text }) => {
      const number = text.slice(node.span.start, node.span.end);
      const parted = number.replace(/\d(?=\d{3}$)/, "$&_");
      return random.pick([`+${number}`, `0${number}`, `${number}.`, parted === number ? `${number}s` : parted]);
    },
  ),
  comment: at(
    ({ member }) => member !== undefined,
    ({ member }, random) => {
      const comment = random.pick(["/* x */ ", "// x\n"]);
      return inserted(member!.key.span.start, comment, [
        { start: member!.key.span.start, end: member!.key.span.start },
      ]);
    },
  ),
  "bad escape": at(isString, ({ node }, random, { text }) => {
    const doubled = text.slice(node.span.start, node.span.end).indexOf("\\\\");
    if (doubled >= 0) return { edits: [{ span: char(node.span.start + doubled), text: "" }], faulty: [node.span] };
    const offset = node.span.start + 1;
    return inserted(offset, random.pick(["\\q", "\\u12", "\t", "\\x41"]), [node.span]);
  }),
  "duplicate key": at(
    (site) => isClosed(site),
    ({ member, node }, _, { text }) => {
      const { start } = member!.key.span;
      const copy = text.slice(start, node.span.end);
      return inserted(start, `${copy}, `, [{ start, end: node.span.end }]);
    },
  ),
  "out of bounds": at(
    ({ node, schema }) => node.type === "number" && (schema.minimum !== undefined || schema.maximum !== undefined),
    ({ schema: { minimum, maximum, type } }, random) => {
      const values = [
        ...(minimum === undefined ? [] : [minimum - 1, -5000]),
        ...(maximum === undefined ? [] : [maximum + 1, maximum * 100]),
        ...(type === "integer" ? [(minimum ?? 0) + 0.5] : []),
      ];
      return String(random.pick(values));
    },
  ),
  "missing key": at(
    ({ node, schema }) =>
      node.type === "object" && (schema.required ?? []).some((name) => memberOf(node, name) !== undefined),
    ({ node, schema, member }, random) => {
      if (node.type !== "object") return undefined;
      const gone = memberOf(node, random.pick(schema.required!));
      if (gone === undefined) return undefined;
      const start = member?.key.span.start ?? node.span.start;
      return { edits: removeMembers(node, new Set([gone])), faulty: [{ start, end: node.span.end }] };
    },
  ),
  "dangling reference": at(isUnder("alerts", undefined, "action"), (_, random) =>
    random.pick(['"nobody"', '"the whole team"', '""']),
  ),
  "bad path": at(language("path"), (site, random) => {
    const path = stringOf(site);
    return JSON.stringify(random.pick([`../${path}`, `/${path}`, `C:\\${path}`, path.replaceAll("/", "\\")]));
  }),
  "bad glob": at(isUnder("regions", undefined), (_, random) =>
    random.pick(['"us-[west-2"', '"{us-west-2"', '"mars-*"', '"us-[z-a]*-1"']),
  ),
  "bad route": at(
    ({ path, member }) =>
      member !== undefined && path.length === 2 && (path[0] === "redirects" || path[0] === "headers"),
    (site, random) => {
      const route = site.member!.key.value;
      const rows = [
        route.replace(/^\/(?!\*)/, ""),
        `https://example.com${route}`,
        route.replace("*", "**"),
        route.replace("/*", "/(.*)"),
        route.replace(/:(\w+)/, "{$1}"),
        route.replace(/:(\w+)/, "<$1>"),
        route.replace(/:(\w+)/, "[$1]"),
        route.replace(/:(\w+)/, ":"),
        route.replace(/:(\w+)/, ":$1?"),
        route.includes(":") ? `${route}/${/:\w+/.exec(route)![0]}` : route,
        `${route}?page=1`,
        `${route}#top`,
        `${route}/a b`,
      ].filter((row) => row !== route);
      return atKey(site, JSON.stringify(random.pick(rows)));
    },
  ),
  "unknown param": at(
    (site) => language("location")(site) && /:[a-z]+$/i.test(stringOf(site)),
    (site, random) => {
      const location = stringOf(site);
      const name = /:([a-z]+)$/i.exec(location)![1]!;
      const params = String(site.path[1]).match(/(?<=:)\w+/g) ?? [];
      const slip = slipOf(name, [...params, "splat"], random);
      return slip && /^"[a-z_]+"$/i.test(slip)
        ? JSON.stringify(location.slice(0, -name.length) + (JSON.parse(slip) as string))
        : undefined;
    },
  ),
  "bad location": at(language("location"), (site, random) => {
    const path = stringOf(site).replace(/^https?:\/\/[^/]*\//, "/");
    const rows = [
      path.slice(1) || "home",
      stringOf(site).replace(/^https:/, "ftp:"),
      stringOf(site).replace(/^https:/, ""),
      stringOf(site).replace(/^https:\/\//, "https:/"),
      path.replace(":splat", "*"),
      path.replace(/:(\w+)/, "{$1}"),
      path.replace(/:(\w+)/, "$$1"),
      path.replace(":splat", "%zz"),
      `${path} x`,
    ].filter((row) => row !== stringOf(site) && row !== path);
    return JSON.stringify(random.pick(rows));
  }),
  "bad status": at(isUnder("redirects", undefined, "status"), (_, random) =>
    random.pick(["300", "3011", "30", "404", "99"]),
  ),
  "broken query": at(language("query"), (site, random) => {
    const broken = brokenQuery(stringOf(site), random);
    return broken && JSON.stringify(broken);
  }),
  "bad colour": at(isUnder("error_pages", "variables", "color"), (_, random, { root }) =>
    // With templates of their own the variable may be anything.
    memberOf(memberOf(root, "error_pages")?.value, "dir") !== undefined
      ? undefined
      : random.pick(['"#22"', '"bleu"', '"rgb(1, 2"', '"228be6"']),
  ),
  "bad domain": at(
    (site) => isUnder("stages", undefined, "domain")(site) || isUnder("dns", undefined, undefined, "name")(site),
    (site, random) => {
      const name = stringOf(site);
      return JSON.stringify(
        random.pick([`https://${name}`, name.replace(".", ".."), name.replace(".", " ."), `-${name}`, `${name}/`]),
      );
    },
  ),
  "bad record value": at(isUnder("dns", undefined, undefined, "value", undefined), (site, random) => {
    const value = stringOf(site);
    return JSON.stringify(
      random.pick([`${value} x`, `${value}..`, value.replace(/^\S+/, "300.1.2"), `https://${value}`]),
    );
  }),
  "bad address of an action": at(
    (site) =>
      site.path[0] === "actions" && ["emails", "numbers", "url"].includes(String(site.path[2])) && isString(site),
    (site, random) => {
      const value = stringOf(site);
      const rows = [value.replace(/@.*|\+|^https:/, ""), ` ${value} x`, value.replace(/[@:0]/, "!")];
      return JSON.stringify(random.pick(rows));
    },
  ),
  "text behind the end": ({ text, root }, random) =>
    root &&
    inserted(root.span.end, random.pick(["}", " x", ",", "\n{}"]), [{ start: root.span.end, end: text.length }]),
};

function lastEnd(node: Node): number {
  if (node.type === "array") return node.items.at(-1)!.span.end;
  const last = (node as ObjectNode).members.at(-1)!;
  return (last.value ?? last.key).span.end;
}

function actionNames(root: Node | undefined): string[] {
  const actions = memberOf(root, "actions")?.value;
  if (actions?.type !== "array") return [];
  return actions.items.flatMap((item) => {
    const name = memberOf(item, "name")?.value;
    return name?.type === "string" ? name.value : [];
  });
}

function wrongType({ node, schema }: Site, random: Random, { text }: Sites): string {
  const written = text.slice(node.span.start, node.span.end);
  switch (node.type) {
    case "number":
      return random.pick([
        `"${written}"`,
        `"${written}"`,
        `[${written}]`,
        "true",
        `"${written}${schema["x-unit"] ?? "x"}"`,
      ]);
    case "boolean":
      return random.pick([`"${written}"`, `"${written}"`, written === "true" ? "1" : "0", "null"]);
    case "string":
      return random.pick([`[${written}]`, "12", "true", "null", `{ "value": ${written} }`]);
    case "array":
      return random.pick(["{}", "null", "1", '""']);
    default:
      return random.pick(["[]", "null", `[${written}]`, "true"]);
  }
}

/** One slip in a query that leaves a text that is no query. */
function brokenQuery(query: string, random: Random): string | undefined {
  const operator = /(>=|<=|!=|=|>|<)/;
  const rows: (() => string | undefined)[] = [
    // No value, no operator, no field.
    () => query.replace(/(>=|<=|!=|=|>|<)\s*\S+$/, "$1"),
    () => (operator.test(query) ? query.replace(operator, "") : undefined),
    () => (/^\w+ /.test(query) ? query.replace(/^\w+ (?=[<>=!])/, "") : undefined),
    // Operators of other languages, and doubled ones.
    () => query.replace(/>=/, "=>"),
    () => query.replace(/ > /, " >> "),
    () => query.replace(/ = /, " === "),
    () => query.replace(operator, "$1 $1"),
    () => query.replace(/ or /, " or or "),
    () => query.replace(/ and /, " an "),
    () => `${query} and`,
    () => `or ${query}`,
    // Parentheses, quotes, lists and expressions.
    () => `(${query}`,
    () => `${query})`,
    () => query.replace(/, /, " "),
    () => (query.includes('"') ? query.replace(/"(?=[^"]*$)/, "") : undefined),
    () => `${query} and message ~ /(/`,
    () => `${query} and message ~ /a`,
    () => `${query} and method in ()`,
    () => query.replace(/1s|1mb/, "1 lightyear"),
    () => query.replace(/ in /, " inn "),
  ];
  const broken = random.pick(rows)();
  return broken === query ? undefined : broken;
}

/** Slips in the texts of other files; the faulty place of a query file is all of its one line. */
const TEXT_SLIPS: Readonly<Record<string, Make>> = {
  query: ({ text }, random) => {
    const query = text.trim();
    const broken = brokenQuery(query, random);
    return broken === undefined ? undefined : replaced({ start: 0, end: query.length }, broken);
  },
  "template: brace": inAction((action) => action.replace(/\}\}$/, "}")),
  "template: field": inAction((action, random) =>
    action.replace(
      /\.(StatusCode|StatusText)/,
      (_, name) => `.${JSON.parse(slipOf(name, ["StatusCode", "StatusText"], random)!)}`,
    ),
  ),
  "template: keyword": inAction((action, random) =>
    action.replace(
      /\b(if|with|else|end)\b/,
      (word) => JSON.parse(slipOf(word, KEYWORDS, random) ?? '"ennd"') as string,
    ),
  ),
  "template: left out": inAction((action) => (/\b(?:if|with|end)\b/.test(action) ? "" : action)),
  "template: condition": inAction((action) => action.replace(/\b(if|with)\b[^}]*/, "$1")),
  "template: quote": inAction((action) => action.replace(/404/, '"404')),
};

const KEYWORDS = ["if", "with", "else", "end", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"];

/** A slip in one of the braces. What is left open is said where it begins, or where the text ends. */
function inAction(slip: (action: string, random: Random) => string): Make {
  return ({ text }, random) => {
    const actions = [...text.matchAll(/\{\{.*?\}\}/g)];
    if (actions.length === 0) return undefined;
    const action = random.pick(actions);
    const span = { start: action.index, end: action.index + action[0].length };
    const made = replaced(span, slip(action[0], random));
    if (made.edits[0]!.text !== "") return made;
    // Without its end the block that was opened last is wrong, without its beginning the next end.
    const others = actions.filter(({ 0: other }) => /\b(?:if|with|else|end)\b/.test(other));
    return { ...made, faulty: others.map(({ 0: { length }, index }) => ({ start: index, end: index + length })) };
  };
}
