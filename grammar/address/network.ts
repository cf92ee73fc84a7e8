import { type IpAddress, parseIp } from "./ip.ts";

/** The addresses that begin with the same bits. */
export interface Network {
  readonly version: 4 | 6;
  /** The bits that all of them begin with, as a number. */
  readonly first: bigint;
  /** The number of the bits that differ. */
  readonly hostBits: bigint;
}

/** Reads `10.0.0.0/8` or `fd00::/8`; an address alone is a network of one. Undefined if the text is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = "", prefix] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const ip = parseIp(address);
  if (ip === undefined) return undefined;
  const length = lengthOf(ip);
  const bits = prefix === undefined ? length : BigInt(prefix);
  if (bits > length) return undefined;
  const hostBits = length - bits;
  return { version: ip.version, first: ip.bits >> hostBits, hostBits };
}

/** Whether an address is in a network. A zone is not looked at. */
export function isIn({ version, bits }: IpAddress, network: Network): boolean {
  return version === network.version && bits >> network.hostBits === network.first;
}

const lengthOf = ({ version }: IpAddress) => (version === 4 ? 32n : 128n);
