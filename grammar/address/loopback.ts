import { parseIp } from "./ip.ts";

/**
 * Whether a host is this machine itself, by its spelling: an address of 127.0.0.0/8, ::1, or localhost and the names below it
 * (RFC 6761, section 6.3), in any case. An IPv6 address may be in brackets, as in a URL. No name is looked up: one that leads
 * to this machine now may lead elsewhere tomorrow.
 *
 * Plain HTTP, unverified certificates and headers that are believed depend on this, so whatever programs do not agree on is
 * not loopback: `127.1`, `localhost.`, an address with a zone, a mapped IPv4 address (see `unmapped`), and 0.0.0.0.
 */
export function isLoopback(host: string): boolean {
  const inBrackets = /^\[(.*:.*)\]$/.exec(host)?.[1];
  const ip = parseIp(inBrackets ?? host);
  if (ip === undefined) return LOCALHOST.test(host);
  if (ip.version === 4) return ip.bits >> 24n === 127n;
  return ip.bits === 1n && ip.zone === undefined;
}

/** Labels of a name in ASCII, where browsers and resolvers take underscores too. */
const LOCALHOST = /^(?:[a-z\d_-]{1,63}\.)*localhost$/i;
