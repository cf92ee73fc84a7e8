import { spaced } from "./edits.ts";
import { memberOf, type Node, type ObjectNode } from "./json.ts";
import type { Schema } from "./keywords.ts";
import { MEMBERS } from "./notification-members.ts";

/** An example of a value for each type of DNS record. */
export const RECORD_EXAMPLES: Readonly<Record<string, string>> = {
  A: "192.0.2.1",
  AAAA: "2001:db8::1",
  ALIAS: "target.example.com",
  CNAME: "target.example.com",
  NS: "ns1.example.com",
  PTR: "host.example.com",
  MX: "10 mail.example.com",
  SRV: "1 10 5269 xmpp.example.com",
  SOA: "ns.example.com admin.example.com 1 7200 900 1209600 86400",
  CAA: '0 issue "ca.example"',
  NAPTR: '100 10 "U" "" "!^.*$!sip:info@example.com!" .',
  TXT: "v=spf1 -all",
  SPF: "v=spf1 -all",
};

/**
 * JSON for a setting that lacks its value: what the rest of the file tells, else the default, else the schema's first
 * example. `path` leads to the setting, whose object is `owner`.
 */
export function placeholder(root: Node, owner: Node, path: readonly string[], schema: Schema): string | undefined {
  const derived = derivedValue(root, owner, path);
  if (derived !== undefined) return spaced(derived);
  const usual = isEmpty(schema.default) ? undefined : schema.default;
  const value = usual ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0];
  return value === undefined ? undefined : spaced(value);
}

/** A default that says that there is nothing. */
const isEmpty = (value: unknown) =>
  value === undefined ||
  value === "" ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);

function derivedValue(root: Node, owner: Node, path: readonly string[]): unknown {
  const [section, key] = path;
  const name = path.at(-1);
  if (section === "alerts" && name === "action") return configActionNames(root)[0];
  if (section === "logs" && path[1] === "alerts" && name === "notify") return notificationNames(root)[0];
  if (section === "logs" && path[1] === "notifications" && name === "type") {
    return Object.entries(MEMBERS).find(([, { needed }]) => memberOf(owner, needed) !== undefined)?.[0];
  }
  if (section === "actions" && name === "name") {
    return danglingName(root) ?? freeName(configActionNames(root), textOf(owner, "type") ?? "ops");
  }
  if (section === "actions" && name === "type") {
    const types = { emails: "email", numbers: "sms", url: "chat", channel: "chat" };
    return Object.entries(types).find(([field]) => memberOf(owner, field) !== undefined)?.[1];
  }
  if (section === "dns" && path.length > 2) {
    if (name === "name") return key;
    if (name === "value") return [RECORD_EXAMPLES[textOf(owner, "type") ?? ""] ?? RECORD_EXAMPLES.A];
    if (name === "type") {
      const type = recordType(firstText(memberOf(owner, "value")?.value));
      return type === "CNAME" && textOf(owner, "name") === key ? "ALIAS" : type;
    }
  }
  if (section === "inject" && name === "type") return injectionType(owner as ObjectNode);
  // A rule that leads to itself is none.
  if (section === "redirects" && name === "location") return key?.startsWith("/help") ? "/" : undefined;
  return undefined;
}

/** A record's type as its first value tells it. */
function recordType(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+){3}$/.test(value)) return "A";
  if (/^[0-9a-f:]*:[0-9a-f:]*$/i.test(value)) return "AAAA";
  if (/^\d+ \d+ \d+ \S+$/.test(value)) return "SRV";
  if (/^\d+ \S+$/.test(value)) return "MX";
  if (/^\d+ \w+ "/.test(value)) return "CAA";
  return /^[\w.-]+\.[a-z]{2,}\.?$/i.test(value) ? "CNAME" : "TXT";
}

function injectionType(item: ObjectNode): string | undefined {
  const [value, file] = [textOf(item, "value"), textOf(item, "file")];
  if (file !== undefined)
    return file.endsWith(".css") ? "inline style" : file.endsWith(".js") ? "inline script" : "literal";
  if (value === undefined) return undefined;
  if (/^\s*</.test(value)) return "literal";
  if (/^[^\s{}<]+\.css([?#]|$)/.test(value)) return "style";
  if (/^(\/|https?:)\S+$|^\S+\.m?js([?#]|$)/.test(value)) return "script";
  if (/^(UA|G|GTM)-[\w-]+$/.test(value)) return "analytics";
  return /\{[^}]*:[^}]*\}/.test(value) ? "inline style" : undefined;
}

export function configActionNames(root: Node): string[] {
  const actions = memberOf(root, "actions")?.value;
  return actions?.type === "array" ? actions.items.flatMap((action) => textOf(action, "name") ?? []) : [];
}

/** The names of `logs.notifications`. */
function notificationNames(root: Node | undefined): string[] {
  const notifications = memberOf(memberOf(root, "logs")?.value, "notifications")?.value;
  return notifications?.type === "object" ? notifications.members.map(({ key }) => key.value) : [];
}

/** A name that an alert refers to, and no action has. */
function danglingName(root: Node): string | undefined {
  const alerts = memberOf(root, "alerts")?.value;
  const names = configActionNames(root);
  const used = alerts?.type === "array" ? alerts.items.flatMap((alert) => textOf(alert, "action") ?? []) : [];
  return used.find((name) => name !== "" && !names.includes(name));
}

/** A name that is not among those, by a number at its end. */
export function freeName(taken: readonly string[], name: string): string {
  let free = name;
  for (let i = 2; taken.includes(free); i++) free = `${name}-${i}`;
  return free;
}

function textOf(node: Node | undefined, name: string): string | undefined {
  const value = memberOf(node, name)?.value;
  return value?.type === "string" ? value.value : undefined;
}

const firstText = (node: Node | undefined) => {
  const first = node?.type === "array" ? node.items[0] : node;
  return first?.type === "string" ? first.value : undefined;
};
