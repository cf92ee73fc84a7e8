export interface IpAddress {
  readonly version: 4 | 6;
  /** The 32 or 128 bits of the address. */
  readonly bits: bigint;
  /** The interface that an IPv6 address is of, as in `fe80::1%eth0`. */
  readonly zone: string | undefined;
}

/**
 * Reads an IP address: four decimal numbers, or any spelling of RFC 4291, section 2.2, with a zone (RFC 4007) if it has one.
 * Undefined for anything else, such as `127.1` and `0177.0.0.1`: programs do not agree what those are.
 */
export function parseIp(text: string): IpAddress | undefined {
  const v4 = bitsOfV4(text);
  if (v4 !== undefined) return { version: 4, bits: v4, zone: undefined };
  const [, address = "", zone] = /^([\da-f:.]+)(?:%([\w.~-]+))?$/i.exec(text) ?? [];
  const bits = bitsOfV6(address);
  return bits === undefined ? undefined : { version: 6, bits, zone };
}

/** The text of an IP address, for one that came over a socket of the other version: a mapped one is the IPv4 address. */
export function unmapped(text: string): string {
  const ip = text.includes(":") ? parseIp(text) : undefined;
  if (ip === undefined || ip.zone !== undefined || ip.bits >> 32n !== MAPPED) return text;
  return [24n, 16n, 8n, 0n].map((shift) => (ip.bits >> shift) & 0xffn).join(".");
}

/** The leading bits of ::ffff:0:0/96 (RFC 4291, section 2.5.5.2). */
const MAPPED = 0xffffn;

const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d\d|\d)(?:\.(?!$)|$)){4}$/;

function bitsOfV4(text: string): bigint | undefined {
  if (!V4.test(text) || /(?:^|\.)0\d/.test(text)) return undefined;
  return text.split(".").reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}

function bitsOfV6(text: string): bigint | undefined {
  const last = text.slice(text.lastIndexOf(":") + 1);
  const v4 = bitsOfV4(last);
  const hex =
    v4 === undefined
      ? text
      : `${text.slice(0, -last.length)}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  const halves = hex.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const [head = [], tail = []] = halves;
  const missing = 8 - head.length - tail.length;
  // `::` is at least one group of zeros.
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}
