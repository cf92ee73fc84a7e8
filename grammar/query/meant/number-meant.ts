import { meantByteUnit } from "../../units/bytes.ts";
import { meantDurationUnit } from "../../units/duration.ts";

/** The number that a text was meant to be, as a query writes it: `50O` is 500, `5sec` is 5s. Undefined for any other text. */
export function numberMeant(text: string, type: "number" | "duration" | "bytes"): string | undefined {
  const digits = text.replace(/[oO]/g, "0").replace(/[lI|]/g, "1");
  if (/\d/.test(text) && /^\d{1,15}$/.test(digits)) return digits;
  if (type === "number") return STATUS_WORDS[text.toLowerCase().replace(/[ _-]/g, "")];
  const [, number, word] = /^(\d{1,15}(?:\.\d+)?)\s*([a-z]+)$/i.exec(text) ?? [];
  if (number === undefined) return undefined;
  const unit = type === "bytes" ? meantByteUnit(word!) : meantDurationUnit(word!);
  return unit === undefined || unit === "M" ? undefined : `${number}${unit}`;
}

/** The reasons of a few statuses. */
const STATUS_WORDS: Readonly<Record<string, string>> = {
  badrequest: "400",
  created: "201",
  forbidden: "403",
  notfound: "404",
  ok: "200",
  unauthorized: "401",
};
