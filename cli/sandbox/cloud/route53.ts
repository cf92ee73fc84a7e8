// Route 53: zones with their records.
import type {
  ChangeResourceRecordSetsCommandInput,
  CreateHostedZoneCommandInput,
  GetHostedZoneCommandInput,
  ListHostedZonesByNameCommandInput,
  ListResourceRecordSetsCommandInput,
  ResourceRecordSet,
} from "@aws-sdk/client-route-53";
import { AwsError } from "./protocol/error.ts";
import { randomLetters } from "./random-name.ts";
import type { World } from "./world.ts";

export interface Zone {
  readonly id: string;
  /** With its last dot. */
  readonly name: string;
  readonly callerReference: string;
  readonly comment: string;
  readonly nameServers: readonly string[];
  readonly records: Map<string, ResourceRecordSet>;
  readonly tags: Map<string, string>;
}

/** "Changes generally propagate to all Route 53 name servers within 60 seconds." */
const PROPAGATION_MS = 30_000;

/** How long one can ask for a change, in the cloud's time. */
const REMEMBERED_MS = 86_400_000;

export function openRoute53(world: World) {
  const zones = world.collection<Zone>("route53", "", "zones");
  const changes = world.collection<{ status: "PENDING" | "INSYNC"; readonly at: Date }>("route53", "", "changes");

  const zoneById = (id: string | undefined): Zone => {
    const zone = zones.get((id ?? "").replace("/hostedzone/", ""));
    if (zone === undefined) throw new AwsError("NoSuchHostedZone", `No hosted zone found with ID: ${id}`, 404);
    return zone;
  };
  const tasks = world.tasks("route53", "", {
    inSync(id) {
      const change = changes.get(id);
      if (change !== undefined) change.status = "INSYNC";
    },
    forget: (id) => void changes.delete(id),
  });
  const begin = () => {
    const id = `C${randomLetters(20)}`;
    const change = { status: "PENDING" as const, at: world.clock.date() };
    changes.set(id, change);
    tasks.after(PROPAGATION_MS, "inSync", id);
    tasks.after(REMEMBERED_MS, "forget", id);
    return { Id: `/change/${id}`, Status: change.status, SubmittedAt: change.at };
  };

  const operations = {
    CreateHostedZone(input: CreateHostedZoneCommandInput) {
      const name = dotted(input.Name ?? "");
      const reference = input.CallerReference ?? "";
      if ([...zones.values()].some((one) => one.callerReference === reference)) {
        throw new AwsError(
          "HostedZoneAlreadyExists",
          `A hosted zone has already been created with the specified caller reference.`,
          409,
        );
      }
      const id = `Z${randomLetters(20)}`;
      const nameServers = [4, 5, 6, 7].map((n) => `ns-${n}.awsdns-0${n}.${["com", "net", "org", "co.uk"][n - 4]}`);
      const zone: Zone = {
        id,
        name,
        callerReference: reference,
        comment: input.HostedZoneConfig?.Comment ?? "",
        nameServers,
        records: new Map(),
        tags: new Map(),
      };
      for (const record of ownRecords(zone)) zone.records.set(keyOf(record), record);
      zones.set(id, zone);
      return {
        HostedZone: described(zone),
        ChangeInfo: begin(),
        DelegationSet: { NameServers: nameServers },
        Location: `https://route53.amazonaws.com/2013-04-01/hostedzone/${id}`,
      };
    },
    GetHostedZone(input: GetHostedZoneCommandInput) {
      const zone = zoneById(input.Id);
      return { HostedZone: described(zone), DelegationSet: { NameServers: zone.nameServers } };
    },
    ListHostedZones: () => ({
      HostedZones: [...zones.values()].map(described),
      IsTruncated: false,
      MaxItems: 100,
      Marker: "",
    }),
    ListHostedZonesByName(input: ListHostedZonesByNameCommandInput) {
      // "In ASCII order by their names with the labels reversed", from the one asked for on.
      const all = [...zones.values()].sort((a, b) => (reversed(a.name) < reversed(b.name) ? -1 : 1));
      const from = all.filter(
        ({ name }) => input.DNSName === undefined || reversed(name) >= reversed(dotted(input.DNSName)),
      );
      const limit = Number(input.MaxItems ?? 100);
      return {
        HostedZones: from.slice(0, limit).map(described),
        DNSName: input.DNSName,
        IsTruncated: from.length > limit,
        ...(from.length > limit && { NextDNSName: from[limit]!.name, NextHostedZoneId: from[limit]!.id }),
        MaxItems: limit,
      };
    },
    DeleteHostedZone(input: GetHostedZoneCommandInput) {
      const zone = zoneById(input.Id);
      if (zone.records.size > 2) {
        throw new AwsError(
          "HostedZoneNotEmpty",
          "The specified hosted zone contains non-required resource record sets and so cannot be deleted.",
          400,
        );
      }
      zones.delete(zone.id);
      return { ChangeInfo: begin() };
    },
    ListResourceRecordSets(input: ListResourceRecordSetsCommandInput) {
      const all = [...zoneById(input.HostedZoneId).records.values()].sort((a, b) =>
        reversed(a.Name!) + a.Type < reversed(b.Name!) + b.Type ? -1 : 1,
      );
      const { StartRecordName: name, StartRecordType: type = "" } = input;
      const from = all.filter(
        (one) => name === undefined || reversed(one.Name!) + one.Type >= reversed(dotted(name)) + type,
      );
      const limit = Number(input.MaxItems ?? 300);
      return {
        ResourceRecordSets: from.slice(0, limit),
        IsTruncated: from.length > limit,
        ...(from.length > limit && { NextRecordName: from[limit]!.Name, NextRecordType: from[limit]!.Type }),
        MaxItems: limit,
      };
    },
    ChangeResourceRecordSets(input: ChangeResourceRecordSetsCommandInput) {
      const zone = zoneById(input.HostedZoneId);
      // All or nothing.
      const records = new Map(zone.records);
      for (const { Action, ResourceRecordSet: record } of input.ChangeBatch?.Changes ?? [])
        applyChange(zone, records, Action!, record!);
      zone.records.clear();
      for (const [key, record] of records) zone.records.set(key, record);
      return { ChangeInfo: begin() };
    },
    GetChange(input: { Id?: string }) {
      const id = (input.Id ?? "").replace("/change/", "");
      const change = changes.get(id);
      if (change === undefined) throw new AwsError("NoSuchChange", `Could not find resource with ID: ${id}`, 404);
      return { ChangeInfo: { Id: `/change/${id}`, Status: change.status, SubmittedAt: change.at } };
    },
    ChangeTagsForResource(input: { ResourceId?: string; AddTags?: { Key?: string; Value?: string }[] }) {
      for (const { Key = "", Value = "" } of input.AddTags ?? []) zoneById(input.ResourceId).tags.set(Key, Value);
      return {};
    },
    ListTagsForResource: (input: { ResourceId?: string; ResourceType?: string }) => ({
      ResourceTagSet: {
        ResourceId: input.ResourceId,
        ResourceType: input.ResourceType,
        Tags: Array.from(zoneById(input.ResourceId).tags, ([Key, Value]) => ({ Key, Value })),
      },
    }),
  };
  return {
    operations,
    zones,
    zoneById,
    hasRecord: (name: string, type: string, value: string) =>
      [...zones.values()].some(({ records }) =>
        records
          .get(`${dotted(name).toLowerCase()} ${type} `)
          ?.ResourceRecords?.some((one) => dotted(one.Value ?? "") === dotted(value)),
      ),
  };
}

export const dotted = (name: string) => (name.endsWith(".") ? name : `${name}.`);
const reversed = (name: string) => name.split(".").reverse().join(".");
const keyOf = (record: ResourceRecordSet) =>
  `${dotted(record.Name ?? "").toLowerCase()} ${record.Type} ${record.SetIdentifier ?? ""}`;

function ownRecords({ name, nameServers }: Zone): ResourceRecordSet[] {
  return [
    { Name: name, Type: "NS", TTL: 172_800, ResourceRecords: nameServers.map((Value) => ({ Value: `${Value}.` })) },
    {
      Name: name,
      Type: "SOA",
      TTL: 900,
      ResourceRecords: [{ Value: `${nameServers[0]}. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400` }],
    },
  ];
}

function applyChange(
  zone: Zone,
  records: Map<string, ResourceRecordSet>,
  action: string,
  input: ResourceRecordSet,
): void {
  const record = { ...input, Name: dotted(input.Name ?? "").toLowerCase() };
  const what = `[name='${record.Name}', type='${record.Type}']`;
  const refusal = (text: string) => new AwsError("InvalidChangeBatch", `[${text}]`, 400);
  if (record.Name !== zone.name && !record.Name.endsWith(`.${zone.name}`)) {
    throw refusal(`RRSet with DNS name ${record.Name} is not permitted in zone ${zone.name}`);
  }
  const key = keyOf(record);
  const existing = records.get(key);
  if (action === "DELETE") {
    if (existing === undefined) throw refusal(`Tried to delete resource record set ${what} but it was not found`);
    if (record.Name === zone.name && (record.Type === "NS" || record.Type === "SOA")) {
      throw refusal(`A HostedZone must contain exactly one SOA record and at least one NS record.`);
    }
    records.delete(key);
    return;
  }
  if (action === "CREATE" && existing !== undefined)
    throw refusal(`Tried to create resource record set ${what} but it already exists`);
  const hasValues = (record.ResourceRecords?.length ?? 0) > 0;
  if (hasValues === (record.AliasTarget !== undefined)) {
    throw new AwsError(
      "InvalidInput",
      `Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found ${hasValues ? "more than one" : "none"} in Change with ${what}`,
    );
  }
  const others = [...records.values()].filter(({ Name }) => Name === record.Name);
  const isClash = others.some(({ Type }) => (Type === "CNAME") !== (record.Type === "CNAME"));
  if (isClash)
    throw refusal(
      `RRSet of type ${record.Type} with DNS name ${record.Name} is not permitted as it conflicts with other records with the same DNS name in zone ${zone.name}`,
    );
  records.set(key, record);
}

function described(zone: Zone) {
  return {
    Id: `/hostedzone/${zone.id}`,
    Name: zone.name,
    CallerReference: zone.callerReference,
    Config: { Comment: zone.comment, PrivateZone: false },
    ResourceRecordSetCount: zone.records.size,
  };
}
