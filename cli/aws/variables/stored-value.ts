// How a value is kept in parameters of Systems Manager. An ordinary value is the parameter's value as it is, so that other
// programs can read and write it. What the store refuses or might change is encoded: an empty value, one over 4 KB, one
// with spaces at its ends or with the braces that the store reserves.

/** "Standard parameters: 4 KB" (Systems Manager quotas). The service counts characters in one place and bytes in another. */
export const MAX_PARAMETER_BYTES = 4096;

/** Begins an encoded value. A value that begins so itself is encoded, too. */
const MARK = "tool:v1:";

/** The contents of the parameter with the variable's own name, and of the parameters below it. */
export interface StoredValue {
  readonly head: string;
  /** In the order of the value; empty unless it takes more than one parameter. */
  readonly parts: readonly string[];
}

/** `partsId` names the parts: another one for each writing, so that readers never see parts of two values. */
export function encodeValue(value: string, partsId: string): StoredValue {
  if (isKeptAsItIs(value)) return { head: value, parts: [] };
  const encoded = Buffer.from(value, "utf8").toString("base64");
  const text = `${MARK}text:${encoded}`;
  if (text.length <= MAX_PARAMETER_BYTES) return { head: text, parts: [] };
  const parts = slices(encoded);
  return { head: partsHead(partsId, parts.length), parts };
}

export const partsHead = (partsId: string, count: number) => `${MARK}parts:${partsId}:${count}`;

/** The one part of an empty value, as no parameter is empty. */
export const EMPTY_PART = "=";

/** A text of ASCII in pieces that each fit one parameter. */
export function slices(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += MAX_PARAMETER_BYTES) pieces.push(text.slice(at, at + MAX_PARAMETER_BYTES));
  return pieces;
}

/** The meaning of a head: the value, or where its parts are. Undefined if it is damaged, or a later version's. */
export type Decoded =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "parts"; readonly id: string; readonly count: number };

export function decodeHead(head: string): Decoded | undefined {
  if (!head.startsWith(MARK)) return { kind: "value", value: head };
  const [, kind, rest = ""] = /^(text|parts):(.*)$/.exec(head.slice(MARK.length)) ?? [];
  if (kind === "text") return isBase64(rest) ? { kind: "value", value: decodeParts([rest]) } : undefined;
  const [, id, count] = /^([0-9a-f]+|pending\.\d+):([1-9]\d{0,2})$/.exec(rest) ?? [];
  return kind === "parts" && id !== undefined ? { kind: "parts", id, count: Number(count) } : undefined;
}

export function decodeParts(parts: readonly string[]): string {
  return Buffer.from(parts.join(""), "base64").toString("utf8");
}

/** Buffer.from skips other characters. */
const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

/** The path below the variable's own. */
export const partName = (id: string, n: number) => `${id}/${n}`;

function isKeptAsItIs(value: string): boolean {
  if (value === "" || Buffer.byteLength(value) > MAX_PARAMETER_BYTES) return false;
  // Braces name another parameter. Control characters other than the usual ones do not survive every client.
  return (
    value.trim() === value && !/\{\{|\}\}|[\u0000-\u0008\u000b-\u001f\u007f]/.test(value) && !value.startsWith(MARK)
  );
}
