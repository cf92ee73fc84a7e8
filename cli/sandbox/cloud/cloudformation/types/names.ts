// AWS::Route53::*
import type { ResourceRecordSet } from "@aws-sdk/client-route-53";
import { dotted } from "../../route53.ts";
import {
  badRequest,
  ignoreNotFound,
  type Properties,
  parseProperties,
  type ResourceContext,
  type ResourceType,
  textOrNone,
} from "./type.ts";

const names = ({ world }: ResourceContext) => world.service("route53");

export const hostedZone: ResourceType = {
  properties: parseProperties(
    "DelegationSetId! HostedZoneConfig{} HostedZoneFeatures{} HostedZoneTags[] Name! QueryLoggingConfig{} VPCs[]",
  ),
  durationMs: 30_000,
  attributes: ["Id", "NameServers"],
  create(context, properties) {
    const { Comment } = (properties.HostedZoneConfig ?? {}) as { Comment?: string };
    const output = names(context).operations.CreateHostedZone({
      Name: String(properties.Name),
      CallerReference: context.uniqueName(64),
      HostedZoneConfig: { Comment },
    });
    const id = output.HostedZone.Id.replace("/hostedzone/", "");
    const AddTags = properties.HostedZoneTags as { Key: string; Value: string }[] | undefined;
    names(context).operations.ChangeTagsForResource({ ResourceId: id, AddTags: AddTags ?? [] });
    return id;
  },
  update() {},
  delete: (context, id) => ignoreNotFound(() => names(context).operations.DeleteHostedZone({ Id: id })),
  attribute: (context, id, name) => (name === "Id" ? id : [...names(context).zoneById(id).nameServers]),
};

function recordOf(properties: Properties): ResourceRecordSet {
  const target = properties.AliasTarget as
    | { DNSName: string; HostedZoneId: string; EvaluateTargetHealth?: boolean }
    | undefined;
  return {
    Name: String(properties.Name),
    Type: String(properties.Type) as "A",
    SetIdentifier: textOrNone(properties.SetIdentifier),
    ...(properties.TTL !== undefined && { TTL: Number(properties.TTL) }),
    ...(properties.ResourceRecords !== undefined && {
      ResourceRecords: (properties.ResourceRecords as unknown[]).map((one) => ({ Value: String(one) })),
    }),
    ...(target !== undefined && { AliasTarget: { EvaluateTargetHealth: false, ...target } }),
  };
}

function zoneOf(context: ResourceContext, properties: Properties): string {
  if (properties.HostedZoneId !== undefined) return String(properties.HostedZoneId);
  if (properties.HostedZoneName === undefined)
    throw badRequest("Either HostedZoneId or HostedZoneName must be specified");
  const name = dotted(String(properties.HostedZoneName));
  const matches = [...names(context).zones.values()].filter((zone) => zone.name === name);
  if (matches.length !== 1)
    throw badRequest(
      matches.length === 0 ? `No hosted zones named ${name} found` : `Found multiple hosted zones named ${name}`,
    );
  return matches[0]!.id;
}

function change(context: ResourceContext, properties: Properties, action: "CREATE" | "UPSERT" | "DELETE"): void {
  names(context).operations.ChangeResourceRecordSets({
    HostedZoneId: zoneOf(context, properties),
    ChangeBatch: { Changes: [{ Action: action, ResourceRecordSet: recordOf(properties) }] },
  });
}

export const recordSet: ResourceType = {
  properties: parseProperties(`AliasTarget{} CidrRoutingConfig{} Comment Failover GeoLocation{} GeoProximityLocation{}
    HealthCheckId HostedZoneId! HostedZoneName! MultiValueAnswer& Name*! Region ResourceRecords[] SetIdentifier TTL Type*
    Weight#`),
  durationMs: 30_000,
  attributes: [],
  create(context, properties) {
    change(context, properties, "CREATE");
    return String(properties.Name);
  },
  update(context, _id, properties, before) {
    if (properties.Type !== before.Type) change(context, before, "DELETE");
    change(context, properties, "UPSERT");
  },
  delete(context, _id, properties) {
    try {
      change(context, properties, "DELETE");
    } catch (error) {
      if (!/not found|No hosted zone/.test((error as Error).message)) throw error;
    }
  },
  attribute: () => undefined,
};
