// Values as XML, by their shapes. What is read is what the SDK writes: elements, attributes and text.
import { type Shape, type ShapeKind, timeOf } from "./shape.ts";

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

export function parseXml(source: string): Element {
  const root = { name: "", attributes: {}, children: [] as Element[], text: "" };
  const open = [root];
  const pattern =
    /<\?[^>]*\?>|<!--[\s\S]*?-->|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/g;
  for (const [, closes, name, attributes = "", isEmpty, text] of source.matchAll(pattern)) {
    const parent = open[open.length - 1]!;
    if (text !== undefined) parent.text += unescapeXml(text);
    if (name === undefined) continue;
    if (closes) {
      open.pop();
      continue;
    }
    const element = { name, attributes: attributesOf(attributes), children: [] as Element[], text: "" };
    parent.children.push(element);
    if (!isEmpty) open.push(element);
  }
  const [top] = root.children;
  if (top === undefined || open.length !== 1) throw new Error(`no XML: ${source.slice(0, 80)}`);
  return top;
}

function attributesOf(source: string): Record<string, string> {
  const pairs = source.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
  return Object.fromEntries(
    Array.from(pairs, ([, name, double, single]) => [name!, unescapeXml(double ?? single ?? "")]),
  );
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? whole;
  });
}

export function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\r", "&#xD;");
}

export function fromXml(shape: Shape, element: Element): unknown {
  if (shape.kind === "struct") {
    const struct: Record<string, unknown> = {};
    for (const [name, member] of shape.members) {
      const { xmlName = name, xmlAttribute, xmlFlattened } = member.traits;
      if (xmlAttribute) {
        const value = element.attributes[xmlName];
        if (value !== undefined) struct[name] = fromText(member, value);
        continue;
      }
      const own = element.children.filter((child) => child.name === xmlName);
      if (own.length === 0) continue;
      struct[name] =
        xmlFlattened && member.kind === "list" ? own.map((one) => fromXml(member.item, one)) : fromXml(member, own[0]!);
    }
    return struct;
  }
  if (shape.kind === "list") return element.children.map((child) => fromXml(shape.item, child));
  if (shape.kind === "map") {
    const pairs = element.children.map(({ children: [key, value] }) => [key!.text, fromXml(shape.item, value!)]);
    return Object.fromEntries(pairs);
  }
  return fromText(shape, element.text);
}

/** A simple value from its text: in XML, in a form, in a header, in a path. */
export function fromText(shape: Shape, text: string): unknown {
  if (shape.kind === "boolean") return text === "true";
  if (shape.kind === "number") return Number(text);
  if (shape.isBlob) return Buffer.from(text, "base64");
  if (shape.isTime) return new Date(/^[\d.]+$/.test(text) ? Number(text) * 1000 : text);
  return text;
}

/** The element of a value, or none if it is undefined. */
export function toXml(name: string, shape: Shape, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (shape.kind === "struct") {
    let attributes = "";
    let content = "";
    for (const [memberName, member] of shape.members) {
      const own = (value as Record<string, unknown>)[memberName];
      if (own === undefined || own === null) continue;
      const { xmlName = memberName, xmlAttribute, xmlFlattened } = member.traits;
      if (xmlAttribute) attributes += ` ${xmlName}="${escapeXml(toText(member, own))}"`;
      else if (xmlFlattened && member.kind === "list") {
        for (const one of own as unknown[]) content += toXml(xmlName, member.item, one);
      } else content += toXml(xmlName, member, own);
    }
    return `<${name}${attributes}>${content}</${name}>`;
  }
  if (shape.kind === "list") {
    const item = shape.item;
    const itemName = item.traits.xmlName ?? "member";
    return `<${name}>${(value as unknown[]).map((one) => toXml(itemName, item, one)).join("")}</${name}>`;
  }
  if (shape.kind === "map") {
    const keyName = shape.key.traits.xmlName ?? "key";
    const valueName = shape.item.traits.xmlName ?? "value";
    const entries = Object.entries(value).map(
      ([key, one]) => `<entry><${keyName}>${escapeXml(key)}</${keyName}>${toXml(valueName, shape.item, one)}</entry>`,
    );
    return `<${name}>${entries.join("")}</${name}>`;
  }
  return `<${name}>${escapeXml(toText(shape, value))}</${name}>`;
}

export function toText(shape: Shape, value: unknown, usualTime: ShapeKind = "date-time"): string {
  if (value instanceof Date) return String(timeOf(shape, value, usualTime));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return String(value);
}
