// Values as JSON, by their shapes: times are seconds, bytes are base64.
import type { NormalizedSchema } from "@smithy/core/schema";

/** `usesJsonName`: REST services call some members otherwise on the wire. */
export function fromJson(schema: NormalizedSchema, value: unknown, usesJsonName: boolean): unknown {
  if (value === null || value === undefined) return undefined;
  if (schema.isStructSchema()) {
    const found: Record<string, unknown> = {};
    for (const [name, member] of schema.structIterator()) {
      const own = fromJson(
        member,
        (value as Record<string, unknown>)[wireName(name, member, usesJsonName)],
        usesJsonName,
      );
      if (own !== undefined) found[name] = own;
    }
    return found;
  }
  if (schema.isListSchema()) {
    return (value as unknown[]).map((one) => fromJson(schema.getValueSchema(), one, usesJsonName));
  }
  if (schema.isMapSchema()) {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, fromJson(schema.getValueSchema(), one, usesJsonName)]),
    );
  }
  if (schema.isBlobSchema()) return Buffer.from(value as string, "base64");
  if (schema.isTimestampSchema()) return new Date(typeof value === "number" ? value * 1000 : (value as string));
  return value;
}

export function toJson(schema: NormalizedSchema, value: unknown, usesJsonName: boolean): unknown {
  if (value === null || value === undefined) return undefined;
  if (schema.isStructSchema()) {
    const written: Record<string, unknown> = {};
    for (const [name, member] of schema.structIterator()) {
      const own = toJson(member, (value as Record<string, unknown>)[name], usesJsonName);
      if (own !== undefined) written[wireName(name, member, usesJsonName)] = own;
    }
    return written;
  }
  if (schema.isListSchema())
    return (value as unknown[]).map((one) => toJson(schema.getValueSchema(), one, usesJsonName));
  if (schema.isMapSchema()) {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, toJson(schema.getValueSchema(), one, usesJsonName)]),
    );
  }
  if (schema.isBlobSchema()) return Buffer.from(value as Uint8Array).toString("base64");
  if (schema.isTimestampSchema()) {
    const time = value as Date;
    return schema.getMergedTraits().timestampFormat === "date-time" ? time.toISOString() : time.getTime() / 1000;
  }
  return value;
}

function wireName(name: string, member: NormalizedSchema, usesJsonName: boolean): string {
  return (usesJsonName && member.getMergedTraits().jsonName) || name;
}
