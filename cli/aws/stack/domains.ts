import { getDomain } from "tldts";
import type { ResolvedConfig } from "../../../schema/index.ts";
import { hasEdge } from "../names.ts";
import { aliasZone } from "./alias-targets.ts";
import { logicalId } from "./logical-id.ts";
import {
  type AppStack,
  type Parts,
  type Resources,
  resourceTags,
  type StackContext,
  type StackOutput,
  type TemplateProblem,
} from "./resource.ts";

/** The custom domain of a stage, as the gateway spells it. */
export function stageDomain(config: ResolvedConfig, stage: string): string | undefined {
  const domain = config.stages[stage]?.domain;
  return domain === undefined ? undefined : canonical(domain);
}

/**
 * The zone of a stage's domain; undefined if `zone` is false or there is no domain. The default is the registrable domain
 * (Public Suffix List): `example.co.uk` for `api.example.co.uk`.
 */
function stageZone(config: ResolvedConfig, stage: string): string | undefined {
  const domain = stageDomain(config, stage);
  const zone = config.stages[stage]?.zone;
  if (domain === undefined || zone === false) return undefined;
  return typeof zone === "string" ? canonical(zone) : (getDomain(domain) ?? domain);
}

/** All zones in tool.json: those of the given stages and those of `dns`. */
export function zonesOf(config: ResolvedConfig, stages: readonly string[]): string[] {
  const zones = [
    ...stages.flatMap((stage) => stageZone(config, stage) ?? []),
    ...Object.keys(config.dns).map(canonical),
  ];
  return [...new Set(zones)].sort();
}

/** The zones that have to be created, and the records of `dns`. */
export function zoneResources({ name, config }: AppStack, context: StackContext): Partial<Parts> {
  const resources: Resources = {};
  const outputs: Record<string, StackOutput> = {};
  const problems: TemplateProblem[] = [];
  const zones = zonesOf(config, context.stages);
  for (const zone of zones) {
    if (Object.hasOwn(context.zones, zone)) continue;
    const id = zoneId(zone);
    resources[id] = {
      Type: "AWS::Route53::HostedZone",
      Properties: {
        Name: zone,
        HostedZoneConfig: { Comment: `made by tool for ${name}` },
        HostedZoneTags: resourceTags({ name, config }),
      },
      // Never deleted with the stack: it may hold records of others, and a new one has other name servers.
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Metadata: { tool: { about: `zone ${zone}` } },
    };
    outputs[id] = {
      Description: `Zone ${zone}`,
      Value: {
        "Fn::Sub": [
          JSON.stringify({ name: zone, id: `\${${id}}`, nameservers: `\${Servers}` }),
          { Servers: { "Fn::Join": [",", { "Fn::GetAtt": [id, "NameServers"] }] } },
        ],
      },
    };
  }
  for (const [written, records] of Object.entries(config.dns)) {
    const zone = canonical(written);
    for (const record of records) {
      const recordName = canonical(record.name);
      const about = `record ${recordName} ${record.type}`;
      if (recordName === zone && (record.type === "NS" || record.type === "SOA")) {
        problems.push({
          code: "stack/zone-record",
          message: `the zone ${zone} makes its own ${record.type} record`,
          hint: `remove the record of type ${record.type} called ${recordName} from "dns"`,
        });
        continue;
      }
      const stage = context.stages.find((one) => stageDomain(config, one) === recordName);
      if (stage !== undefined && ["A", "AAAA", "ALIAS", "CNAME"].includes(record.type)) {
        problems.push({
          code: "stack/domain-record",
          message: `${recordName} is the domain of the stage ${stage} and has a record of type ${record.type} in "dns"`,
          hint: "remove the record: the stage's own points there",
        });
        continue;
      }
      const HostedZoneId = zoneReference(zone, context);
      if (record.type === "ALIAS") {
        const target = canonical(record.value[0]!);
        const TargetZoneId = target === zone || target.endsWith(`.${zone}`) ? HostedZoneId : aliasZone(target);
        if (TargetZoneId === undefined) {
          problems.push({
            code: "stack/alias-target",
            message: `nothing is known of the ALIAS target ${target}`,
            hint: "an ALIAS points at a name in its own zone, a CloudFront distribution, an S3 website or a load balancer; write a CNAME for others",
          });
          continue;
        }
        resources[recordId(zone, recordName, record.type)] = {
          Type: "AWS::Route53::RecordSet",
          Properties: {
            HostedZoneId,
            Name: recordName,
            Type: "A",
            AliasTarget: { DNSName: target, HostedZoneId: TargetZoneId, EvaluateTargetHealth: false },
          },
          Metadata: { tool: { about } },
        };
        continue;
      }
      resources[recordId(zone, recordName, record.type)] = {
        Type: "AWS::Route53::RecordSet",
        Properties: {
          HostedZoneId,
          Name: recordName,
          Type: record.type,
          TTL: String(record.ttl),
          ResourceRecords: record.value.map((value) => recordValue(record.type, value)),
        },
        Metadata: { tool: { about } },
      };
    }
  }
  return { resources, outputs, problems };
}

/**
 * The custom domains whose certificates are issued, one for all stages that share it; the path of each stage; and the DNS
 * record of the domain.
 */
export function domainResources(input: AppStack, context: StackContext): Partial<Parts> {
  const { config } = input;
  const resources: Resources = {};
  const outputs: Record<string, StackOutput> = {};
  const problems: TemplateProblem[] = [];
  for (const stage of context.stages) {
    const domain = stageDomain(config, stage);
    if (domain === undefined) continue;
    if (!hasEdge(input.region)) {
      problems.push({
        code: "stack/no-edge",
        message: `the stage ${stage} has the domain ${domain}, and ${input.region} has no domains at the edge`,
        hint: `remove "domain" from the stage and use its default address: custom domains need a region outside China and the government's`,
      });
      continue;
    }
    const path = (config.stages[stage]!.path ?? "").replace(/^\/+|\/+$/g, "");
    if (path.includes("/")) {
      problems.push({
        code: "stack/base-path",
        message: `the path "/${path}" of the stage ${stage} has more than one part`,
        hint: `write one part, such as "/${path.split("/")[0]}": a domain at the edge takes no more`,
      });
      continue;
    }
    const certificate = context.certificates[domain];
    if (certificate === undefined) continue;
    const sharing = context.stages.filter((other) => stageDomain(config, other) === domain);
    // A domain of several stages belongs to none of them.
    const owner = sharing.length === 1 ? { stage } : {};
    const id = logicalId("Domain", domain);
    resources[id] = {
      Type: "AWS::ApiGateway::DomainName",
      Properties: {
        DomainName: domain,
        CertificateArn: certificate,
        EndpointConfiguration: { Types: ["EDGE"] },
        SecurityPolicy: "TLS_1_2",
        Tags: resourceTags(input, owner.stage),
      },
      Metadata: { tool: { ...owner, about: `domain ${domain}` } },
    };
    outputs[id] = {
      Description: `Domain ${domain}`,
      Value: { "Fn::Sub": JSON.stringify({ name: domain, target: `\${${id}.DistributionDomainName}` }) },
    };
    resources[logicalId("Mapping", stage)] = {
      Type: "AWS::ApiGateway::BasePathMapping",
      Properties: {
        DomainName: { Ref: id },
        RestApiId: { Ref: "Api" },
        Stage: { Ref: logicalId("Stage", stage) },
        ...(path !== "" && { BasePath: path }),
      },
      Metadata: { tool: { stage, about: `${domain}/${path}` } },
    };
    const zone = sharing.map((one) => stageZone(config, one)).find((one) => one !== undefined);
    if (zone === undefined) continue;
    resources[logicalId("DomainRecord", domain)] = {
      Type: "AWS::Route53::RecordSet",
      Properties: {
        HostedZoneId: zoneReference(zone, context),
        Name: domain,
        Type: "A",
        AliasTarget: {
          DNSName: { "Fn::GetAtt": [id, "DistributionDomainName"] },
          HostedZoneId: { "Fn::GetAtt": [id, "DistributionHostedZoneId"] },
          EvaluateTargetHealth: false,
        },
      },
      Metadata: { tool: { ...owner, about: `record ${domain}` } },
    };
  }
  return { resources, outputs, problems };
}

const zoneId = (zone: string) => logicalId("Zone", zone);
const recordId = (zone: string, name: string, type: string) => logicalId("Record", name, type.toLowerCase(), zone);

function zoneReference(zone: string, { zones }: StackContext): unknown {
  return Object.hasOwn(zones, zone) ? zones[zone] : { Ref: zoneId(zone) };
}

/**
 * TXT values are quoted strings of at most 255 characters (RFC 1035 section 3.3). A value that is quoted already is kept.
 */
function recordValue(type: string, value: string): string {
  if ((type !== "TXT" && type !== "SPF") || /^".*"$/s.test(value)) return value;
  const strings = value.match(/.{1,255}/gsu) ?? [""];
  return strings.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(" ");
}

export const canonical = (name: string) => name.toLowerCase().replace(/\.$/, "");
