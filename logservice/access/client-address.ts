import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Networks in CIDR whose X-Forwarded-For counts. Undefined if a text is not a network. */
export function readNetworks(texts: readonly string[]): BlockList | undefined {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", prefix] = text.split("/");
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (version === 0 || bits < 0 || bits > most) return undefined;
    list.addSubnet(address, bits, version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/**
 * The address of whoever sent the request: the end of the connection, or the last address in X-Forwarded-For that is not a
 * trusted proxy, if the connection comes from one. What comes before that address in the header anybody can write.
 */
export function clientAddressOf({ socket, headers }: IncomingMessage, trusted: BlockList | undefined): string {
  let address = plain(socket.remoteAddress ?? "");
  if (trusted === undefined) return address;
  const forwarded = String(headers["x-forwarded-for"] ?? "").split(",");
  while (isIn(trusted, address)) {
    const next = plain(forwarded.pop()?.trim() ?? "");
    if (isIP(next) === 0) break;
    address = next;
  }
  return address;
}

/** An IPv4 address that came over an IPv6 socket is the IPv4 address. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** What limits count: the address, or the network of 64 bits that one owner of IPv6 addresses has at least. */
export const networkOf = (address: string) => prefixOf(address, 4);

/** The address, or the network of 48 bits that one owner of IPv6 addresses often has. */
export const siteOf = (address: string) => prefixOf(address, 3);

function prefixOf(address: string, groupCount: number): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail = ""] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  if (address.includes("::")) while (groups.length + after.length < 8) groups.push("0");
  return [...groups, ...after].slice(0, groupCount).join(":");
}
