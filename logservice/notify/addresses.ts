import { isIP } from "node:net";

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
  const family = isIP(address);
  if (family === 4) return reachOfV4(bitsOfV4(address));
  // A zone is a name of an interface: what it leads to is on a link.
  return family === 6 && !address.includes("%") ? reachOfV6(bitsOfV6(address)) : "never";
}

/** A block of addresses: the bits of its first address, and how many of the leading ones count. */
interface Block {
  readonly first: bigint;
  readonly prefix: number;
  readonly reach: Reach;
}

const v4 = (reach: Reach, ...texts: readonly string[]) => blocks(reach, texts, bitsOfV4);
const v6 = (reach: Reach, ...texts: readonly string[]) => blocks(reach, texts, bitsOfV6);

function blocks(reach: Reach, texts: readonly string[], bitsOf: (address: string) => bigint): Block[] {
  return texts.map((text) => {
    const [address, prefix] = text.split("/") as [string, string];
    return { first: bitsOf(address), prefix: Number(prefix), reach };
  });
}

/** The first block that holds an address decides. */
const V4: readonly Block[] = [
  // Services of clouds for their own machines: Alibaba's credentials, and the agent of Azure, whose address looks public.
  ...v4("never", "100.100.100.200/32", "168.63.129.16/32"),
  // This network; link-local, where most clouds hand out credentials; protocol assignments; documentation; relays of 6to4;
  // multicast; reserved.
  ...v4("never", "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
  ...v4("never", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
  // Loopback, private networks, carriers' networks, benchmarks.
  ...v4("private", "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15"),
];

const V6: readonly Block[] = [
  // Credentials of AWS and of Google's cloud.
  ...v6("never", "fd00:ec2::254/128", "fd20:ce::254/128"),
  ...v6("private", "::1/128", "fc00::/7", "fec0::/10"),
  // NAT64 of a network's own (RFC 8215), where nobody else knows which IPv4 address is meant; protocol assignments without
  // Teredo's, which is unpacked before; documentation.
  ...v6("never", "64:ff9b:1::/48", "2001::/23", "2001:db8::/32", "3fff::/20"),
  ...v6("public", "2000::/3"),
];

function reachOfV4(bits: bigint): Reach {
  return V4.find((block) => holds(block, bits, 32))?.reach ?? "public";
}

function reachOfV6(bits: bigint): Reach {
  const form = FORMS.find(({ block }) => holds(block, bits, 128));
  if (form !== undefined) return narrowest([form.block.reach, ...form.inner(bits).map(reachOfV4)]);
  // Outside of the addresses that are given out (2000::/3), an address that no block names reaches nothing.
  return V6.find((block) => holds(block, bits, 128))?.reach ?? "never";
}

/** IPv6 addresses that hold IPv4 addresses, and where. */
const FORMS: readonly { readonly block: Block; inner(bits: bigint): readonly bigint[] }[] = [
  // Mapped, translated (RFC 2765) and NAT64 (RFC 6052): the last 32 bits.
  ...v6("public", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96").map((block) => ({
    block,
    inner: (bits: bigint) => [v4At(bits, 96)],
  })),
  // 6to4 (RFC 3056).
  ...v6("public", "2002::/16").map((block) => ({ block, inner: (bits: bigint) => [v4At(bits, 16)] })),
  // Teredo (RFC 4380): the server, and the client with its bits inverted.
  ...v6("public", "2001::/32").map((block) => ({
    block,
    inner: (bits: bigint) => [v4At(bits, 32), v4At(bits, 96) ^ 0xffff_ffffn],
  })),
];

function narrowest(reaches: readonly Reach[]): Reach {
  return (["never", "private"] as const).find((reach) => reaches.includes(reach)) ?? "public";
}

function holds({ first, prefix }: Block, bits: bigint, length: number): boolean {
  const shift = BigInt(length - prefix);
  return bits >> shift === first >> shift;
}

/** The 32 bits of an IPv6 address from a bit that is counted from its start. */
function v4At(bits: bigint, start: number): bigint {
  return (bits >> BigInt(96 - start)) & 0xffff_ffffn;
}

/** The bits of an IPv4 address of four decimal numbers. */
function bitsOfV4(address: string): bigint {
  return address.split(".").reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}

/** The bits of an IPv6 address in any of its spellings. */
function bitsOfV6(address: string): bigint {
  const hex = address.replace(/\d+\.\d+\.\d+\.\d+$/, (inner) => {
    const bits = bitsOfV4(inner);
    return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
  });
  const [head = [], tail = []] = hex.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}
