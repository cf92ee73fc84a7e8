import type { TextEdit } from "../../../grammar/problem.ts";
import { compileRoutes, parseRoute, routeCaptures } from "../../../grammar/route/index.ts";
import { DEFAULT_REGION, insertItem, insertMember, partOf, REGIONS, spaced } from "../../../schema/index.ts";
import { memberOf, type Node, type ObjectNode } from "../../../schema/json.ts";
import { resolve, type Schema } from "../../../schema/shape.ts";
import type { NodePath, ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";
import { goodCommands } from "./commands.ts";
import { RECORD_VALUES, RESPONSE_HEADERS } from "./names.ts";

/** Where a value is to be written. */
export interface Spot {
  readonly document: ToolDocument;
  readonly project: Project;
  /** From the root to the value. */
  readonly path: NodePath;
  /** The object or array that it goes into. */
  readonly container: Node;
}

/**
 * A value that is right at its place: the schema's example, made to fit what the document and the project say. Where no
 * value would be right, an empty one.
 */
export function goodValue(schema: Schema, spot: Spot): unknown {
  const { path, document, container, project } = spot;
  const name = path.at(-1);
  const pattern = path.map((part) => (typeof part === "number" ? "*" : part)).join("/");
  switch (pattern) {
    case "name":
      return nameOf(project) ?? "app";
    case "actions":
      return exampleOf(schema);
    case "actions/*":
    case "actions/*/name": {
      const takenNames = document.actions().map((action) => memberText(action, "name"));
      const free =
        ["ops", "backend", "oncall"].find((word) => !takenNames.includes(word)) ?? `action-${takenNames.length + 1}`;
      return name === "name" ? free : { ...(exampleOf(schema) as object), name: free };
    }
    case "alerts":
      return firstAction(document) === undefined && document.section("actions") !== undefined && !newAction(document)
        ? []
        : [alert(document)];
    case "alerts/*":
      return alert(document);
    case "alerts/*/action":
      return firstAction(document) ?? NEW_ACTION.name;
    case "logs/alerts":
      return { errors: logAlert(spot) };
    case "logs/include":
      return includePatterns(project).slice(0, 1);
    case "proxy/backoff/min":
      return Math.min(100, numberOf(container, "max") ?? 100);
    case "proxy/backoff/max":
      return Math.max(500, numberOf(container, "min") ?? 500);
    case "proxy":
      return { command: goodCommands(spot)[0] ?? "./server" };
    case "hooks":
      return { build: goodCommands(spot)[0] ?? "npm run build" };
    case "static/dir":
    case "error_pages/dir":
      return firstFolder(project, exampleOf(schema) as string);
    case "static":
      return { dir: firstFolder(project, "public") };
    case "error_pages":
      return { variables: { color: "#228be6" } };
    case "inject/head/*/file":
    case "inject/body/*/file":
      return (
        project.listFiles?.(".").find(({ name, kind }) => kind === "file" && /\.(js|css|html)$/.test(name))?.name ?? ""
      );
    case "stages":
      return { production: { domain: freeDomain(document, "production") } };
  }
  const [section, first] = path;
  if (section === "logs" && first === "alerts") {
    if (path.length === 3) return logAlert(spot);
    if (name === "notify") return firstNotification(spot) ?? FIRST_NOTIFICATION_NAME;
    const file = testFile(project);
    if (name === "tests") return file === undefined ? [] : [{ file, triggers: 1 }];
    if (path[4] !== undefined && path.length === 5) return { file: file ?? exampleOf(resolve(schema)), triggers: 1 };
    if (name === "file") return file ?? (project.directory === undefined ? exampleOf(schema) : "");
  }
  if (section === "redirects" && path.length === 2) return ruleFor(String(first), document);
  if (section === "redirects" && name === "location") return locationFor(String(first), document);
  if (section === "headers" && path.length === 3) return headerValues(String(name))[0] ?? exampleOf(schema);
  if (section === "redirects" && name === "status") return 301;
  if (section === "stages" && name === "domain") return freeDomain(document, String(first));
  if (section === "stages" && path.length === 2)
    return first === "development"
      ? { proxy: { command: goodCommands(spot)[0] ?? "npm run dev" } }
      : { domain: freeDomain(document, String(first)) };
  if (section === "dns" && path.length === 2) return [record(String(first))];
  if (section === "dns" && path.length === 3) return record(String(first));
  if (section === "dns" && name === "name") return String(first);
  if (section === "dns" && name === "value") {
    const type = memberText(container as ObjectNode, "type");
    return [(type === undefined ? undefined : RECORD_VALUES[type]) ?? "192.0.2.1"];
  }
  if (path.includes("layers")) {
    const arn = `arn:aws:lambda:${regionOf(document)}:123456789012:layer:fonts:3`;
    return name === "layers" ? [arn] : arn;
  }
  if (section === "function" || path[2] === "function") {
    if (name === "role") return "arn:aws:iam::123456789012:role/app";
  }
  return exampleOf(schema);
}

/** The value that is not the default, if there are two: the default need not be written. */
function exampleOf(part: Schema): unknown {
  const schema = resolve(part);
  if (schema.type === "boolean" && schema.default !== undefined) return schema.default !== true;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  switch ([schema.type].flat()[0]) {
    case "object":
      return {};
    case "array":
      return [];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return "";
  }
}

/** The region of the app, if the document names it. */
export function regionOf(document: ToolDocument): string {
  const regions = document.section("regions")?.value;
  const [region] = regions?.type === "array" ? regions.items : [];
  return region?.type === "string" && REGIONS.includes(region.value) ? region.value : DEFAULT_REGION;
}

function firstAction(document: ToolDocument): string | undefined {
  return actionNames(document)[0];
}

export function actionNames(document: ToolDocument): string[] {
  return document.actions().flatMap((action) => memberText(action, "name") ?? []);
}

/** The text of a string member. */
export function memberText(node: Node | undefined, name: string): string | undefined {
  const value = memberOf(node, name)?.value;
  return value?.type === "string" ? value.value : undefined;
}

export function numberOf(node: Node | undefined, name: string): number | undefined {
  const value = memberOf(node, name)?.value;
  return value?.type === "number" ? value.value : undefined;
}

function alert(document: ToolDocument) {
  return { metric: "http.5xx", statistic: "sum", threshold: 1, action: firstAction(document) ?? NEW_ACTION.name };
}

/** The action of a first alert, to be changed by the user. */
export const NEW_ACTION = { name: "ops", type: "email", emails: ["ops@example.com"] };

/**
 * The edit that adds the action which an alert names if there is none: before the alerts, or to the empty list that is
 * there. Undefined if there is one, or no place for it.
 */
export function newAction(document: ToolDocument): TextEdit | undefined {
  if (actionNames(document).length > 0) return undefined;
  const { root } = document;
  const [actions, alerts] = [document.section("actions"), document.section("alerts")];
  const item = spaced(NEW_ACTION);
  if (actions === undefined) {
    if (root?.type !== "object" || alerts === undefined) return undefined;
    return insertMember(document.text, root, `"actions": [${item}]`, alerts);
  }
  const list = actions.value;
  return list?.type === "array" && list.items.length === 0 ? insertItem(document.text, list, item) : undefined;
}

function logAlert(spot: Spot) {
  const notify = firstNotification(spot) ?? FIRST_NOTIFICATION_NAME;
  return { query: "status >= 500", operator: ">", threshold: 10, notify };
}

export const FIRST_NOTIFICATION_NAME = "ops";
/** The notification of a first alert, to be changed by the user. */
export const FIRST_NOTIFICATION = { type: "email", email_addresses: ["ops@example.com"] };

const firstNotification = ({ document, project }: Pick<Spot, "document" | "project">) =>
  notifiableNames(document, project)[0];

/** Names that alerts of the log service may be sent to: those of the document, and of the project's other files. */
export function notifiableNames(document: ToolDocument, project: Project): string[] {
  const own = document.notifications().map(({ key }) => key.value);
  const root = project.config?.()?.root;
  const others = root === undefined ? [] : partOf(root, "tool.json", project.directory).names.notifications.keys();
  return [...new Set([...own, ...others])];
}

/** The edit that adds the notification which an alert names if there is none: before the alerts, or in what is there. */
export function newNotification(document: ToolDocument, project: Project): TextEdit | undefined {
  if (firstNotification({ document, project }) !== undefined) return undefined;
  const logs = document.section("logs")?.value;
  if (logs?.type !== "object") return undefined;
  const entry = `${JSON.stringify(FIRST_NOTIFICATION_NAME)}: ${spaced(FIRST_NOTIFICATION)}`;
  const [list, alerts] = [memberOf(logs, "notifications"), memberOf(logs, "alerts")];
  if (list === undefined) {
    return alerts && insertMember(document.text, logs, `"notifications": { ${entry} }`, alerts);
  }
  return list.value?.type === "object" ? insertMember(document.text, list.value, entry) : undefined;
}

/** Patterns of the JSON files in the folders of the project. */
export function includePatterns(project: Project): string[] {
  const folders = (project.listFiles?.(".") ?? []).filter(
    ({ kind, name }) => kind === "directory" && !isUnlikelyName(name),
  );
  const hasJson = (folder: string) =>
    project.listFiles?.(folder).some(({ kind, name }) => kind === "file" && name.endsWith(".json"));
  return folders.filter(({ name }) => hasJson(name)).map(({ name }) => `${name}/*.json`);
}

const testFile = (project: Project) =>
  project.listFiles?.(".").find(({ kind, name }) => kind === "file" && name.endsWith(".ndjson"))?.name;

/** The project's folder as the name of an app, if that is a valid one. */
export function nameOf({ uri }: Project): string | undefined {
  const folder = uri
    ?.split("/")
    .at(-2)
    ?.toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  return folder === undefined || folder === "" ? undefined : folder.slice(0, 40).replace(/-+$/, "");
}

function firstFolder(project: Project, otherwise: string): string {
  const folders = (project.listFiles?.(".") ?? []).filter(
    ({ kind, name }) => kind === "directory" && !isUnlikelyName(name),
  );
  const usual = ["public", "dist", "build", "static", "errors", otherwise];
  return usual.find((name) => folders.some((folder) => folder.name === name)) ?? folders[0]?.name ?? otherwise;
}

/** Files and folders that no setting is likely to name. */
export const isUnlikelyName = (name: string) => name.startsWith(".") || name === "node_modules";

/** A rule that the pattern can have: everything rewritten to the front page, a part of the paths sent elsewhere. */
function ruleFor(pattern: string, document: ToolDocument): object {
  return pattern === "/*" ? { location: "/", status: 200 } : { location: locationFor(pattern, document), status: 301 };
}

/** A location that uses what the pattern captures, and that no rule takes further: another host where need be. */
export function locationFor(pattern: string, document: ToolDocument): string {
  const route = parseRoute(pattern);
  const captures = route.ok ? routeCaptures(route.value) : [];
  const path = `/new${captures.map((name) => `/:${name}`).join("")}`;
  const rules = [pattern, ...document.routes().map(({ key }) => key.value)].flatMap((source) => {
    const parsed = parseRoute(source);
    return parsed.ok ? { route: parsed.value, value: source } : [];
  });
  const isTaken = compileRoutes(rules, { trailingSlash: "optional" }).first(path.replaceAll(":", "")) !== undefined;
  return isTaken ? `https://example.com${path}` : path;
}

/** The values that are commonly given to a response header, whatever the case of its name. */
export function headerValues(name: string): readonly string[] {
  const canonicalName = Object.keys(RESPONSE_HEADERS).find((header) => header.toLowerCase() === name.toLowerCase());
  return canonicalName === undefined ? [] : RESPONSE_HEADERS[canonicalName]!;
}

function freeDomain(document: ToolDocument, stage: string): string {
  const domains = document
    .stages()
    .flatMap(({ key, value }) => (key.value === stage ? [] : (memberText(value, "domain") ?? [])));
  const takenDomains = new Set(domains);
  // One that is being written is no domain yet.
  const whole = domains.find((domain) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(domain));
  const apex = whole?.split(".").slice(-2).join(".") ?? "example.com";
  const wanted = stage === "production" ? apex : `${stage.replace(/[^a-z0-9-]/gi, "-")}.${apex}`;
  for (let i = 1; ; i++) {
    const domain = i === 1 ? wanted : `${stage.replace(/[^a-z0-9-]/gi, "-")}-${i}.${apex}`;
    if (!takenDomains.has(domain)) return domain;
  }
}

function record(zone: string) {
  return { name: `www.${zone}`, type: "A", value: ["192.0.2.1"] };
}
