import type { IncomingMessage } from "node:http";
import { parseIp, unmapped } from "../../grammar/address/ip.ts";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { isIn, type Network, parseNetwork } from "../../grammar/address/network.ts";

/** Networks in CIDR whose X-Forwarded-For counts. Undefined if a text is not a network. */
export function readNetworks(texts: readonly string[]): readonly Network[] | undefined {
  const networks = texts.map(parseNetwork);
  return networks.every((network) => network !== undefined) ? networks : undefined;
}

/**
 * The address of whoever sent the request: the end of the connection, or the last address in X-Forwarded-For that is not a
 * trusted proxy, if the connection comes from one. What comes before that address in the header anybody can write.
 */
export function clientAddressOf({ socket, headers }: IncomingMessage, trusted: readonly Network[] | undefined): string {
  let address = unmapped(socket.remoteAddress ?? "");
  if (trusted === undefined) return address;
  const forwarded = String(headers["x-forwarded-for"] ?? "").split(",");
  while (isInAny(trusted, address)) {
    const next = unmapped(forwarded.pop()?.trim() ?? "");
    if (parseIp(next) === undefined) break;
    address = next;
  }
  return address;
}

/** Whether connections from an address may be those of many clients: from a trusted proxy, or from this machine. */
export function isSharedAddress(address: string, trusted: readonly Network[] = []): boolean {
  return isLoopback(address) || isInAny(trusted, address);
}

function isInAny(networks: readonly Network[], address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && networks.some((network) => isIn(ip, network));
}

/**
 * The key that limits count by: the address, or the network of 64 bits that one owner of IPv6 addresses has at least.
 */
export const networkOf = (address: string) => prefixOf(address, 4);

/** The address, or the network of 48 bits that one owner of IPv6 addresses often has. */
export const siteOf = (address: string) => prefixOf(address, 3);

function prefixOf(address: string, groupCount: number): string {
  const ip = parseIp(address);
  if (ip?.version !== 6) return address;
  const groups = Array.from({ length: groupCount }, (_, at) => (ip.bits >> BigInt(112 - 16 * at)) & 0xffffn);
  return groups.map((group) => group.toString(16)).join(":");
}
