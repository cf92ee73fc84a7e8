import { locationCaptures, parseLocation, parseRoute, routeCaptures } from "../../../grammar/route/index.ts";
import { DEFAULT_STAGES } from "../../../schema/index.ts";
import { type Member, memberOf, type Node, type ObjectNode } from "../../../schema/json.ts";
import { MEMBERS, type NotificationMembers } from "../../../schema/notification-members.ts";
import { resolve, type Schema } from "../../../schema/shape.ts";
import type { CloudName } from "../cloud.ts";
import type { NodePath, SectionEntry, ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";
import { type CompletionCandidate, KIND } from "./candidate.ts";
import {
  FIRST_NOTIFICATION,
  FIRST_NOTIFICATION_NAME,
  goodValue,
  memberText,
  NEW_ACTION,
  newAction,
  newNotification,
  notifiableNames,
} from "./good-values.ts";
import { headerDocs, RESPONSE_HEADERS } from "./names.ts";
import type { CursorContext } from "./place.ts";
import { write, writeMember } from "./snippet.ts";

/**
 * The keys that may be written at a place, each with a value to start from. Keys that are already there are left out.
 * `ofAccount` are free names that the AWS account has.
 */
export function keyCandidates(
  document: ToolDocument,
  project: Project,
  cursor: CursorContext,
  ofAccount: readonly CloudName[] = [],
): CompletionCandidate[] {
  const container = cursor.container as ObjectNode;
  const others = container.members.filter((member) => member !== cursor.current).map(({ key }) => key.value);
  const takenNames = new Set(others);
  const { properties = {}, required = [], additionalProperties } = cursor.schema;
  // If the value is already there, only keys that can have it are offered.
  const value = cursor.hasColon ? (cursor.current as Member | undefined)?.value : undefined;
  const isInAlert = cursor.path[0] === "alerts";
  const hasAction = document.actions().length > 0 || newAction(document) !== undefined;
  /** Whether there is something that the key could have: an action for an alert, a file to inject. */
  const hasValue = (name: string) => {
    if (isInAlert && name === "action") return hasAction;
    if (cursor.path[0] === "logs" && name === "notify")
      return notifiableNames(document, project).length > 0 || newNotification(document, project) !== undefined;
    if (cursor.path[0] !== "inject" || name !== "file" || project.directory === undefined) return true;
    return goodValue(properties[name]!, { document, project, path: [...cursor.path, name], container }) !== "";
  };
  const names = Object.keys(properties).filter(
    (name) =>
      !takenNames.has(name) &&
      isWanted(cursor, name) &&
      hasValue(name) &&
      (value === undefined || fits(properties[name]!, value)),
  );
  const written = (name: string, schema: Schema) => {
    if (cursor.hasColon) return { label: name, text: JSON.stringify(name) };
    const path = [...cursor.path, name];
    const member = writeMember(name, goodValue(schema, { document, project, path, container }), schema);
    if (path[0] === "logs" && (path[1] === "alerts" || path[1] === "include")) {
      return { label: name, ...writtenForLogs(member, path) };
    }
    const also = path[0] === "alerts" && (path.length === 1 || name === "action") ? newAction(document) : undefined;
    if (path.length > 1 || name !== "alerts") return { label: name, ...member, ...(also && { also }) };
    // The action that the first alert names is written with it.
    const first =
      also === undefined && !takenNames.has("actions")
        ? writeMember("actions", [NEW_ACTION], properties.actions!)
        : undefined;
    return {
      label: name,
      text: first === undefined ? member.text : `${first.text},\n${member.text}`,
      ...(first === undefined && { snippet: member.snippet }),
      ...(also && { also }),
    };
  };
  /** An alert of the log service comes with the notification that it names, if there is none. */
  const writtenForLogs = (member: { readonly text: string; readonly snippet: string }, path: NodePath) => {
    const names = path[1] === "alerts" && (path.length < 4 || path[3] === "notify");
    if (!names || notifiableNames(document, project).length > 0) return member;
    const also = newNotification(document, project);
    if (also !== undefined || path.length > 2) return { ...member, ...(also && { also }) };
    const target = writeMember(
      "notifications",
      { [FIRST_NOTIFICATION_NAME]: FIRST_NOTIFICATION },
      properties.notifications!,
    );
    return { text: `${target.text},\n${member.text}` };
  };
  const propertyCandidates = names.map((name): CompletionCandidate => {
    const schema = resolve(properties[name]!);
    const isRequired = required.includes(name);
    return {
      ...written(name, schema),
      kind: KIND.property,
      detail: detailOf(schema, isRequired),
      rank: isRequired ? 0 : name === "$schema" ? 3 : 1,
      // Without its name no configuration is one.
      ...(isRequired && cursor.path.length === 0 && { preselect: true }),
      data: { path: [...cursor.path, name] satisfies NodePath },
    };
  });
  if (typeof additionalProperties !== "object") return propertyCandidates;
  const schema = resolve(additionalProperties);
  const usual = freeNames(document, cursor.path);
  const free = [...ofAccount, ...usual.filter(({ name }) => !ofAccount.some((other) => other.name === name))]
    .filter(({ name }) => !takenNames.has(name) && (value === undefined || capturesAll(name, value)))
    .map(({ name, detail, documentation }: FreeName): CompletionCandidate => {
      return { ...written(name, schema), kind: KIND.field, detail, documentation };
    });
  return [...propertyCandidates, ...free];
}

/** Whether a value is of the type that a key has, with keys that are known there. */
function fits(part: Schema, value: Node): boolean {
  const schema = resolve(part);
  const types = [schema.type].flat();
  if (schema.type === undefined) return true;
  switch (value.type) {
    case "null":
    case "broken":
      return true;
    case "number":
      return types.includes("number") || types.includes("integer");
    case "string": {
      const form = FORMS[schema["x-language"] ?? ""];
      if (form !== undefined && !form.test(value.value)) return false;
      return types.includes("string") && (schema.enum === undefined || schema.enum.includes(value.value));
    }
    case "boolean":
      return types.includes("boolean");
    case "array":
      return types.includes("array") && value.items.every((item) => fits(schema.items ?? {}, item));
    case "object": {
      if (!types.includes("object")) return false;
      const { properties = {}, additionalProperties: more = true } = schema;
      return value.members.every(({ key, value: inner }) => {
        const of = Object.hasOwn(properties, key.value) ? properties[key.value]! : more;
        return of === true || (of !== false && (inner === undefined || fits(of, inner)));
      });
    }
  }
}

/** Whether a pattern captures what the location of a rule uses; true for every pattern if there is no location. */
function capturesAll(pattern: string, rule: Node): boolean {
  const text = memberText(rule, "location");
  const location = text === undefined ? undefined : parseLocation(text);
  const route = parseRoute(pattern);
  if (!location?.ok || !route.ok) return true;
  const captures = routeCaptures(route.value);
  return locationCaptures(location.value).every(({ name }) => captures.includes(name));
}

// Patterns that every text of a language matches; not every text that matches is valid.
const FORMS: Readonly<Record<string, RegExp>> = { path: /^[^/~\\]/, "header-name": /^[\w-]*$|^\*$/, duration: /^\d/ };

/** The kind of value that a key has, in a few words. */
export function detailOf(schema: Schema, isRequired: boolean): string {
  const item = schema.items === undefined ? undefined : resolve(schema.items).type;
  const type = [schema.type ?? "any"].flat().join(" or ");
  const typeName = type === "array" && item !== undefined ? `array of ${[item].flat().join(" or ")}s` : type;
  const isPlain = schema.default !== undefined && typeof schema.default !== "object" && schema.default !== "";
  const unit = schema["x-unit"] === undefined ? "" : ` ${schema["x-unit"]}`;
  return typeName + (isRequired ? ", required" : isPlain ? `, default ${String(schema.default)}${unit}` : "");
}

// Pairs of keys that exclude each other, and the type of action that a field is for (schema/checks).
const INSTEAD: Readonly<Record<string, string>> = {
  value: "file",
  file: "value",
  Action: "NotAction",
  NotAction: "Action",
  Resource: "NotResource",
  NotResource: "Resource",
};
const ACTION_TYPE: Readonly<Record<string, string>> = {
  emails: "email",
  numbers: "sms",
  url: "chat",
  channel: "chat",
  gifs: "chat",
};

/** Whether a key can be used together with the others. */
function isWanted({ path, container, current }: CursorContext, name: string): boolean {
  const instead = Object.hasOwn(INSTEAD, name) ? memberOf(container, INSTEAD[name]!) : undefined;
  if (instead !== undefined && instead !== current) return false;
  if (path[0] === "logs" && path[1] === "notifications" && path.length === 3) return isOfType(container, name);
  if (path[0] !== "actions" || !Object.hasOwn(ACTION_TYPE, name)) return true;
  const type = memberText(container, "type");
  return type === undefined || type === ACTION_TYPE[name];
}

/** Whether a notification of that type has the member. */
function isOfType(notification: Node, name: string): boolean {
  const owner = Object.entries(NOTIFICATION_MEMBERS).find(([, members]) => members.includes(name));
  const type = memberText(notification, "type");
  return owner === undefined || type === undefined || type === owner[0];
}

const NOTIFICATION_MEMBERS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries<NotificationMembers>(MEMBERS).map(([type, { needed, optional }]) => [
    type,
    optional === undefined ? [needed] : [needed, optional],
  ]),
);

interface FreeName {
  readonly name: string;
  readonly detail?: string;
  readonly documentation?: string | undefined;
}

/** Names for the keys of an object whose keys the user chooses. */
function freeNames(document: ToolDocument, path: NodePath): readonly FreeName[] {
  const [section, , third] = path;
  if (section === "redirects" && path.length === 1) return patterns(document, document.headers(), REDIRECT_PATTERNS);
  if (section === "headers" && path.length === 1) return patterns(document, document.routes(), HEADER_PATTERNS);
  if (section === "headers" && path.length === 2) {
    return Object.keys(RESPONSE_HEADERS).map((name) => ({ name, documentation: headerDocs(name) }));
  }
  if (section === "stages" && path.length === 1) {
    const details = ["this machine", "the default of deploy", "what users see"];
    return [
      ...DEFAULT_STAGES.map((name, i) => ({ name, detail: details[i]! })),
      { name: "preview", detail: "a custom stage" },
    ];
  }
  if (section === "dns" && path.length === 1) {
    const domains = document.stages().flatMap(({ value }) => memberText(value, "domain") ?? []);
    return [...new Set([...domains.map((domain) => domain.split(".").slice(-2).join(".")), "example.com"])].map(
      (name) => ({ name }),
    );
  }
  if (section === "logs" && path[1] === "queries" && third === undefined) {
    return [{ name: "slow" }, { name: "errors" }];
  }
  if (section === "logs" && path[1] === "alerts" && third === undefined) return [{ name: "errors" }];
  if (section === "logs" && path[1] === "notifications" && third === undefined) return [{ name: "ops" }];
  if (section === "environment" && path.length === 1) return [{ name: "API_URL" }];
  return [];
}

const REDIRECT_PATTERNS: readonly FreeName[] = [
  { name: "/old/*", detail: "everything below a path" },
  { name: "/users/:id", detail: "one segment" },
  { name: "/*", detail: "every path: the single-page rule" },
];
const HEADER_PATTERNS: readonly FreeName[] = [
  { name: "/*", detail: "every path" },
  { name: "/*.css", detail: "files by extension" },
  { name: "/*.js", detail: "files by extension" },
  { name: "/static/*", detail: "everything below a path" },
];

/** The usual patterns, and those that the project has in its other section. */
function patterns(document: ToolDocument, elsewhere: readonly SectionEntry[], usual: readonly FreeName[]): FreeName[] {
  const own = elsewhere.flatMap(({ key }) => (parseRoute(key.value).ok ? key.value : []));
  const where = elsewhere === document.routes() ? "of redirects" : "of headers";
  const projectPatterns = [...new Set(own)].slice(0, MAX_PATTERNS).map((name) => ({ name, detail: where }));
  return [...usual, ...projectPatterns.filter(({ name }) => !usual.some((pattern) => pattern.name === name))];
}

// Nobody reads a longer list, and typing would not find the rest more easily.
const MAX_PATTERNS = 50;

/** The placeholder text of a whole object as an item, such as one action. */
export function objectCandidate(
  document: ToolDocument,
  project: Project,
  cursor: CursorContext,
  schema: Schema,
): CompletionCandidate {
  const path = [...cursor.path, cursor.kind === "item" ? cursor.index : cursor.key!];
  const value = goodValue(schema, { document, project, path, container: cursor.container });
  const { text, snippet } = write(value, schema);
  const label = text.replace(/\s+/g, " ");
  return {
    label: label.length <= 60 ? label : `${label.slice(0, 57)}...`,
    kind: KIND.value,
    text,
    snippet,
    detail: schema.description,
  };
}
