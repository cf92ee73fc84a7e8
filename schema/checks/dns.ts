import { quote } from "../../grammar/problem.ts";
import { memberOf, type Node, type ObjectNode, type StringNode } from "../json.ts";
import type { Report } from "../report.ts";
import { domainProblem } from "./domain.ts";

/** The form of a value, by record type: what is wrong with it, or undefined. */
type Form = (value: string) => string | undefined;

const FORMS: Readonly<Record<string, { form: Form; example: string; single?: true }>> = {
  A: { form: (value) => (isIpv4(value) ? undefined : "is no IPv4 address"), example: "192.0.2.1" },
  AAAA: { form: (value) => (isIpv6(value) ? undefined : "is no IPv6 address"), example: "2001:db8::1" },
  ALIAS: { form: hostname, example: "target.example.com", single: true },
  CNAME: { form: hostname, example: "target.example.com", single: true },
  NS: { form: hostname, example: "ns1.example.com" },
  PTR: { form: hostname, example: "host.example.com" },
  MX: { form: fields("u16 host"), example: "10 mail.example.com" },
  SRV: { form: fields("u16 u16 u16 host"), example: "1 10 5269 xmpp.example.com" },
  SOA: {
    form: fields("host host u32 u32 u32 u32 u32"),
    example: "ns.example.com admin.example.com 1 7200 900 1209600 86400",
    single: true,
  },
  CAA: { form: fields("u8 tag text"), example: '0 issue "ca.example"' },
  NAPTR: {
    form: fields("u16 u16 quoted quoted quoted host"),
    example: '100 10 "U" "" "!^.*$!sip:info@example.com!" .',
  },
  TXT: { form: text, example: "v=spf1 -all" },
  SPF: { form: text, example: "v=spf1 -all" },
};

/** Longest text of one record, all its strings together (Route 53 quotas). */
const MAX_TEXT_LENGTH = 4000;

export function checkDns(report: Report, dns: Node | undefined) {
  if (dns?.type !== "object") return;
  for (const { key: zone, value: records } of dns.members) {
    const wrong = domainProblem(zone.value);
    if (wrong !== undefined) report.error("config/domain", zone.span, wrong.message, { hint: wrong.hint });
    if (records?.type !== "array") continue;
    const sets = new Map<string, Set<string>>();
    for (const record of records.items) {
      if (record.type !== "object") continue;
      checkName(report, wrong === undefined ? zone.value : undefined, record, sets);
      checkValues(report, record);
    }
  }
}

function checkName(report: Report, zone: string | undefined, record: ObjectNode, sets: Map<string, Set<string>>) {
  const name = memberOf(record, "name")?.value;
  const type = memberOf(record, "type")?.value;
  if (name?.type !== "string") return;
  const wrong = domainProblem(name.value, { wildcard: true, underscores: true, topLevel: true });
  if (wrong !== undefined) {
    report.error("config/domain", name.span, wrong.message, {
      hint: wrong.hint,
      fix: wrong.fixed === undefined ? undefined : report.replace(name, wrong.fixed),
    });
    return;
  }
  const apex = zone === undefined ? undefined : canonical(zone);
  let full = canonical(name.value);
  if (apex !== undefined && full !== apex && !full.endsWith(`.${apex}`)) {
    // One label was meant below the zone, and goes on being checked as that.
    const meant = full.includes(".") ? undefined : `${full}.${apex}`;
    report.error("config/outside-zone", name.span, `${quote(name.value)} is not in the zone ${quote(zone!)}`, {
      hint: `write the full name: ${meant ?? `it ends with .${apex}`}`,
      fix: meant === undefined ? undefined : report.replace(name, meant),
    });
    if (meant === undefined) return;
    full = meant;
  }
  if (type?.type !== "string" || !Object.hasOwn(FORMS, type.value)) return;
  const others = sets.get(full) ?? new Set();
  sets.set(full, others);
  if (type.value === "CNAME" && full === apex) {
    report.error("config/cname", type.span, "the zone's own name cannot be a CNAME", { hint: "write ALIAS" });
  } else if (others.has(type.value)) {
    report.error("config/duplicate-record", name.span, `a second ${type.value} record is called ${quote(name.value)}`, {
      hint: "write all values in one record",
    });
  } else if (others.has("CNAME") || (type.value === "CNAME" && others.size > 0)) {
    report.error("config/cname", name.span, `${quote(name.value)} has a CNAME and another record`, {
      hint: "a CNAME stands alone (RFC 1034 section 3.6.2)",
    });
  }
  others.add(type.value);
}

function checkValues(report: Report, record: ObjectNode) {
  const type = memberOf(record, "type")?.value;
  const values = memberOf(record, "value")?.value;
  if (type?.type !== "string" || values?.type !== "array" || !Object.hasOwn(FORMS, type.value)) return;
  const { form, example, single } = FORMS[type.value]!;
  const seen = new Set<string>();
  const strings = values.items.filter((item): item is StringNode => item.type === "string" && item.value !== "");
  for (const [i, item] of strings.entries()) {
    const wrong = form(item.value);
    if (wrong !== undefined) {
      report.error("config/dns-value", item.span, `${quote(item.value)} ${wrong}`, { hint: `for example ${example}` });
    } else if (seen.has(item.value)) {
      report.error("config/dns-value", item.span, `${quote(item.value)} stands twice`, { hint: "remove one" });
    } else if (single && i > 0) {
      report.error("config/dns-value", item.span, `a record of type ${type.value} has one value`, {
        hint: "remove the others",
      });
    }
    seen.add(item.value);
  }
}

const canonical = (name: string) => name.toLowerCase().replace(/\.$/, "");

function isIpv4(value: string): boolean {
  const parts = value.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** RFC 4291 section 2.2: eight groups, one run of zeros written `::`, the last two perhaps as IPv4. */
export function isIpv6(value: string): boolean {
  const halves = value.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [h, half] of halves.entries()) {
    if (half === "") continue;
    const parts = half.split(":");
    for (const [i, part] of parts.entries()) {
      const last = h === halves.length - 1 && i === parts.length - 1;
      if (last && part.includes(".") && isIpv4(part)) groups += 2;
      else if (/^[0-9a-f]{1,4}$/i.test(part)) groups += 1;
      else return false;
    }
  }
  return halves.length === 2 ? groups <= 7 : groups === 8;
}

function hostname(value: string): string | undefined {
  return domainProblem(value, { underscores: true, topLevel: true }) === undefined ? undefined : "is no host name";
}

/** A value of blank-separated fields: numbers of a width, host names, quoted strings. */
function fields(shape: string): Form {
  const kinds = shape.split(" ");
  const noun: Record<string, string> = {
    u8: "number",
    u16: "number",
    u32: "number",
    host: "host",
    tag: "tag",
    text: "text",
    quoted: '"text"',
  };
  return (value) => {
    const parts = value.trim().match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
    const fits = parts.length === kinds.length && kinds.every((kind, i) => fieldFits(kind, parts[i]!));
    return fits ? undefined : `is not of the form ${kinds.map((kind) => noun[kind]).join(" ")}`;
  };
}

function fieldFits(kind: string, part: string): boolean {
  if (kind === "host") return part === "." || hostname(part) === undefined;
  if (kind === "tag") return /^[a-z0-9]+$/i.test(part);
  if (kind === "text") return part.length > 0;
  if (kind === "quoted") return /^".*"$/s.test(part);
  return /^\d{1,10}$/.test(part) && Number(part) < 2 ** Number(kind.slice(1));
}

function text(value: string): string | undefined {
  if (value.length > MAX_TEXT_LENGTH) return `is longer than ${MAX_TEXT_LENGTH} characters`;
  return /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value) ? "holds a control character" : undefined;
}
