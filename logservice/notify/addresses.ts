import { type IpAddress, parseIp } from "../../grammar/address/ip.ts";
import { isIn, type Network, parseNetwork } from "../../grammar/address/network.ts";

/**
 * Who may be reached at an IP address: anybody; whoever shares a network with the service; or nothing that a target could
 * be, such as the service of a cloud that hands out credentials.
 */
export type Reach = "public" | "private" | "never";

/**
 * The reach of an IP address, by the registries of special addresses (RFC 6890 and IANA's lists). An IPv6 address that holds an
 * IPv4 address has the reach of that one. What is not an address reaches nothing.
 */
export function reachOf(address: string): Reach {
  const ip = parseIp(address);
  // A zone is a name of an interface: what it leads to is on a link.
  if (ip === undefined || ip.zone !== undefined) return "never";
  return ip.version === 4 ? reachOfV4(ip.bits) : reachOfV6(ip);
}

interface Block {
  readonly network: Network;
  readonly reach: Reach;
}

function blocks(reach: Reach, ...texts: readonly string[]): Block[] {
  return texts.map((text) => ({ network: parseNetwork(text)!, reach }));
}

/** The first block that holds an address decides. */
const V4: readonly Block[] = [
  // Services of clouds for their own machines: Alibaba's credentials, and the agent of Azure, whose address looks public.
  ...blocks("never", "100.100.100.200/32", "168.63.129.16/32"),
  // This network; link-local, where most clouds hand out credentials; protocol assignments; documentation; relays of 6to4;
  // multicast; reserved.
  ...blocks("never", "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
  ...blocks("never", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
  // Loopback, private networks, carriers' networks, benchmarks.
  ...blocks(
    "private",
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "198.18.0.0/15",
  ),
];

const V6: readonly Block[] = [
  // Credentials of AWS and of Google's cloud.
  ...blocks("never", "fd00:ec2::254/128", "fd20:ce::254/128"),
  ...blocks("private", "::1/128", "fc00::/7", "fec0::/10"),
  // NAT64 of a network's own (RFC 8215), where nobody else knows which IPv4 address is meant; protocol assignments without
  // Teredo's, which is unpacked before; documentation.
  ...blocks("never", "64:ff9b:1::/48", "2001::/23", "2001:db8::/32", "3fff::/20"),
  ...blocks("public", "2000::/3"),
];

function reachOfV4(bits: bigint): Reach {
  const ip: IpAddress = { version: 4, bits, zone: undefined };
  return V4.find(({ network }) => isIn(ip, network))?.reach ?? "public";
}

function reachOfV6(ip: IpAddress): Reach {
  const form = FORMS.find(({ block }) => isIn(ip, block.network));
  if (form !== undefined) return narrowest([form.block.reach, ...form.inner(ip.bits).map(reachOfV4)]);
  // Outside of the addresses that are given out (2000::/3), an address that no block names reaches nothing.
  return V6.find(({ network }) => isIn(ip, network))?.reach ?? "never";
}

/** IPv6 addresses that hold IPv4 addresses, and where. */
const FORMS: readonly { readonly block: Block; inner(bits: bigint): readonly bigint[] }[] = [
  // Mapped, translated (RFC 2765) and NAT64 (RFC 6052): the last 32 bits.
  ...blocks("public", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96").map((block) => ({
    block,
    inner: (bits: bigint) => [v4At(bits, 96)],
  })),
  // 6to4 (RFC 3056).
  ...blocks("public", "2002::/16").map((block) => ({ block, inner: (bits: bigint) => [v4At(bits, 16)] })),
  // Teredo (RFC 4380): the server, and the client with its bits inverted.
  ...blocks("public", "2001::/32").map((block) => ({
    block,
    inner: (bits: bigint) => [v4At(bits, 32), v4At(bits, 96) ^ 0xffff_ffffn],
  })),
];

function narrowest(reaches: readonly Reach[]): Reach {
  return (["never", "private"] as const).find((reach) => reaches.includes(reach)) ?? "public";
}

/** The 32 bits of an IPv6 address from a bit that is counted from its start. */
function v4At(bits: bigint, start: number): bigint {
  return (bits >> BigInt(96 - start)) & 0xffff_ffffn;
}
