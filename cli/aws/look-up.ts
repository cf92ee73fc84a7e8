import type { Clock } from "../../grammar/units/clock.ts";
import type { CloudName, CloudQuestion } from "../../language-server/service/cloud.ts";
import { DEFAULT_REGION } from "../../schema/index.ts";
import { profileRegion } from "../project/profile-region.ts";
import { type Cloud, openCloud } from "./clients.ts";
import { aliasesOf, isNotFound } from "./function/aliases.ts";
import { numbered, readRecord } from "./function/record.ts";
import { functionName, stageEndpoint } from "./names.ts";
import { canonical } from "./stack/domains.ts";

/** Nobody chooses from more. */
const MAX_NAMES = 500;

interface LookUpOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The names of one kind that the account has, for the completion of an editor. Only lists; throws what the services and the
 * credentials do.
 */
export async function accountNames(
  question: CloudQuestion,
  { env, clock, signal }: LookUpOptions,
): Promise<CloudName[]> {
  const profile = question.profile ?? env.CLOUD_PROFILE;
  const ofProfile = profile === undefined ? undefined : profileRegion(profile, env);
  const region = question.region ?? (env.CLOUD_REGION || undefined) ?? ofProfile ?? DEFAULT_REGION;
  const cloud = openCloud({ env, clock, profile, region, sandbox: undefined });
  const names = await KINDS[question.kind]({ cloud, app: question.app ?? "", options: { abortSignal: signal } });
  return names.slice(0, MAX_NAMES);
}

interface AccountRequest {
  readonly cloud: Cloud;
  readonly app: string;
  readonly options: { readonly abortSignal: AbortSignal };
}

const KINDS: Readonly<Record<CloudQuestion["kind"], (request: AccountRequest) => Promise<CloudName[]>>> = {
  async zones({ cloud, options }) {
    const route53 = await cloud.route53();
    const zones = await pages(async (Marker) => {
      const { HostedZones = [], NextMarker } = await route53.listHostedZones({ Marker }, options);
      return { items: HostedZones, next: NextMarker };
    });
    // Private zones are of networks: nobody outside can resolve their names.
    const isPublic = zones.filter(({ Config }) => Config?.PrivateZone !== true);
    return isPublic.map(({ Name }) => ({ name: canonical(Name!), detail: "a zone of the account" }));
  },
  async certificates({ cloud, options }) {
    const acm = await cloud.acm();
    const certificates = await pages(async (NextToken) => {
      const answer = await acm.listCertificates({ NextToken, CertificateStatuses: ["ISSUED"] }, options);
      return { items: answer.CertificateSummaryList ?? [], next: answer.NextToken };
    });
    const domains = certificates.flatMap(({ DomainName, SubjectAlternativeNameSummaries = [] }) => [
      ...(DomainName === undefined ? [] : [DomainName]),
      ...SubjectAlternativeNameSummaries,
    ]);
    // A wildcard is the name of no stage.
    const names = [...new Set(domains)].filter((name) => !name.startsWith("*"));
    return names.map((name) => ({ name, detail: "has a certificate" }));
  },
  async layers({ cloud, options }) {
    const lambda = await cloud.lambda();
    const layers = await pages(async (Marker) => {
      const { Layers = [], NextMarker } = await lambda.listLayers({ Marker }, options);
      return { items: Layers, next: NextMarker };
    });
    return layers.flatMap(({ LayerName, LatestMatchingVersion: version }) =>
      version?.LayerVersionArn === undefined
        ? []
        : { name: version.LayerVersionArn, detail: version.Description || `${LayerName}, version ${version.Version}` },
    );
  },
  async roles({ cloud, options }) {
    const iam = await cloud.iam();
    const roles = await pages(async (Marker) => {
      const { Roles = [], Marker: next } = await iam.listRoles({ Marker }, options);
      return { items: Roles, next };
    });
    // Others cannot run a function.
    const isOfFunctions = roles.filter(({ AssumeRolePolicyDocument: policy = "" }) =>
      decodeURIComponent(policy).includes("lambda.amazonaws.com"),
    );
    return isOfFunctions.map(({ Arn, RoleName, Description }) => ({ name: Arn!, detail: Description || RoleName! }));
  },
  async subnets(request) {
    const subnets = await resources(request, "AWS::EC2::Subnet");
    return subnets.map(({ id, vpc, tag, text }) => ({
      name: id,
      detail: words(tag("Name"), text("CidrBlock"), text("AvailabilityZone"), vpc) ?? "a subnet of the account",
      ...(vpc !== undefined && { network: vpc }),
    }));
  },
  async "security-groups"(request) {
    const groups = await resources(request, "AWS::EC2::SecurityGroup");
    return groups.map(({ id, vpc, tag, text }) => ({
      name: id,
      detail: words(tag("Name") ?? text("GroupName"), vpc) ?? "a security group of the account",
      ...(vpc !== undefined && { network: vpc }),
    }));
  },
  async stages({ cloud, app, options }) {
    const aliases = await aliasesOf(await cloud.lambda(), functionName(app), options.abortSignal)
      .list()
      .catch((error: unknown) => {
        if (isNotFound(error)) return [];
        throw error;
      });
    return aliases.flatMap(({ Name, FunctionVersion, Description }) => {
      const version = numbered(FunctionVersion);
      // Other aliases name the previous deployment and commits.
      const record = version === undefined ? undefined : readRecord(Description, version);
      if (record?.stack === undefined) return [];
      const url = record.api === undefined ? undefined : stageEndpoint(record.api, cloud.region, Name!);
      return { name: Name!, detail: `deployed, version ${version}`, ...(url !== undefined && { url }) };
    });
  },
};

interface NetworkResource {
  readonly id: string;
  readonly vpc: string | undefined;
  tag(name: string): string | undefined;
  text(property: string): string | undefined;
}

/**
 * The subnets or security groups of the region. The client of EC2 would add 750 KB to the build, that of the Cloud Control
 * API is 23. It promises no more than the identifier of a resource that it lists: all else may be missing.
 */
async function resources({ cloud, options }: AccountRequest, TypeName: string): Promise<NetworkResource[]> {
  const cloudControl = await cloud.cloudControl();
  const listed = await pages(async (NextToken) => {
    const answer = await cloudControl.listResources({ TypeName, NextToken }, options);
    return { items: answer.ResourceDescriptions ?? [], next: answer.NextToken };
  });
  return listed.flatMap(({ Identifier, Properties }) => {
    if (Identifier === undefined) return [];
    const properties = propertiesIn(Properties);
    const text = (name: string) => textOf(properties[name]);
    const tags = Array.isArray(properties.Tags) ? properties.Tags : [];
    const tag = (name: string) => textOf(tags.find((one) => one?.Key === name)?.Value);
    return { id: Identifier, vpc: text("VpcId"), tag, text };
  });
}

function propertiesIn(json: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(json ?? "{}") ?? {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

function words(...parts: readonly (string | undefined)[]): string | undefined {
  return parts.filter((part) => part !== undefined).join(", ") || undefined;
}

/** All items of a list that comes in pages, as far as anybody chooses from. */
async function pages<Item>(
  read: (next: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }>,
): Promise<Item[]> {
  const all: Item[] = [];
  let next: string | undefined;
  do {
    const page = await read(next);
    all.push(...page.items);
    next = page.next || undefined;
  } while (next !== undefined && all.length < MAX_NAMES);
  return all;
}
