import type { Cloud } from "../clients.ts";
import { canonical } from "./domains.ts";
import type { Zones } from "./resource.ts";

/** The account's public zones with these names. */
export async function findZones(cloud: Cloud, names: readonly string[], signal: AbortSignal): Promise<Zones> {
  const zones: Record<string, string> = {};
  if (names.length === 0) return zones;
  const route53 = await cloud.route53();
  for (const name of names) {
    // The list starts at the name. Several zones may have it, and private ones are not ours.
    const { HostedZones = [] } = await route53.listHostedZonesByName(
      { DNSName: name, MaxItems: 10 },
      { abortSignal: signal },
    );
    const zone = HostedZones.find(({ Name, Config }) => canonical(Name!) === name && Config?.PrivateZone !== true);
    if (zone !== undefined) zones[name] = idOf(zone.Id!);
  }
  return zones;
}

/** The name servers of a zone, which the registrar of its domain has to name. */
export async function nameserversOf(cloud: Cloud, id: string, signal: AbortSignal): Promise<string[]> {
  const { DelegationSet } = await (await cloud.route53()).getHostedZone({ Id: id }, { abortSignal: signal });
  return [...(DelegationSet?.NameServers ?? [])].map(canonical).sort();
}

/** The closest zone that a domain is in. */
export function zoneOf(domain: string, zones: Zones): { readonly name: string; readonly id: string } | undefined {
  const names = Object.keys(zones).filter((zone) => isInZone(domain, zone));
  const name = names.sort((a, b) => b.length - a.length)[0];
  return name === undefined ? undefined : { name, id: zones[name]! };
}

export const isInZone = (domain: string, zone: string) => domain === zone || domain.endsWith(`.${zone}`);

/** Responses contain `/hostedzone/Z1`, requests take `Z1`. */
export const idOf = (id: string) => id.replace(/^\/hostedzone\//, "");
