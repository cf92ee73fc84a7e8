import { type LookupAddress, promises } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { reachOf } from "./addresses.ts";

/** Finds the IP addresses of a name, as `dns.promises.lookup` with `all` does. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export interface GuardOptions {
  /** The operator permits plain http and private addresses, for receivers on the service's own network. */
  readonly allowsPrivate: boolean;
  readonly resolve?: Resolve;
}

/** A target that may be connected to. */
export interface CheckedTarget {
  readonly url: URL;
  /** For `net.connect` and `https.request`: answers with the addresses that were checked, whatever the name leads to later. */
  readonly lookup: LookupFunction;
}

/** The target may not be connected to, now or later. The message is for whoever set it: it names no address that was found. */
export class TargetRefused extends Error {
  override readonly name = "TargetRefused";
}

/** The target's name leads to no address, or nobody could be asked for it. It may do so later. */
export class TargetNotFound extends Error {
  override readonly name = "TargetNotFound";
}

/**
 * Checks the URL that a member of a team set for a webhook, so that the service sends nothing to its own network on behalf of
 * others. All addresses that the name leads to must be permitted, since any of them may be connected to. Rejects with
 * TargetRefused or TargetNotFound.
 */
export async function checkTarget(text: string, options: GuardOptions): Promise<CheckedTarget> {
  const url = readTarget(text, options);
  const host = hostOf(url);
  checkWritten(host);
  const addresses = isIP(host) === 0 ? await addressesOf(host, options.resolve ?? resolveName) : [addressOf(host)];
  for (const { address } of addresses) {
    const reach = reachOf(address);
    if (reach === "public" || (reach === "private" && options.allowsPrivate)) continue;
    const what = isIP(host) === 0 ? `${host} leads to an address` : "the target is an address";
    throw new TargetRefused(`${what} ${reach === "private" ? OF_PRIVATE_NETWORK : OF_NOBODY}`);
  }
  return { url, lookup: pinned(addresses) };
}

/**
 * Why the URL of a webhook would be refused whatever its name leads to, for whoever sets it; undefined if it may be reached.
 * Nobody is asked for names: what a name leads to is checked whenever it is told.
 */
export function refusalOf(text: string, { allowsPrivate }: Pick<GuardOptions, "allowsPrivate">): string | undefined {
  const host = URL.canParse(text) ? hostOf(new URL(text)) : "";
  const reach = isLoopback(host) ? "private" : isIP(host) === 0 ? "public" : reachOf(host);
  // Before plain http: https alone would not help.
  if (reach === "private" && !allowsPrivate) return `the target is an address ${OF_PRIVATE_NETWORK}`;
  try {
    readTarget(text, { allowsPrivate });
    checkWritten(host);
    return undefined;
  } catch (error) {
    if (error instanceof TargetRefused) return error.message;
    throw error;
  }
}

/** A name may end in a dot, which means the same and would pass by the list of names. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

/** Throws if a host may not be a target, as far as it says that itself. */
function checkWritten(host: string): void {
  if (METADATA_NAMES.has(host))
    throw new TargetRefused(`${host} is a name of the network of a cloud: use another target`);
  if (isIP(host) !== 0 && reachOf(host) === "never") throw new TargetRefused(`the target is an address ${OF_NOBODY}`);
}

const OF_PRIVATE_NETWORK =
  "of a private network: use a public one, or let the operator of the service start it with --allow-private-targets";
const OF_NOBODY = "that no target may have: use a public one";

function readTarget(text: string, { allowsPrivate }: GuardOptions): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text is not in the message: the URL of a webhook is a secret.
  if (url === undefined) throw new TargetRefused("the target's URL cannot be read: set it again");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && allowsPrivate)) {
    throw new TargetRefused("the target's URL does not begin with https://: use one that does");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TargetRefused(
      "the target's URL has a user or a password, which is not supported: use a URL without them",
    );
  }
  return url;
}

/** Names by which machines of a cloud find what hands out their credentials. */
const METADATA_NAMES = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.tencentyun.com",
  "metadata.packet.net",
]);

/** A server of names that is silent holds up nothing but what asks it. */
const RESOLVER = { timeout: 2_000, tries: 2 };

/**
 * Asks the servers of names ourselves: the system's own lookup takes a thread of few until it ends, so names whose servers are
 * silent would hold up all targets of everybody. It is asked for what the servers do not know, such as the file of hosts.
 */
const resolveName: Resolve = async (name) => {
  const resolver = new promises.Resolver(RESOLVER);
  const lookups = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = lookups.flatMap((one, at) =>
    one.status === "fulfilled" ? one.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
  );
  if (addresses.length > 0) return addresses;
  const isSilent = lookups.some(
    (one) => one.status === "rejected" && /^E(?:TIMEOUT|SERVFAIL|CANCELLED)$/.test(one.reason.code),
  );
  if (isSilent) throw new Error("the servers of names did not answer");
  return promises.lookup(name, { all: true });
};

async function addressesOf(name: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const addresses = await resolve(name).catch((): [] => []);
  if (addresses.length === 0) {
    throw new TargetNotFound(`${name} has no address: check the name in the target's URL`);
  }
  return addresses;
}

function addressOf(host: string): LookupAddress {
  return { address: host, family: isIP(host) };
}

function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_name, { all }, callback) => {
    const [first] = addresses as [LookupAddress];
    // Answered later, as every other lookup is.
    process.nextTick(() => (all ? callback(null, [...addresses]) : callback(null, first.address, first.family)));
  };
}
