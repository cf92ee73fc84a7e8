import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Fix, type Problem, quote } from "../../grammar/problem.ts";
import { parseAlertQuery, parsePipeline } from "../../grammar/query/index.ts";
import { formatDuration } from "../../grammar/units/duration.ts";
import type { Directory } from "../directory.ts";
import { addition, insertMember, removal, spaced } from "../edits.ts";
import { notUtf8 } from "../encoding.ts";
import { type Member, memberOf, type Node, type ObjectNode, type StringNode } from "../json.ts";
import { resolve, rootSchema } from "../keywords.ts";
import type { Meanings } from "../languages.ts";
import { LOG_SECTIONS, leadsOut, logParts, MAX_PARTS, type PartOf, partOf, pathsOf } from "../log-parts.ts";
import type { Memory } from "../memory.ts";
import { MEMBERS, type NotificationMembers } from "../notification-members.ts";
import type { ProblemReport } from "../report.ts";
import { checkMinutes, emailFix, isEmail, phoneProblem } from "./alerts.ts";

/** The surroundings that the checks of `logs` need. */
export interface LogAlertsCheck {
  readonly meanings: Meanings;
  readonly memory: Memory;
  readonly directory: Directory | undefined;
  /** Set for an included file. */
  readonly part: PartOf | undefined;
  /** The problems of an included file. */
  readonly problemsOf: (text: string, part: PartOf) => readonly Problem[];
}

const DAY_MS = 86_400_000;

/** Alerts and notifications of the log service, and the files that are included. */
export function checkLogAlerts(report: ProblemReport, root: ObjectNode, check: LogAlertsCheck) {
  const logs = memberOf(root, "logs")?.value;
  const { directory, part = partOf(root, "tool.json", directory) } = check;
  for (const section of LOG_SECTIONS) {
    for (const { key } of entries(logs, section)) {
      if (section !== "queries") checkName(report, key, section);
      const [first = part.path] = part.names[section].get(key.value) ?? [];
      if (first === part.path) continue;
      report.error("config/duplicate-name", key.span, `${first} has ${quote(key.value)} in ${quote(section)}, too`, {
        hint: "names are those of the log service: give one of them another",
      });
    }
  }
  for (const { value } of entries(logs, "alerts")) {
    if (value?.type === "object") checkAlert(report, root, value, { ...check, part });
  }
  for (const { value } of entries(logs, "notifications")) {
    if (value?.type === "object") checkNotification(report, value);
  }
  if (check.part === undefined && directory !== undefined) checkIncluded(report, root, directory, check);
}

function checkName(report: ProblemReport, key: StringNode, section: string) {
  const length = lengthOf(key.value);
  if (/[\0\p{Surrogate}]/u.test(key.value)) {
    const message = `a name of ${quote(section)} has a character that no text of the log service has`;
    report.error("config/name", key.span, message, {
      hint: "write it without \\u0000 and halves of surrogate pairs",
      fix: report.suggest(key, key.value.replaceAll(/[\0\p{Surrogate}]/gu, "") || "ops"),
    });
    return;
  }
  if (key.value.trim() !== "" && length <= MAX_NAME_LENGTH) return;
  report.error(
    "config/empty-value",
    key.span,
    length > MAX_NAME_LENGTH
      ? `a name of ${quote(section)} has ${length} characters, the maximum is ${MAX_NAME_LENGTH}`
      : `a name of ${quote(section)} is blank`,
    { hint: "the log service shows it: write what people call it", fix: report.suggest(key, "ops") },
  );
}

/** As the operations of the log service have them. */
const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 4_096;
const MAX_CHANNEL_LENGTH = 255;
const MAX_RECIPIENTS = 100;

/** Characters, as a JSON Schema counts them. */
const lengthOf = (text: string) => [...text].length;

function checkLength(report: ProblemReport, node: Node | undefined, name: string, max: number) {
  if (node?.type !== "string" || lengthOf(node.value) <= max) return;
  report.error(
    "config/bounds",
    node.span,
    `${quote(name)} has ${lengthOf(node.value)} characters, the maximum is ${max}`,
    {
      hint: "write a shorter one",
      fix: report.suggest(node, [...node.value].slice(0, max).join("")),
    },
  );
}

function checkAlert(
  report: ProblemReport,
  root: ObjectNode,
  alert: ObjectNode,
  { meanings, memory, directory, part }: LogAlertsCheck & { readonly part: PartOf },
) {
  const query = memberOf(alert, "query")?.value;
  if (query?.type === "string") report.inside(query, memory.ofText("alert query", query.value, problemsOfAlertQuery));
  for (const [name, maxMs] of [
    ["interval", DAY_MS],
    ["repeat", 7 * DAY_MS],
  ] as const) {
    const node = memberOf(alert, name)?.value;
    checkMinutes(report, node, meanings, name);
    const ms = node?.type === "string" ? meanings.durationsMs.get(node) : undefined;
    if (ms === undefined || ms <= maxMs) continue;
    report.error("config/bounds", node!.span, `${quote(name)} is longer than ${formatDuration(maxMs)}`, {
      hint: `write a duration up to ${formatDuration(maxMs)}`,
      fix: report.suggest(node!, formatDuration(maxMs)),
    });
  }
  checkLength(report, memberOf(alert, "description")?.value, "description", MAX_DESCRIPTION_LENGTH);
  const notify = memberOf(alert, "notify")?.value;
  if (notify?.type === "string") checkNotify(report, root, notify, [...part.names.notifications.keys()]);
  const tests = memberOf(alert, "tests")?.value;
  for (const test of tests?.type === "array" && directory !== undefined ? tests.items : []) {
    const file = memberOf(test, "file")?.value;
    if (file?.type !== "string" || !isInside(file.value)) continue;
    if (leadsOut(file.value, directory!)) {
      reportLink(report, file, file.value);
      continue;
    }
    if (directory!.kind(file.value) === "file") continue;
    report.error("config/missing-file", file.span, `there is no file ${quote(file.value)}`, {
      hint: "tool logs --format json > FILE writes entries of the app to one; its path is from the folder of tool.json",
    });
  }
}

/** The problems that a query has only as the query of an alert. */
function problemsOfAlertQuery(text: string): readonly Problem[] {
  // Problems that it has as a query have been said.
  if (!parsePipeline(text).ok) return [];
  const parsed = parseAlertQuery(text);
  if (parsed.ok) return [];
  return parsed.problems.map((problem) => ({ ...problem, message: `the query of an alert ${problem.message}` }));
}

function checkNotify(report: ProblemReport, root: ObjectNode, notify: StringNode, names: readonly string[]) {
  if (names.includes(notify.value)) return;
  const near = didYouMean(notify.value, names);
  report.error("config/unknown-reference", notify.span, `no entry of notifications is called ${quote(notify.value)}`, {
    hint:
      near !== undefined
        ? `did you mean ${quote(near)}?`
        : names.length > 0
          ? `notifications has ${names.map((name) => quote(name)).join(", ")}`
          : 'add it to "notifications" of "logs"',
    fixes: [
      near === undefined ? undefined : report.replace(notify, near),
      ...(near === undefined ? names.slice(0, MAX_NAMES).map((name) => report.suggest(notify, name)) : []),
      near === undefined ? newNotification(report.source, root, notify.value) : undefined,
    ],
  });
}

// A longer list of fixes is no help.
const MAX_NAMES = 5;

/** A notification of the name that an alert refers to, after the others. */
function newNotification(source: string, root: ObjectNode, name: string): Fix | undefined {
  const logs = memberOf(root, "logs")?.value;
  if (name.trim() === "" || logs?.type !== "object") return undefined;
  const entry = `${JSON.stringify(name)}: ${spaced({ type: "email", email_addresses: ["ops@example.com"] })}`;
  const list = memberOf(logs, "notifications")?.value;
  if (list !== undefined && list.type !== "object") return undefined;
  const edit =
    list === undefined
      ? insertMember(source, logs, `"notifications": { ${entry} }`)
      : insertMember(source, list, entry);
  return { title: `Add the notification ${quote(name)}`, edits: [edit], isSuggestion: true };
}

function checkNotification(report: ProblemReport, notification: ObjectNode) {
  const type = memberOf(notification, "type")?.value;
  const own = type?.type === "string" && Object.hasOwn(MEMBERS, type.value) ? membersOf(type.value) : undefined;
  if (own !== undefined && memberOf(notification, own.needed) === undefined) {
    const example = spaced(exampleOf(own.needed));
    const { value } = type as StringNode;
    // With what another type needs it is one of that type.
    const others = TYPES.filter((other) => memberOf(notification, membersOf(other).needed) !== undefined);
    report.error("config/missing-key", type!.span, `a notification of type ${quote(value)} needs "${own.needed}"`, {
      hint: `add "${own.needed}": ${example}`,
      fixes: [
        ...others.map((other) => report.suggest(type!, other)),
        addition(report.source, notification, {
          name: own.needed,
          value: example,
          order: [own.needed, "slack_channel"],
        }),
      ],
    });
  }
  for (const member of notification.members) {
    const { key, value } = member;
    const owner = TYPES.find((name) => isMemberOf(membersOf(name), key.value));
    if (owner === undefined) continue;
    if (own !== undefined && !isMemberOf(own, key.value)) {
      const message = `${quote(key.value)} is for notifications of type "${owner}", this one's is ${quote((type as StringNode).value)}`;
      report.error("config/wrong-action-field", key.span, message, {
        hint: "remove it, or write a notification of its own",
        fix: removal(notification, member),
      });
    }
    const { needed, holds } = membersOf(owner);
    if (key.value !== needed) checkLength(report, value, key.value, MAX_CHANNEL_LENGTH);
    else if (holds === "recipients") checkRecipients(report, value, needed);
    else if (value?.type === "string") checkSecret(report, value, needed);
  }
}

const TYPES = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[];
const membersOf = (type: string): NotificationMembers => MEMBERS[type as keyof typeof MEMBERS];
const isMemberOf = ({ needed, optional }: NotificationMembers, name: string) => name === needed || name === optional;

function exampleOf(name: string): unknown {
  return resolve({ $ref: "#/definitions/log_notification" }).properties![name]!.examples![0];
}

function checkRecipients(report: ProblemReport, list: Node | undefined, name: string) {
  const recipients = list?.type === "array" ? list.items : [];
  if (recipients.length > MAX_RECIPIENTS) {
    report.error(
      "config/bounds",
      list!.span,
      `${quote(name)} has ${recipients.length} items, the maximum is ${MAX_RECIPIENTS}`,
      { hint: "write a second notification, or an address of a list" },
    );
  }
  for (const item of recipients) {
    if (item.type !== "string") continue;
    if (name === "sms_numbers") phoneProblem(report, item);
    else if (!isEmail(item.value)) {
      report.error("config/email", item.span, `${quote(item.value)} is not an email address`, {
        hint: "write one such as ops@example.com",
        fix: emailFix(report, item),
      });
    }
  }
}

/** Says nothing of the text: what is not the name of a secret may be the secret. */
function checkSecret(report: ProblemReport, node: StringNode, name: string) {
  if (/^\$[A-Za-z][A-Za-z0-9_]+$/.test(node.value)) return;
  const example = String(exampleOf(name));
  const isBareName = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(node.value);
  const secret = isBareName ? node.value : example.slice(1);
  report.error("config/literal-secret", node.span, `${quote(name)} is a secret, which tool.json does not hold`, {
    hint: `\`tool env add ${secret} - -s _service\` keeps it encrypted; then write "$${secret}" here`,
    fix: report.suggest(node, `$${secret}`),
  });
}

/**
 * Refuses what is not read from an included file, which is all but what the log service has by name. Returns the file without
 * it: nothing else that is wrong there matters. Unknown keys stay, as they may be misspelt ones.
 */
export function checkPart(report: ProblemReport, root: ObjectNode): ObjectNode {
  const sections: ReadonlySet<string> = new Set(LOG_SECTIONS);
  const only = `"logs" with ${LOG_SECTIONS.map(quote).join(", ")} is all that is`;
  const without = (object: ObjectNode, isRefused: (name: string) => boolean) => {
    const members = object.members.filter((member) => {
      const name = member.key.value;
      if (!isRefused(name)) return true;
      const isBare = object === root && sections.has(name);
      report.error("config/not-in-part", member.key.span, `${quote(name)} is not read from an included file`, {
        hint: isBare ? `write { "logs": { ${quote(name)}: ... } }` : `write it in tool.json: ${only}`,
        fix: removal(object, member),
      });
      return false;
    });
    return members.length === object.members.length ? object : { ...object, members };
  };
  const { properties = {} } = resolve({ $ref: "#/definitions/logs" });
  const kept = without(root, (name) => {
    const isKnown = Object.hasOwn(rootSchema.properties!, name) || sections.has(name);
    return isKnown && name !== "logs" && name !== "$schema";
  });
  const members = kept.members.map((member) => {
    if (member.key.value !== "logs" || member.value?.type !== "object") return member;
    return {
      ...member,
      value: without(member.value, (name) => !sections.has(name) && Object.hasOwn(properties, name)),
    };
  });
  return { ...kept, members };
}

function checkIncluded(
  report: ProblemReport,
  root: ObjectNode,
  directory: Directory,
  { problemsOf }: Pick<LogAlertsCheck, "problemsOf">,
) {
  const include = memberOf(memberOf(root, "logs")?.value, "include")?.value;
  const items = include?.type === "array" ? include.items : [];
  if (items.length === 0) return;
  const places = new Map<string, Node>();
  for (const item of items) {
    if (item.type !== "string" || !isInside(item.value)) continue;
    const { paths, isCut } = pathsOf(item.value, directory);
    // Alerts of a file that is left out would be removed from the log service by the next apply.
    if (isCut) {
      report.error(
        "config/too-many-files",
        item.span,
        `more than ${MAX_PARTS} files or folders match ${quote(item.value)}`,
        { hint: "put several queries, alerts and notifications into one file" },
      );
    }
    for (const path of paths) {
      if (leadsOut(path, directory)) reportLink(report, item, path);
      else if (!places.has(path)) places.set(path, item);
    }
    if (paths.length > 0) continue;
    const isPattern = item.value.includes("*");
    report[isPattern ? "warning" : "error"](
      "config/missing-file",
      item.span,
      isPattern ? `no file matches ${quote(item.value)}` : `there is no file ${quote(item.value)}`,
      { hint: "name a JSON file with queries, alerts or notifications, from the folder of tool.json" },
    );
  }
  const { names } = partOf(root, "tool.json", directory);
  for (const part of logParts(root, directory)) {
    const { path, text } = part;
    // Bytes that are not UTF-8 were replaced by it.
    const replacedAt = text.indexOf("\ufffd");
    const problems = problemsOf(text, { root, path, names });
    report.elsewhere(part, places.get(path)!.span, replacedAt === -1 ? problems : [notUtf8(replacedAt), ...problems]);
    places.delete(path);
  }
  for (const [path, { span }] of places) {
    if (path === "tool.json") continue;
    report.error("config/missing-file", span, `the file ${quote(path)} cannot be read`);
  }
}

function reportLink(report: ProblemReport, { span }: Node, path: string): void {
  report.error("config/path", span, `the link ${quote(path)} leads out of the project directory`, {
    hint: "copy the file into the project: others do not have what is elsewhere on this machine",
  });
}

const isInside = (path: string) =>
  path !== "" && !/^[/~]|^[A-Za-z]:|\\|\0/.test(path) && !path.split("/").includes("..");

function entries(logs: Node | undefined, section: string): readonly Member[] {
  const node = memberOf(logs, section)?.value;
  return node?.type === "object" ? node.members : [];
}
