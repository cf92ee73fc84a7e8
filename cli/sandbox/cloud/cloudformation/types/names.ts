// AWS::Route53::*
import type { ResourceRecordSet } from "@aws-sdk/client-route-53";
import { dotted } from "../../route53.ts";
import {
  badRequest,
  type Context,
  type Properties,
  properties,
  type ResourceType,
  textOrNone,
  unlessGone,
} from "./type.ts";

const names = ({ world }: Context) => world.service("route53");

export const hostedZone: ResourceType = {
  properties: properties(
    "DelegationSetId! HostedZoneConfig{} HostedZoneFeatures{} HostedZoneTags[] Name! QueryLoggingConfig{} VPCs[]",
  ),
  durationMs: 30_000,
  attributes: ["Id", "NameServers"],
  create(context, given) {
    const { Comment } = (given.HostedZoneConfig ?? {}) as { Comment?: string };
    const made = names(context).operations.CreateHostedZone({
      Name: String(given.Name),
      CallerReference: context.uniqueName(64),
      HostedZoneConfig: { Comment },
    });
    const id = made.HostedZone.Id.replace("/hostedzone/", "");
    const AddTags = given.HostedZoneTags as { Key: string; Value: string }[] | undefined;
    names(context).operations.ChangeTagsForResource({ ResourceId: id, AddTags: AddTags ?? [] });
    return id;
  },
  update() {},
  delete: (context, id) => unlessGone(() => names(context).operations.DeleteHostedZone({ Id: id })),
  attribute: (context, id, name) => (name === "Id" ? id : [...names(context).zone(id).nameServers]),
};

function recordOf(given: Properties): ResourceRecordSet {
  const target = given.AliasTarget as
    | { DNSName: string; HostedZoneId: string; EvaluateTargetHealth?: boolean }
    | undefined;
  return {
    Name: String(given.Name),
    Type: String(given.Type) as "A",
    SetIdentifier: textOrNone(given.SetIdentifier),
    ...(given.TTL !== undefined && { TTL: Number(given.TTL) }),
    ...(given.ResourceRecords !== undefined && {
      ResourceRecords: (given.ResourceRecords as unknown[]).map((one) => ({ Value: String(one) })),
    }),
    ...(target !== undefined && { AliasTarget: { EvaluateTargetHealth: false, ...target } }),
  };
}

function zoneOf(context: Context, given: Properties): string {
  if (given.HostedZoneId !== undefined) return String(given.HostedZoneId);
  if (given.HostedZoneName === undefined) throw badRequest("Either HostedZoneId or HostedZoneName must be specified");
  const name = dotted(String(given.HostedZoneName));
  const found = [...names(context).zones.values()].filter((zone) => zone.name === name);
  if (found.length !== 1)
    throw badRequest(
      found.length === 0 ? `No hosted zones named ${name} found` : `Found multiple hosted zones named ${name}`,
    );
  return found[0]!.id;
}

function change(context: Context, given: Properties, action: "CREATE" | "UPSERT" | "DELETE"): void {
  names(context).operations.ChangeResourceRecordSets({
    HostedZoneId: zoneOf(context, given),
    ChangeBatch: { Changes: [{ Action: action, ResourceRecordSet: recordOf(given) }] },
  });
}

export const recordSet: ResourceType = {
  properties: properties(`AliasTarget{} CidrRoutingConfig{} Comment Failover GeoLocation{} GeoProximityLocation{}
    HealthCheckId HostedZoneId! HostedZoneName! MultiValueAnswer& Name*! Region ResourceRecords[] SetIdentifier TTL Type*
    Weight#`),
  durationMs: 30_000,
  attributes: [],
  create(context, given) {
    change(context, given, "CREATE");
    return String(given.Name);
  },
  update(context, _id, given, before) {
    if (given.Type !== before.Type) change(context, before, "DELETE");
    change(context, given, "UPSERT");
  },
  delete(context, _id, given) {
    try {
      change(context, given, "DELETE");
    } catch (error) {
      if (!/not found|No hosted zone/.test((error as Error).message)) throw error;
    }
  },
  attribute: () => undefined,
};
