import type { Location } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { columnNamedAt, type NamedStage, parsePipeline, stagesNamedIn } from "../../grammar/query/index.ts";
import { locationCaptures, parseLocation, parseRoute } from "../../grammar/route/index.ts";
import { DEFAULT_STAGES } from "../../schema/index.ts";
import { memberOf, type StringNode, spanInside } from "../../schema/json.ts";
import { targets } from "../../schema/languages.ts";
import type { SectionEntry, ToolDocument } from "./document.ts";
import { filesBeside, type Project } from "./project.ts";

/** Something in a tool.json that has a name, and every place where that name is written. */
export interface NameOccurrences {
  readonly kind: "action" | "notification" | "stage" | "query" | "column" | "param" | "splat";
  readonly name: string;
  /** In the order of the text; the one under the cursor is among them. */
  readonly places: readonly Occurrence[];
  /** The other files of the project that name it. */
  readonly elsewhere?: readonly FileOccurrences[];
  /** Why it cannot be renamed; undefined if it can. */
  readonly fixed?: string;
}

export interface FileOccurrences {
  readonly document: ToolDocument;
  readonly places: readonly Occurrence[];
}

export interface Occurrence {
  /** The name alone in the text: without quotes and without the colon of a param. */
  readonly span: Span;
  /** Whether it is named here; the others refer to it. */
  readonly isDefinition: boolean;
  /** Whether it is a word of a query, which not every name can be. */
  readonly isWord?: boolean;
}

/**
 * The named thing at an offset: an action, a notification, a stage (in queries too), a saved query, a column of a query's
 * rows, a param of a redirect's pattern, or the splat. Notifications and stages are those of the whole project: of tool.json
 * and of the files that it includes.
 */
export function occurrencesAt(
  document: ToolDocument,
  offset: number,
  project: Project = {},
): NameOccurrences | undefined {
  if (document.kind === "query") return column(document.query, offset, (span) => span);
  const at = document.pathAt(offset);
  if (at === undefined) return undefined;
  const [section, , field] = at.path;
  if (at.isKey) {
    const key = at.member?.key;
    if (key === undefined || !touches(key.content, offset)) return undefined;
    if (section === "stages" && at.path.length === 2) return stage(document, key.value, project);
    if (section === "logs" && at.path[1] === "queries" && at.path.length === 3) return alone("query", key);
    if (section === "logs" && at.path[1] === "notifications" && at.path.length === 3)
      return notification(document, key.value, project);
    if (section === "redirects" && at.path.length === 2) return capture(document, at.member!, offset);
    return undefined;
  }
  if (at.node.type !== "string" || !touches(at.node.content, offset)) return undefined;
  const isOfAlert = section === "logs" && at.path[1] === "alerts" && at.path.length === 4;
  if (isOfAlert && at.path[3] === "notify") return notification(document, at.node.value, project);
  if (isOfAlert ? at.path[3] !== "query" : at.path.length !== 3) return undefined;
  if (isOfAlert || (section === "logs" && at.path[1] === "queries")) {
    const { node } = at;
    const stageName = stagesIn(document, node).find(({ span }) => touches(span, offset));
    // A stage that every app has needs no key to be one.
    if (stageName !== undefined) return stageAt(document, stageName.name, project);
    const inQuery = document.embeddedAt(offset)?.toValue(offset);
    return inQuery === undefined
      ? undefined
      : column(node.value, inQuery, (span) => spanInside(document.text, node, span));
  }
  if ((section === "actions" && field === "name") || (section === "alerts" && field === "action")) {
    const occurrences = action(document, at.node.value);
    // In a text with mistakes a list may not be a list, and a string may not be the name of anything.
    return occurrences.places.some(({ span }) => touches(span, offset)) ? occurrences : undefined;
  }
  if (section === "redirects" && field === "location") {
    const rule = document.routes().find(({ value }) => memberOf(value, "location")?.value === at.node);
    return rule && capture(document, rule, offset);
  }
  return undefined;
}

function action(document: ToolDocument, name: string): NameOccurrences {
  const places = (pointer: string[], isDefinition: boolean): Occurrence[] =>
    targets(document.root, pointer)
      .filter(({ value }) => value === name)
      .map(({ content }) => ({ span: content, isDefinition }));
  const all = [...places(["actions", "*", "name"], true), ...places(["alerts", "*", "action"], false)];
  return { kind: "action", name, places: inOrder(all) };
}

/** The places of a thing in a document, and in the files beside it. */
function placesOf(document: ToolDocument, project: Project, placesIn: (file: ToolDocument) => Occurrence[]) {
  const elsewhere = filesBeside(document, project)
    .map((file) => ({ document: file, places: inOrder(placesIn(file)) }))
    .filter(({ places }) => places.length > 0);
  return { places: inOrder(placesIn(document)), ...(elsewhere.length > 0 && { elsewhere }) };
}

/** The places in all files, but for those that are not wanted. */
export function locationsOf(
  document: ToolDocument,
  { places, elsewhere = [] }: NameOccurrences,
  isWanted: (place: Occurrence) => boolean,
): Location[] {
  return [{ document, places }, ...elsewhere].flatMap((file) =>
    file.places.filter(isWanted).map(({ span }) => ({ uri: file.document.uri, range: file.document.rangeOf(span) })),
  );
}

function notification(document: ToolDocument, name: string, project: Project): NameOccurrences {
  return { kind: "notification", name, ...placesOf(document, project, (file) => placesOfNotification(file, name)) };
}

function placesOfNotification(document: ToolDocument, name: string): Occurrence[] {
  const keys = document.notifications().filter(({ key }) => key.value === name);
  const named = document.logAlerts().flatMap(({ value }) => memberOf(value, "notify")?.value ?? []);
  return [
    ...keys.map(({ key }): Occurrence => ({ span: key.content, isDefinition: true })),
    ...named
      .filter((node): node is StringNode => node.type === "string" && node.value === name)
      .map(({ content }): Occurrence => ({ span: content, isDefinition: false })),
  ];
}

function stageAt(document: ToolDocument, name: string, project: Project): NameOccurrences | undefined {
  const isIn = (file: ToolDocument) => file.stages().some(({ key }) => key.value === name);
  const isKnown = isDefault(name) || isIn(document) || filesBeside(document, project).some(isIn);
  return isKnown ? stage(document, name, project) : undefined;
}

function stage(document: ToolDocument, name: string, project: Project): NameOccurrences {
  const fixed = isDefault(name) ? `every app has the stage "${name}": it cannot be called otherwise` : undefined;
  const places = placesOf(document, project, (file) => placesOfStage(file, name));
  return { kind: "stage", name, ...places, ...(fixed !== undefined && { fixed }) };
}

function placesOfStage(document: ToolDocument, name: string): Occurrence[] {
  const keys = document.stages().filter(({ key }) => key.value === name);
  const queries = [
    ...document.queries().map(({ value }) => value),
    ...document.logAlerts().map(({ value }) => memberOf(value, "query")?.value),
  ];
  const named = queries.flatMap((node) => (node?.type === "string" ? stagesIn(document, node) : []));
  return [
    ...keys.map(({ key }): Occurrence => ({ span: key.content, isDefinition: true })),
    ...named
      .filter((one) => one.name === name)
      .map(({ span, isQuoted }): Occurrence => ({ span, isDefinition: false, ...(!isQuoted && { isWord: true }) })),
  ];
}

const isDefault = (name: string) => (DEFAULT_STAGES as readonly string[]).includes(name);

/** The stages that a saved query names, with spans in the document. */
function stagesIn(document: ToolDocument, node: StringNode): NamedStage[] {
  const parsed = parsePipeline(node.value);
  if (!parsed.ok) return [];
  return stagesNamedIn(parsed.value).map((named) => ({ ...named, span: spanInside(document.text, node, named.span) }));
}

/** The column at an offset of a query; `toText` gives the place of a part of it in the document. */
function column(source: string, offset: number, toText: (span: Span) => Span): NameOccurrences | undefined {
  const parsed = parsePipeline(source);
  const match = parsed.ok ? columnNamedAt(parsed.value, offset) : undefined;
  if (match === undefined) return undefined;
  const { name, isAlias } = match;
  const places = match.places.map((span, at): Occurrence => ({ span: toText(span), isDefinition: at === 0 }));
  const fixed = `"${name}" has no name of its own: give it one by as, such as stats count() as hits`;
  return { kind: "column", name, places, ...(!isAlias && { fixed }) };
}

/** Saved queries are named in tool.json and used on command lines. */
function alone(kind: "query", key: StringNode): NameOccurrences {
  return { kind, name: key.value, places: [{ span: key.content, isDefinition: true }] };
}

/** The param at an offset of a redirect's pattern or location, in both. */
function capture(document: ToolDocument, rule: SectionEntry, offset: number): NameOccurrences | undefined {
  const all = captures(document, rule);
  const match = all.find(({ occurrence }) => touches(occurrence.span, offset) || offset === occurrence.span.start - 1);
  if (match === undefined) return undefined;
  const places = inOrder(all.filter(({ name }) => name === match.name).map(({ occurrence }) => occurrence));
  if (match.name !== "splat") return { kind: "param", name: match.name, places };
  return { kind: "splat", name: "splat", places, fixed: `":splat" is what the * at the end of a pattern captures` };
}

function captures(document: ToolDocument, { key, value }: SectionEntry): { name: string; occurrence: Occurrence }[] {
  const all: { name: string; occurrence: Occurrence }[] = [];
  const add = (node: StringNode, name: string, span: Span, isDefinition: boolean) => {
    all.push({ name, occurrence: { span: spanInside(document.text, node, span), isDefinition } });
  };
  const afterColon = ({ start, end }: Span): Span => ({ start: start + 1, end });
  const route = parseRoute(key.value);
  const parts = route.ok ? route.value.parts : [];
  for (const part of parts) {
    if (part.kind === "param") add(key, part.name, afterColon(part.span), true);
    else if (part.kind === "wildcard" && part === parts.at(-1)) {
      add(key, "splat", part.span, true);
    }
  }
  const node = memberOf(value, "location")?.value;
  const location = node?.type === "string" ? parseLocation(node.value) : undefined;
  for (const { name, span } of location?.ok ? locationCaptures(location.value) : []) {
    add(node as StringNode, name, afterColon(span), false);
  }
  return all;
}

const inOrder = (places: Occurrence[]) => places.sort((a, b) => a.span.start - b.span.start);

/** The end counts: a cursor after the last character is at the word. */
const touches = (span: Span, offset: number) => span.start <= offset && offset <= span.end;
