import { type Fix, quote } from "../../grammar/problem.ts";
import { insertItem, removeItem } from "../edits.ts";
import { type ArrayNode, memberOf, type Node, type ObjectNode, plainValue, type StringNode } from "../json.ts";
import { RECORD_EXAMPLES } from "../placeholders.ts";
import type { ProblemReport } from "../report.ts";
import { domainProblem } from "./domain.ts";

/** The form of a value, by record type: what is wrong with it, or undefined. */
type Form = (value: string) => string | undefined;

const FORMS: Readonly<Record<string, { form: Form; single?: true }>> = {
  A: { form: (value) => (isIpv4(value) ? undefined : "is not an IPv4 address") },
  AAAA: { form: (value) => (isIpv6(value) ? undefined : "is not an IPv6 address") },
  ALIAS: { form: hostname, single: true },
  CNAME: { form: hostname, single: true },
  NS: { form: hostname },
  PTR: { form: hostname },
  MX: { form: fields("u16 host") },
  SRV: { form: fields("u16 u16 u16 host") },
  SOA: { form: fields("host host u32 u32 u32 u32 u32"), single: true },
  CAA: { form: fields("u8 tag text") },
  NAPTR: { form: fields("u16 u16 quoted quoted quoted host") },
  TXT: { form: text },
  SPF: { form: text },
};

/** Longest text of one record, all its strings together (Route 53 quotas). */
const MAX_TEXT_LENGTH = 4000;

export function checkDns(report: ProblemReport, dns: Node | undefined) {
  if (dns?.type !== "object") return;
  for (const { key: zone, value: records } of dns.members) {
    const wrong = domainProblem(zone.value);
    if (wrong !== undefined) {
      report.error("config/domain", zone.span, wrong.message, {
        hint: wrong.hint,
        fix: wrong.fixed === undefined ? report.suggest(zone, wrong.near) : report.replace(zone, wrong.fixed),
      });
    }
    if (records?.type !== "array") continue;
    const sets = new Map<string, Map<string, ObjectNode>>();
    for (const record of records.items) {
      if (record.type !== "object") continue;
      checkName(report, { zone: wrong === undefined ? zone.value : undefined, records, record, sets });
      checkValues(report, record);
    }
  }
}

interface RecordPlace {
  /** Undefined if it is not a name. */
  readonly zone: string | undefined;
  readonly records: ArrayNode;
  readonly record: ObjectNode;
  /** The records before it: by name, then by type. */
  readonly sets: Map<string, Map<string, ObjectNode>>;
}

function checkName(report: ProblemReport, { zone, records, record, sets }: RecordPlace) {
  const name = memberOf(record, "name")?.value;
  const type = memberOf(record, "type")?.value;
  if (name?.type !== "string") return;
  const wrong = domainProblem(name.value, { wildcard: true, underscores: true, topLevel: true });
  if (wrong !== undefined) {
    report.error("config/domain", name.span, wrong.message, {
      hint: wrong.hint,
      fix:
        wrong.fixed === undefined
          ? report.suggest(name, wrong.near === undefined || zone === undefined ? wrong.near : inZone(wrong.near, zone))
          : report.replace(name, wrong.fixed),
    });
    return;
  }
  const apex = zone === undefined ? undefined : canonical(zone);
  let full = canonical(name.value);
  if (apex !== undefined && full !== apex && !full.endsWith(`.${apex}`)) {
    // A single label was meant as a name in the zone, and is checked as that from here on.
    const meant = full.includes(".") ? undefined : `${full}.${apex}`;
    report.error("config/outside-zone", name.span, `${quote(name.value)} is not in the zone ${quote(zone!)}`, {
      hint: `write the full name: ${meant ?? `it ends with .${apex}`}`,
      fix: meant === undefined ? report.suggest(name, inZone(full, apex)) : report.replace(name, meant),
    });
    if (meant === undefined) return;
    full = meant;
  }
  if (type?.type !== "string" || !Object.hasOwn(FORMS, type.value)) return;
  const others = sets.get(full) ?? new Map<string, ObjectNode>();
  sets.set(full, others);
  if (type.value === "CNAME" && full === apex) {
    report.error("config/cname", type.span, "the zone's own name cannot be a CNAME", {
      hint: "write ALIAS",
      fix: report.suggest(type, "ALIAS"),
    });
  } else if (others.has(type.value)) {
    report.error("config/duplicate-record", name.span, `a second ${type.value} record is called ${quote(name.value)}`, {
      hint: "write all values in one record",
      fix: mergeFix(report.source, { records, record }, others.get(type.value)!),
    });
  } else if (others.has("CNAME") || (type.value === "CNAME" && others.size > 0)) {
    report.error("config/cname", name.span, `${quote(name.value)} has a CNAME and another record`, {
      hint: "a CNAME cannot coexist with other records (RFC 1034 section 3.6.2)",
      fix: { title: "Remove this record", edits: [removeItem(records, record)], isSuggestion: true },
    });
  }
  if (!others.has(type.value)) others.set(type.value, record);
}

function checkValues(report: ProblemReport, record: ObjectNode) {
  const type = memberOf(record, "type")?.value;
  const values = memberOf(record, "value")?.value;
  if (type?.type !== "string" || values?.type !== "array" || !Object.hasOwn(FORMS, type.value)) return;
  const { form, single } = FORMS[type.value]!;
  const example = RECORD_EXAMPLES[type.value]!;
  const seen = new Set<string>();
  const strings = values.items.filter((item): item is StringNode => item.type === "string" && item.value !== "");
  for (const [i, item] of strings.entries()) {
    const wrong = form(item.value);
    if (wrong !== undefined) {
      report.error("config/dns-value", item.span, `${quote(item.value)} ${wrong}`, {
        hint: `for example ${example}`,
        fixes: [cleanValue(item.value, type.value, form), example].map((value) => report.suggest(item, value)),
      });
    } else if (seen.has(item.value)) {
      report.error("config/dns-value", item.span, `${quote(item.value)} is listed twice`, {
        hint: "remove one",
        fix: { title: "Remove it", edits: [removeItem(values, item)] },
      });
    } else if (single && i > 0) {
      report.error("config/dns-value", item.span, `a record of type ${type.value} has one value`, {
        hint: "remove the others",
        fix: { title: `Remove ${quote(item.value)}`, edits: [removeItem(values, item)], isSuggestion: true },
      });
    }
    seen.add(item.value);
  }
}

/** The name below the zone's own. */
function inZone(name: string, zone: string): string {
  const apex = canonical(zone);
  const plain = canonical(name);
  if (plain === apex || plain.endsWith(`.${apex}`)) return plain;
  const labels = apex.split(".").length;
  const own = plain.split(".");
  return `${own.slice(0, Math.max(1, own.length - labels)).join(".")}.${apex}`;
}

/** Puts the values of a record into the one before it, where they are not there already, and takes the record out. */
function mergeFix(
  source: string,
  { records, record }: { records: ArrayNode; record: ObjectNode },
  first: ObjectNode,
): Fix {
  const [values, own] = [first, record].map((one) => memberOf(one, "value")?.value);
  const gone = removeItem(records, record);
  const isSame = JSON.stringify(plainValue(record)) === JSON.stringify(plainValue(first));
  if (isSame || values?.type !== "array" || own?.type !== "array") {
    return { title: "Remove this record", edits: [gone], ...(!isSame && { isSuggestion: true }) };
  }
  const existing = values.items.map((item) => (item.type === "string" ? item.value : ""));
  const added = own.items.filter((item) => item.type !== "string" || !existing.includes(item.value));
  const text = added.map(({ span }) => source.slice(span.start, span.end)).join(", ");
  const ttl = (one: ObjectNode) =>
    JSON.stringify(memberOf(one, "ttl")?.value && plainValue(memberOf(one, "ttl")!.value!));
  return {
    title: "Write all values in one record",
    edits: [gone, ...(text === "" ? [] : [insertItem(source, values, text)])],
    ...(ttl(record) !== ttl(first) && { isSuggestion: true }),
  };
}

/** The value without scheme, path and blanks, or with the number that its type has before the host. */
function cleanValue(value: string, type: string, form: Form): string | undefined {
  const plain = value
    .trim()
    .replace(/\b[a-z]+:\/\//gi, "")
    .replace(/\s+/g, " ");
  const host = plain.replace(/[/?#].*$/, "").replace(/:\d+$/, "");
  const parted = plain.replace(/[,;]+/g, " ").replace(/ +/g, " ").trim();
  const candidates = [
    plain,
    host,
    host.replace(/\.{2,}/g, ".").replace(/^\.|\.$/g, ""),
    parted,
    plain.replace(/[\u0000-\u001f\u007f]/g, ""),
    ...(type === "MX" ? [`10 ${host}`, parted.replace(/^(\S+) (\d+)$/, "$2 $1")] : []),
    ...(type === "CAA" ? [`0 ${plain}`, `0 issue "${host.replace(/"/g, "")}"`] : []),
    ...(type === "A" ? [parted.replaceAll(" ", "."), host.replace(/\b0+(?=\d)/g, "")] : []),
  ];
  return candidates.find((candidate) => candidate !== value && candidate !== "" && form(candidate) === undefined);
}

const canonical = (name: string) => name.toLowerCase().replace(/\.$/, "");

function isIpv4(value: string): boolean {
  const parts = value.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** RFC 4291 section 2.2: eight groups, one run of zeros written `::`, the last two perhaps as IPv4. */
function isIpv6(value: string): boolean {
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
  return domainProblem(value, { underscores: true, topLevel: true }) === undefined ? undefined : "is not a host name";
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
  return /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value) ? "contains a control character" : undefined;
}
