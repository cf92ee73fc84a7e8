import { DEFAULT_REGION, REGIONS } from "../../../schema/index.ts";
import { memberSchema, resolve, type Schema } from "../../../schema/shape.ts";
import type { ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";
import { type CompletionCandidate, KIND } from "./candidate.ts";
import { commandOffers } from "./commands.ts";
import {
  actionNames,
  FIRST_NOTIFICATION_NAME,
  goodValue,
  headerValues,
  includePatterns,
  isUnlikelyName,
  locationFor,
  memberText,
  NEW_ACTION,
  nameOf,
  newAction,
  newNotification,
  notifiableNames,
  numberOf,
} from "./good-values.ts";
import { objectCandidate } from "./keys.ts";
import { EXPOSED_HEADERS, METHODS, RECORD_VALUES, REGION_PLACES, REQUEST_HEADERS, STATUS_WORDS } from "./names.ts";
import type { CursorContext } from "./place.ts";

/** The values that may be written at a place, whole. */
export function valueCandidates(
  document: ToolDocument,
  project: Project,
  cursor: CursorContext,
): CompletionCandidate[] {
  const schema =
    cursor.kind === "item" ? resolve(cursor.schema.items ?? {}) : memberSchema(cursor.schema, cursor.key ?? "");
  const types = [schema.type].flat();
  const candidates: CompletionCandidate[] = [];
  if (types.includes("string")) candidates.push(...stringCandidates(document, project, cursor, schema));
  // Only a string can be between quotes.
  if (cursor.isQuoted) return candidates;
  // A zone is none or a name: `true` is the default, which is not written.
  const isZone = cursor.path[0] === "stages" && cursor.key === "zone";
  if (types.includes("boolean")) candidates.push(...booleans(schema).filter(({ text }) => !isZone || text === "false"));
  if (types.includes("integer") || types.includes("number")) candidates.push(...numbers(cursor, schema));
  if (types.includes("object") || types.includes("array")) {
    // An alert that names no action would be invalid: it comes with a new one.
    const isAlert = cursor.path[0] === "alerts" || (cursor.path.length === 0 && cursor.key === "alerts");
    const needsAction = isAlert && actionNames(document).length === 0;
    const also = needsAction ? newAction(document) : alsoForLogs(document, project, cursor);
    if (needsAction && also === undefined && cursor.kind === "item") return candidates;
    if (isTestWithoutFile(project, cursor)) return candidates;
    candidates.push({ ...objectCandidate(document, project, cursor, schema), ...(also && { also }) });
    const empty = types.includes("object") ? "{}" : "[]";
    if (canBeEmpty(schema) && candidates.at(-1)!.text !== empty) {
      candidates.push({ label: empty, kind: KIND.value, text: empty, snippet: empty === "{}" ? "{$1}" : "[$1]" });
    }
  }
  return candidates;
}

/** The notification that a first alert of the log service names. */
function alsoForLogs(document: ToolDocument, project: Project, { path, key }: CursorContext) {
  const isAlert =
    path[0] === "logs" && (path[1] === "alerts" ? path.length === 2 : path.length === 1 && key === "alerts");
  return isAlert ? newNotification(document, project) : undefined;
}

/** A test of an alert needs a file that is there. */
function isTestWithoutFile(project: Project, { path, kind }: CursorContext): boolean {
  if (kind !== "item" || path[0] !== "logs" || path.at(-1) !== "tests" || project.directory === undefined) return false;
  return !project.listFiles?.(".").some((file) => file.kind === "file" && file.name.endsWith(".ndjson"));
}

function canBeEmpty({ required, minItems }: Schema): boolean {
  return required === undefined && minItems === undefined;
}

function booleans(schema: Schema): CompletionCandidate[] {
  return [true, false].map((value) => ({
    label: String(value),
    kind: KIND.keyword,
    text: String(value),
    detail: value === schema.default ? "default" : undefined,
  }));
}

function numbers({ path, key, container }: CursorContext, schema: Schema): CompletionCandidate[] {
  if (path[0] === "redirects" && key === "status") {
    return [301, 302, 303, 307, 308, 200].map((status) => word(String(status), STATUS_WORDS[status]));
  }
  const unit = schema["x-unit"] === undefined ? "" : ` ${schema["x-unit"]}`;
  const schemaValues = [schema.default, ...(schema.examples ?? []), schema.minimum, schema.maximum];
  // A backoff does not begin above its end.
  const least = (key === "max" ? numberOf(container, "min") : undefined) ?? Number.NEGATIVE_INFINITY;
  const most = (key === "min" ? numberOf(container, "max") : undefined) ?? Number.POSITIVE_INFINITY;
  const values = [...new Set(schemaValues.filter((value) => typeof value === "number"))].filter(
    (value) => value < 2 ** 31 - 1 && value >= least && value <= most,
  );
  const bound = key === "max" ? least : most;
  if (values.length === 0 && Number.isFinite(bound)) values.push(bound);
  return values.map((value) => {
    const note =
      value === schema.default
        ? "default"
        : value === schema.minimum
          ? "the least"
          : value === schema.maximum
            ? "the most"
            : undefined;
    return word(String(value), [`${value}${unit}`, note].filter((part) => part !== undefined).join(", "));
  });
}

function word(text: string, detail?: string): CompletionCandidate {
  return { label: text, kind: KIND.value, text, detail };
}

function quoted(value: string, more: Partial<CompletionCandidate> = {}): CompletionCandidate {
  return { label: value, kind: KIND.value, text: JSON.stringify(value), ...more };
}

function stringCandidates(
  document: ToolDocument,
  project: Project,
  cursor: CursorContext,
  schema: Schema,
): CompletionCandidate[] {
  const { path, key, kind, container } = cursor;
  const [section] = path;
  const siblings =
    container.type === "array"
      ? container.items.flatMap((item) => (item !== cursor.current && item.type === "string" ? item.value : []))
      : [];
  const unlessThere = (candidates: CompletionCandidate[]) =>
    candidates.filter(({ label }) => !siblings.includes(label));
  if (schema.enum !== undefined) {
    const isApex = section === "dns" && key === "type" && memberText(container, "name") === String(path[1]);
    // The zone's own name can be no CNAME.
    return schema.enum
      .filter((value) => !(isApex && value === "CNAME"))
      .map((value) =>
        quoted(value, {
          kind: KIND.enumMember,
          ...(value === schema.default && { detail: "default", preselect: true }),
        }),
      );
  }
  if (section === "regions") return siblings.length > 0 ? [] : regions(document, project);
  if (path.length === 0 && key === "profile") return profiles(project, schema);
  if (section === "cors" && path[1] === "allowed_methods") return unlessThere(METHODS.map((name) => quoted(name)));
  if (section === "alerts" && key === "metric") {
    return (schema.examples as string[]).map((name) => quoted(name, { kind: KIND.enumMember }));
  }
  if (section === "headers" && path.length === 2 && key !== undefined) {
    return headerValues(key).map((value) => quoted(value));
  }
  if (section === "dns" && kind === "item" && path.at(-1) === "value") {
    const type = memberText(document.nodeAt(path.slice(0, -1)).node, "type");
    const value = type === undefined ? undefined : RECORD_VALUES[type];
    if (siblings.length > 0 && (type === "CNAME" || type === "ALIAS")) return [];
    return value === undefined ? [] : unlessThere([quoted(value)]);
  }
  if (section === "dns" && key === "name") {
    const zone = String(path[1]);
    const names = memberText(container, "type") === "CNAME" ? [`www.${zone}`] : [zone, `www.${zone}`];
    return names.map((name) => quoted(name));
  }
  const language = schema["x-language"];
  if (section === "logs" && path[1] === "include")
    return unlessThere(includePatterns(project).map((pattern) => quoted(pattern)));
  if (language === "ref:/logs/notifications") return notifications(document, project);
  if (language?.startsWith("ref:")) return actions(document);
  switch (language) {
    case "path":
      return paths(project, cursor, document);
    case "header-name":
      return unlessThere(
        (path[1] === "exposed_headers" ? EXPOSED_HEADERS : REQUEST_HEADERS).map((name) => quoted(name)),
      );
    case "location":
      return locations(document, cursor);
    case "command":
      return commands(document, project, cursor, schema);
    case "duration":
    case "query":
      // Their own languages complete inside of the quotes; without quotes there is nothing to put an item into.
      return cursor.isQuoted ? [] : exampleStrings(schema);
    default:
      return plainStrings(document, project, cursor, schema);
  }
}

/** The actions that are there, else a new one with its place in the document. */
function actions(document: ToolDocument): CompletionCandidate[] {
  const also = newAction(document);
  if (also !== undefined) return [quoted(NEW_ACTION.name, { kind: KIND.reference, detail: "a new action", also })];
  return actionNames(document).map((name) => quoted(name, { kind: KIND.reference }));
}

/** The notifications that are there, else a new one with its place in the document. */
function notifications(document: ToolDocument, project: Project): CompletionCandidate[] {
  const also = newNotification(document, project);
  if (also !== undefined)
    return [quoted(FIRST_NOTIFICATION_NAME, { kind: KIND.reference, detail: "a new notification", also })];
  return notifiableNames(document, project).map((name) => quoted(name, { kind: KIND.reference }));
}

function plainStrings(
  document: ToolDocument,
  project: Project,
  cursor: CursorContext,
  schema: Schema,
): CompletionCandidate[] {
  const { path, key, container } = cursor;
  if (path.length === 0 && key === "name") {
    const name = nameOf(project);
    return [...new Set([...(name === undefined ? [] : [name]), "app"])].map((text) => quoted(text));
  }
  const full = [...path, cursor.kind === "item" ? cursor.index : (key ?? "")];
  const good = goodValue(schema, { document, project, path: full, container });
  const isRight = typeof good === "string" && good !== "";
  const examples = isRight && isMadeToFit(cursor) ? [] : exampleStrings(schema);
  return [...(isRight ? [quoted(good)] : []), ...examples.filter(({ label }) => label !== good)];
}

/** Whether an example would be wrong that does not fit the rest of the document. */
function isMadeToFit({ path, key }: CursorContext): boolean {
  return (
    (path[0] === "stages" && (key === "domain" || key === "zone")) ||
    (path[0] === "actions" && key === "name") ||
    path.at(-1) === "layers"
  );
}

function exampleStrings(schema: Schema): CompletionCandidate[] {
  const texts = [schema.default, ...(schema.examples ?? [])].filter(
    (value) => typeof value === "string" && value !== "",
  );
  return [...new Set(texts as string[])].map((text) =>
    quoted(text, text === schema.default ? { detail: "default" } : {}),
  );
}

/** The profiles of the machine with their regions, else the schema's example. */
function profiles(project: Project, schema: Schema): CompletionCandidate[] {
  const names = [...(project.profiles?.() ?? [])].map(([name, region]) =>
    quoted(name, { kind: KIND.reference, detail: region }),
  );
  return names.length > 0 ? names : exampleStrings(schema);
}

/** All regions: that of the document's profile first, then those of the machine's other profiles, then the default. */
function regions(document: ToolDocument, project: Project): CompletionCandidate[] {
  const machine = project.profiles?.() ?? new Map<string, string | undefined>();
  const profile = memberText(document.root, "profile") ?? "default";
  const own = [machine.get(profile), ...machine.values()].filter((region) => REGIONS.includes(region ?? ""));
  const sorted = [...new Set([...(own as string[]), DEFAULT_REGION, ...REGIONS])];
  return sorted.map((region) => {
    const users = [...machine].flatMap(([name, its]) => (its === region ? [name] : []));
    const notes = [
      REGION_PLACES[region],
      region === DEFAULT_REGION ? "default" : undefined,
      users.length > 0 ? `profile ${users.slice(0, 3).join(", ")}` : undefined,
    ];
    return quoted(region, { kind: KIND.enumMember, detail: notes.filter(Boolean).join(", ") });
  });
}

/** Files and folders of the project, one level below what is typed so far. */
function paths(project: Project, cursor: CursorContext, document: ToolDocument): CompletionCandidate[] {
  if (project.listFiles === undefined) return [];
  const typed = cursor.isQuoted ? typedText(cursor, document) : "";
  const slash = typed.lastIndexOf("/");
  const folder = slash < 0 ? "" : typed.slice(0, slash + 1);
  if (/^[/~\\]|^[A-Za-z]:|(?:^|\/)\.\.(?:\/|$)/.test(folder)) return [];
  const wantsFile = cursor.key === "file";
  const fitting = FITTING[memberText(cursor.container, "type") ?? ""] ?? /\.(?:js|mjs|css|html?|txt|svg|snippet)$/i;
  const candidates: CompletionCandidate[] = [];
  for (const { name, kind } of [...project.listFiles(folder === "" ? "." : folder)].sort(byName)) {
    if (isUnlikelyName(name) || (kind === "file" && !wantsFile)) continue;
    const path = folder + name;
    if (kind === "directory") {
      candidates.push(quoted(wantsFile ? `${path}/` : path, { kind: KIND.folder, rank: wantsFile ? 2 : 1 }));
    } else {
      candidates.push(quoted(path, { kind: KIND.file, rank: fitting.test(name) ? 0 : 1 }));
    }
  }
  // If a file is wanted, folders are offered only inside quotes, where the user can continue the path.
  return wantsFile && !cursor.isQuoted ? candidates.filter(({ kind }) => kind === KIND.file) : candidates;
}

/** The files that an injection of a type is likely made of. */
const FITTING: Readonly<Record<string, RegExp>> = {
  script: /\.m?js$/i,
  "inline script": /\.m?js$/i,
  style: /\.css$/i,
  "inline style": /\.css$/i,
  literal: /\.html?$/i,
};

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** The text of a quoted token that may not be closed, read as JSON as far as it goes. */
function typedText({ range }: CursorContext, document: ToolDocument): string {
  const raw = document.text.slice(range.start + 1, range.end).replace(/["']$/, "");
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}

function locations(document: ToolDocument, { path }: CursorContext): CompletionCandidate[] {
  return [quoted(locationFor(String(path.at(-1)), document))];
}

function commands(
  document: ToolDocument,
  project: Project,
  cursor: CursorContext,
  schema: Schema,
): CompletionCandidate[] {
  const inner = schema["x-language"] === undefined && schema.items !== undefined ? resolve(schema.items) : schema;
  const examples = exampleStrings(inner).map(({ label }) => label);
  const path = [...cursor.path, cursor.kind === "item" ? cursor.index : (cursor.key ?? "")];
  return commandOffers({ document, project, path }, examples).map(({ command, detail }) =>
    detail === undefined
      ? quoted(command)
      : quoted(command, { kind: KIND.function, detail, ...(detail !== "inferred" && { rank: 0 }) }),
  );
}
