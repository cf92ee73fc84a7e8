import type { Hover } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { filterPatterns, textPattern } from "../../grammar/query/cloudwatch/filter-patterns.ts";
import {
  explain,
  explainAt,
  explainPipeAt,
  explainPipes,
  parsePipeline,
  printPipeline,
  type Query,
} from "../../grammar/query/index.ts";
import { parseLocation, parseRoute, routeCaptures, substitute } from "../../grammar/route/index.ts";
import { DURATION_UNITS, humanDuration, parseDuration } from "../../grammar/units/duration.ts";
import { explainPattern, lineAt, readPattern } from "../../schema/ignore/index.ts";
import { DEFAULT_STAGES, isGlob, parseGlob, REGIONS } from "../../schema/index.ts";
import { memberOf } from "../../schema/json.ts";
import type { Schema } from "../../schema/shape.ts";
import type { ClientOptions } from "./client-options.ts";
import { stripMarkdown } from "./completion/candidate.ts";
import { scripts } from "./completion/commands.ts";
import { memberText } from "./completion/good-values.ts";
import { detailOf } from "./completion/keys.ts";
import { headerDocs, REGION_PLACES, STATUS_WORDS } from "./completion/names.ts";
import type { EmbeddedString, ToolDocument, TreePlace } from "./document.ts";
import { filesBeside, type Project, pathFrom } from "./project.ts";
import { rivals, sampleOf } from "./routes.ts";
import { actionBefore, TEMPLATE_FIELDS, TEMPLATE_FUNCTIONS, TEMPLATE_KEYWORDS } from "./template-words.ts";
import { headerValueWords, policyActionWords } from "./value-words.ts";

/**
 * The hover text for the place under the cursor: the documentation of a key, the meaning of a value. Markdown or plain.
 * The texts: for keys `markdownDescription` in schema/tool.schema.json, for a query's fields grammar/query/known-fields.ts,
 * for its other parts grammar/query/explain.ts.
 */
export function hover(
  document: ToolDocument,
  offset: number,
  project: Project,
  client: ClientOptions,
): Hover | undefined {
  const content = contentAt(document, offset, project);
  if (content === undefined) return undefined;
  const value = content.paragraphs.join("\n\n");
  return {
    contents: client.markdown ? { kind: "markdown", value } : { kind: "plaintext", value: stripMarkdown(value) },
    range: document.rangeOf(content.span),
  };
}

interface HoverContent {
  readonly span: Span;
  readonly paragraphs: readonly string[];
}

function contentAt(document: ToolDocument, offset: number, project: Project): HoverContent | undefined {
  switch (document.kind) {
    case "config":
      return hoverConfig(document, offset, project);
    case "query": {
      const words = queryWords(document.query, offset);
      return words && { span: words.span, paragraphs: words.paragraphs };
    }
    case "template":
      return hoverTemplate(document.text, offset, project);
    case "ignore": {
      const pattern = readPattern(lineAt(document.text, offset));
      return pattern && { span: pattern, paragraphs: [explainPattern(pattern)] };
    }
  }
}

/** A query: the part at the offset, then all of it in words, as canonical text and as a CloudWatch pattern. */
function queryWords(source: string, offset: number): HoverContent | undefined {
  const parsed = parsePipeline(source);
  if (!parsed.ok) return undefined;
  const { query, pipes: stages } = parsed.value;
  const part = explainAt(query, offset) ?? explainPipeAt(parsed.value, offset);
  const whole = `Entries where ${explain(query)}.`;
  const canonical = printPipeline(parsed.value);
  const all = query.expr === undefined ? "Every entry." : whole;
  return {
    span: part?.span ?? { start: 0, end: source.length },
    paragraphs: [
      ...(part === undefined ? [] : [part.text]),
      [all, ...explainPipes(stages)].join(" "),
      ...(canonical === source.trim() ? [] : [`\`\`\`toolquery\n${canonical}\n\`\`\``]),
      ...patternWords(query),
    ],
  };
}

// A list of a hundred values makes several patterns of a thousand characters.
const MAX_PATTERNS = 2;

/** The filter patterns that `tool logs` sends to CloudWatch for a query, and what they leave to be done. */
function patternWords(query: Query): string[] {
  if (query.expr === undefined) return [];
  const { patterns, expressions, isExact } = filterPatterns(query);
  if (patterns.length + expressions.length === 0) {
    return ["CloudWatch has no filter pattern for it: `tool logs` reads every entry."];
  }
  // The expressions that find lists are for `tool logs`; a filter written by hand is meant for plain values.
  const filters = patterns.length > 0 ? patterns : [textPattern(expressions)];
  const more = filters.length > MAX_PATTERNS ? `\n\nand ${filters.length - MAX_PATTERNS} more like these` : "";
  const rest = isExact ? "" : " It finds more; `tool logs` filters the rest.";
  return [
    `As a filter pattern of CloudWatch:${rest}`,
    `\`\`\`text\n${filters.slice(0, MAX_PATTERNS).join("\n")}\n\`\`\`${more}`,
  ];
}

function hoverTemplate(text: string, offset: number, project: Project): HoverContent | undefined {
  const start = offset - /[\w.]*$/.exec(text.slice(0, offset))![0].length;
  const end = offset + /^\w*/.exec(text.slice(offset))![0].length;
  if (actionBefore(text, end) === undefined) return undefined;
  const word = text.slice(start, end).replace(/^\./, "");
  const variable = /(?:^|\.)Variables\.(\w+)$/.exec(word)?.[1];
  if (variable !== undefined) return hoverVariable(variable, { start: end - variable.length, end }, project);
  const definition = TEMPLATE_FUNCTIONS.find(({ name }) => name === word);
  const words = definition?.documentation ?? lookUp(TEMPLATE_FIELDS, word) ?? lookUp(TEMPLATE_KEYWORDS, word);
  if (words === undefined) return undefined;
  const call = definition === undefined ? [] : [`\`${definition.name} ${definition.parameters.join(" ")}\``];
  return { span: { start, end }, paragraphs: [...call, words] };
}

/** A variable of an error page: what tool.json says that it is. */
function hoverVariable(name: string, span: Span, project: Project): HoverContent | undefined {
  const document = project.config?.();
  if (document === undefined) return undefined;
  const variables = memberOf(document.section("error_pages")?.value, "variables")?.value;
  const value = memberOf(variables, name)?.value;
  if (value === undefined)
    return { span, paragraphs: [`\`${name}\` is not in \`error_pages.variables\` of tool.json.`] };
  const written = document.text.slice(value.span.start, value.span.end);
  // A long value is not repeated: it is there in the text.
  const excerpt = written.length > MAX_EXCERPT_LENGTH ? `${written.slice(0, MAX_EXCERPT_LENGTH)}...` : written;
  return {
    span,
    paragraphs: [`\`\`\`json\n"${name}": ${excerpt}\n\`\`\``, "A variable of `error_pages.variables` in tool.json."],
  };
}

const MAX_EXCERPT_LENGTH = 300;

const lookUp = (table: Readonly<Record<string, string>>, name: string) =>
  Object.hasOwn(table, name) ? table[name] : undefined;

function hoverConfig(document: ToolDocument, offset: number, project: Project): HoverContent | undefined {
  const place = document.pathAt(offset);
  // Between the members of an object there is nothing to explain.
  if (place === undefined || place.node.type === "object" || place.node.type === "array") return undefined;
  const embedded = document.embeddedAt(offset);
  if (embedded?.language === "query") {
    const words = queryWords(embedded.value, embedded.toValue(offset));
    if (words !== undefined) return { span: embedded.toText(words.span), paragraphs: words.paragraphs };
  }
  const meaning = embedded === undefined ? plainValueOf(place) : languageOf(document, embedded, project);
  const docs = place.isKey ? keyOf(document, place) : docsOf(place.schema);
  // The meaning of this text comes first, then what the setting is for.
  const paragraphs = [...meaning, ...docs];
  return paragraphs.length === 0 ? undefined : { span: place.node.span, paragraphs };
}

function docsOf(schema: Schema): string[] {
  const text = schema.markdownDescription ?? schema.description;
  return text === undefined ? [] : [text];
}

/** A key: what it is for and which values it takes. */
function keyOf(document: ToolDocument, { schema, path }: TreePlace): string[] {
  const parts = docsOf(schema);
  if (path[0] === "stages" && path.length === 2) parts.unshift(stageOf(document, String(path[1])));
  if (schema.type === undefined) return parts;
  const bounds =
    schema.minimum !== undefined && schema.maximum !== undefined
      ? `, ${schema.minimum} to ${schema.maximum}`
      : schema.minimum !== undefined
        ? `, at least ${schema.minimum}`
        : "";
  const values = schema.enum === undefined ? "" : `: ${schema.enum.map((value) => `\`${value}\``).join(", ")}`;
  return [...parts, `*${detailOf(schema, false)}${bounds}*${values}`];
}

function stageOf(document: ToolDocument, name: string): string {
  const stage = document.stages().find(({ key }) => key.value === name)?.value;
  const overrides = ["hooks", "function", "proxy"].filter((part) => memberOf(stage, part) !== undefined);
  const domain = memberOf(stage, "domain")?.value;
  const where =
    name === "development"
      ? "The stage on this machine, run by `tool start`."
      : (DEFAULT_STAGES as readonly string[]).includes(name)
        ? `A default stage, deployed by \`tool deploy ${name}\`.`
        : `A custom stage, deployed by \`tool deploy ${name}\` once \`tool stack apply\` has made it.`;
  const at = domain?.type === "string" ? ` At \`${domain.value}\`.` : "";
  return where + at + (overrides.length > 0 ? ` Overrides ${overrides.join(", ")}.` : "");
}

/** A plain value: numbers with their unit in words. */
function plainValueOf({ node, schema, path }: TreePlace): string[] {
  if (node.type === "number") {
    if (path[0] === "redirects" && path.at(-1) === "status") {
      const words = STATUS_WORDS[node.value];
      return words === undefined ? [] : [`**${node.value}** ${words}`];
    }
    const unit = schema["x-unit"];
    if (unit === undefined) return [];
    const isTime = Object.hasOwn(DURATION_UNITS, unit) && node.value >= 0 && Number.isFinite(node.value);
    const ms = isTime ? node.value * DURATION_UNITS[unit as keyof typeof DURATION_UNITS] : undefined;
    const written = `${node.value} ${unit}`;
    const words = ms === undefined || humanDuration(ms) === `${node.value}${unit}` ? "" : ` (${humanDuration(ms)})`;
    return [`**${written}**${words}`];
  }
  if (node.type === "boolean" && schema.default === node.value) return [`\`${node.value}\` is the default.`];
  if (node.type !== "string") return [];
  if (path[0] === "headers" && path.length === 3) return headerValueWords(String(path[2]), node.value);
  if (path.includes("policy") && path.some((key) => key === "Action" || key === "NotAction")) {
    return policyActionWords(node.value);
  }
  return schema.default === node.value ? [`\`${node.value}\` is the default.`] : [];
}

/** A string in a language of its own: what it says. Nothing if it is invalid: diagnostics say so. */
function languageOf(document: ToolDocument, string: EmbeddedString, project: Project): string[] {
  const { value, language } = string;
  switch (language) {
    case "route":
      return routeWords(document, string);
    case "location":
      return locationWords(string);
    case "duration": {
      const parsed = parseDuration(value);
      return parsed.ok ? [`**${value}** is ${durationWords(parsed.value)}.`] : [];
    }
    case "glob":
      return regionWords(value);
    case "command": {
      const script = /^(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)/.exec(value)?.[1];
      const match = scripts(project).find(({ name }) => name === script);
      const file = /^(?:(?:sh|bash|node|python3?) )?(?:\.\/)?([\w./-]+\.\w+)/.exec(value)?.[1];
      if (match === undefined && file !== undefined && !file.includes("..") && project.directory?.kind(file) === "file")
        return [`Runs the file \`${file}\` of the project.`];
      return match === undefined ? [] : [`Runs \`${match.command}\`, the script \`${match.name}\` of package.json.`];
    }
    case "path": {
      const kind = value.includes("..") || value.startsWith("/") ? undefined : project.directory?.kind(value);
      return kind === undefined ? [] : [`A ${kind} of the project.`];
    }
    case "header-name": {
      const words = headerDocs(value);
      return words === undefined ? [] : [words];
    }
    default:
      if (language === "ref:/logs/notifications") return notificationWords(document, value, project);
      return language.startsWith("ref:/actions") ? actionWords(document, value) : [];
  }
}

/** `90061000` is `1 day 1 hour 1 minute 1 second`. */
function durationWords(ms: number): string {
  if (ms === 0) return "no time";
  let rest = ms;
  const words: string[] = [];
  for (const [unit, name] of UNIT_WORDS) {
    const count = Math.floor(rest / DURATION_UNITS[unit]);
    rest -= count * DURATION_UNITS[unit];
    if (count > 0) words.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return words.join(" ");
}

const UNIT_WORDS = [
  ["d", "day"],
  ["h", "hour"],
  ["m", "minute"],
  ["s", "second"],
  ["ms", "millisecond"],
] as const;

function regionWords(value: string): string[] {
  if (!isGlob(value)) return REGION_PLACES[value] === undefined ? [] : [`**${value}**: ${REGION_PLACES[value]}`];
  const glob = parseGlob(value);
  if (!glob.ok) return [];
  const matched = REGIONS.filter(glob.value);
  return [
    matched.length === 0 ? "Matches no region." : `Matches ${matched.map((region) => `\`${region}\``).join(", ")}.`,
  ];
}

/** A notification, of this file or of another one of the project. */
function notificationWords(document: ToolDocument, name: string, project: Project): string[] {
  const inFile = (file: ToolDocument) => file.notifications().find(({ key }) => key.value === name)?.value;
  const other = inFile(document) ? undefined : filesBeside(document, project).find((file) => inFile(file));
  const notification = inFile(other ?? document);
  if (notification === undefined) return [];
  const targets = ["email_addresses", "sms_numbers"].flatMap((key) => {
    const list = memberOf(notification, key)?.value;
    return list?.type === "array" ? list.items.flatMap((item) => (item.type === "string" ? item.value : [])) : [];
  });
  const whom = targets.join(", ") || (memberText(notification, "slack_channel") ?? "its target");
  const where = other === undefined ? "" : ` It is in \`${pathFrom(project, other)}\`.`;
  return [`Notifies ${whom} by ${memberText(notification, "type") ?? "no type yet"}.${where}`];
}

function actionWords(document: ToolDocument, name: string): string[] {
  const action = document.actions().find((action) => memberText(action, "name") === name);
  if (action === undefined) return [];
  const targets = ["emails", "numbers"].flatMap((key) => {
    const list = memberOf(action, key)?.value;
    return list?.type === "array" ? list.items.flatMap((item) => (item.type === "string" ? item.value : [])) : [];
  });
  // The address of a webhook is as good as a password: it is not shown once more.
  const whom =
    memberText(action, "type") === "chat" ? (memberText(action, "channel") ?? "its channel") : targets.join(", ");
  return [`Notifies ${whom || "nobody yet"} by ${memberText(action, "type") ?? "no type yet"}.`];
}

// More names say less.
const MAX_RIVALS = 5;

/** A pattern: a path that it matches, what it captures, and which rule wins if others match too. */
function routeWords(document: ToolDocument, { value, path }: EmbeddedString): string[] {
  const parsed = parseRoute(value);
  if (!parsed.ok) return [];
  const captures = routeCaptures(parsed.value);
  const sample = sampleOf(parsed.value);
  const what =
    captures.length === 0 && sample === value
      ? `Matches exactly \`${value}\``
      : `Matches ${sample === undefined ? "paths" : `paths such as \`${sample}\``}`;
  const names = captures.map((name) => `\`:${name}\``).join(" and ");
  const lines = [`${what}${captures.length > 0 && path[0] === "redirects" ? `, and captures ${names}` : ""}.`];
  const { beats, yields } = rivals(document, String(path[0]), parsed.value);
  const some = (routes: readonly string[]) => {
    const labels = routes.slice(0, MAX_RIVALS).map((route) => `\`${route}\``);
    return labels.join(", ") + (routes.length > MAX_RIVALS ? ` and ${routes.length - MAX_RIVALS} more` : "");
  };
  if (beats.length > 0) lines.push(`Wins over ${some(beats)}.`);
  if (yields.length > 0) lines.push(`Yields to ${some(yields)}.`);
  return [lines.join(" ")];
}

/** A location: where an example path that the rule's pattern matches is sent. */
function locationWords({ value, path }: EmbeddedString): string[] {
  const location = parseLocation(value);
  const route = parseRoute(String(path.at(-2)));
  if (!location.ok || !route.ok) return [];
  const captures = Object.fromEntries(
    routeCaptures(route.value).map((name) => [name, name === "splat" ? "a/b" : name]),
  );
  const sample = sampleOf(route.value);
  if (sample === undefined) return [];
  return [`\`${sample}\` goes to \`${substitute(location.value, captures)}\`.`];
}
