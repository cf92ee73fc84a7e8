// Values as JSON, by their shapes: times are seconds, bytes are base64.
import { type Shape, timeOf } from "./shape.ts";

/** `usesJsonName`: REST services call some members otherwise on the wire. */
export function fromJson(shape: Shape, value: unknown, usesJsonName: boolean): unknown {
  if (value === null || value === undefined) return undefined;
  if (shape.kind === "struct") {
    const struct: Record<string, unknown> = {};
    for (const [name, member] of shape.members) {
      const own = fromJson(
        member,
        (value as Record<string, unknown>)[wireName(name, member, usesJsonName)],
        usesJsonName,
      );
      if (own !== undefined) struct[name] = own;
    }
    return struct;
  }
  if (shape.kind === "list") {
    return (value as unknown[]).map((one) => fromJson(shape.item, one, usesJsonName));
  }
  if (shape.kind === "map") {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, fromJson(shape.item, one, usesJsonName)]),
    );
  }
  if (shape.isBlob) return Buffer.from(value as string, "base64");
  if (shape.isTime) return new Date(typeof value === "number" ? value * 1000 : (value as string));
  return value;
}

export function toJson(shape: Shape, value: unknown, usesJsonName: boolean): unknown {
  if (value === null || value === undefined) return undefined;
  if (shape.kind === "struct") {
    const written: Record<string, unknown> = {};
    for (const [name, member] of shape.members) {
      const own = toJson(member, (value as Record<string, unknown>)[name], usesJsonName);
      if (own !== undefined) written[wireName(name, member, usesJsonName)] = own;
    }
    return written;
  }
  if (shape.kind === "list") return (value as unknown[]).map((one) => toJson(shape.item, one, usesJsonName));
  if (shape.kind === "map") {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toJson(shape.item, one, usesJsonName)]));
  }
  if (shape.isBlob) return Buffer.from(value as Uint8Array).toString("base64");
  if (shape.isTime) return timeOf(shape, value as Date, "epoch-seconds");
  return value;
}

function wireName(name: string, member: Shape, usesJsonName: boolean): string {
  return (usesJsonName && member.traits.jsonName) || name;
}
