import { shortList } from "../../output/short-list.ts";
import { ALL_OF_APP } from "../../platform/log-tokens.ts";
import type { Owned, RemoveOptions, RemoveResult } from "../../platform/stack.ts";
import { ALL_STAGES } from "../../platform/variables.ts";
import type { Cloud } from "../clients.ts";
import {
  artifactPrefix,
  bucketName,
  FAILURE_BUCKET,
  functionName,
  hasEdge,
  LOG_TOKENS,
  logGroupName,
  parameterPrefix,
  roleName,
  SNAPSHOTS,
  stackName,
  TAGS,
} from "../names.ts";
import { allBelow, removeParameters } from "../variables/store.ts";
import { CERTIFICATE_REGION, changeRecord } from "./certificates.ts";
import { failureBucketsOf, removeFailureBucket, whyKept } from "./failure-bucket.ts";
import { type OperationEvent, operate, untilIdle } from "./operation.ts";
import { aboutOf, type TemplateDocument } from "./resource.ts";
import { describeStack, readTemplate, stateOf, type ZoneState } from "./state.ts";
import { idOf, zoneOf } from "./zones.ts";

interface Watched {
  readonly signal: AbortSignal;
  readonly report: (event: OperationEvent) => void;
}

/** Something of the app in the account: how to delete it, or why it is kept. */
interface OwnedResource extends Owned {
  /** Why it is kept, if that is known in advance. Then nothing is tried. */
  readonly stays?: string | undefined;
  /** Returns why it could not be deleted; undefined if it was. */
  remove(): Promise<string | undefined>;
}

interface OwnedOptions extends RemoveOptions {
  /** Whether tool.json has a stream to a log service. An earlier one is known by the stack. */
  readonly usesFirehose?: boolean;
}

/** Everything that deploying created for the app, in an order in which it can be deleted: users before what they use. */
export async function ownedResources(
  cloud: Cloud,
  app: string,
  { logs, env, usesFirehose = false }: OwnedOptions,
  watched: Watched,
): Promise<OwnedResource[]> {
  const { signal } = watched;
  const name = stackName(app);
  const stack = await describeStack(cloud, name, signal);
  const state = stack === undefined ? undefined : stateOf(stack, cloud);
  const template = state === undefined ? undefined : await readTemplate(cloud, state.id, signal).catch(() => undefined);
  const [zones, certificates] = await Promise.all([
    ownZones(cloud, app, state?.zones ?? [], signal),
    ownCertificates(cloud, app, signal),
  ]);
  return [
    ...(state === undefined
      ? []
      : [{ kind: "stack", name, remove: () => removeStack(cloud, name, template, watched) }]),
    ...(usesFirehose || template?.Resources[FAILURE_BUCKET] !== undefined ? await ownBuckets(cloud, app, signal) : []),
    ...certificates.map((certificate) => ({
      kind: "certificate",
      name: certificate.domain,
      remove: () => removeCertificate(cloud, certificate, zones, signal),
    })),
    ...(await ownFunction(cloud, app, signal)),
    ...(await ownRole(cloud, app, signal)),
    ...(await ownArtifacts(cloud, app, signal)),
    ...zones.map((zone) => ({
      kind: "zone",
      name: zone.name,
      remove: () => removeZone(cloud, zone.id, zone.name, signal),
    })),
    ...(await ownLogs(cloud, app, logs, signal)),
    ...(await ownVariables(cloud, app, env, signal)),
  ];
}

/** Deletes everything, one after another. If something cannot be deleted, the reason is returned and the rest is deleted. */
export async function removeAll(
  cloud: Cloud,
  app: string,
  options: OwnedOptions,
  watched: Watched,
): Promise<RemoveResult> {
  const removed: Owned[] = [];
  const left: (Owned & { reason: string })[] = [];
  for (const { kind, name, stays, remove } of await ownedResources(cloud, app, options, watched)) {
    const reason = stays ?? (await remove());
    if (reason === undefined) {
      removed.push({ kind, name });
      if (kind !== "stack") watched.report({ kind: "note", text: `removed ${kind} ${name}` });
    } else left.push({ kind, name, reason });
  }
  return { removed, left };
}

async function removeStack(
  cloud: Cloud,
  name: string,
  template: TemplateDocument | undefined,
  watched: Watched,
): Promise<undefined> {
  const watch = { ...watched, about: template === undefined ? {} : aboutOf(template) };
  await untilIdle(cloud, name, watch);
  const stack = await describeStack(cloud, name, watched.signal);
  if (stack === undefined) return;
  const client = await cloud.cloudFormation();
  await operate(
    cloud,
    name,
    async (ClientRequestToken) => {
      await client.deleteStack({ StackName: stack.StackId!, ClientRequestToken }, { abortSignal: watched.signal });
      // A deleted stack can be looked up by its id only.
      return stack.StackId!;
    },
    watch,
  );
}

/** The stack leaves them. One that has something is kept. */
async function ownBuckets(cloud: Cloud, app: string, signal: AbortSignal): Promise<OwnedResource[]> {
  const names = await failureBucketsOf(cloud, app, signal);
  return Promise.all(
    names.map(async (name) => ({
      kind: "bucket",
      name,
      stays: await whyKept(cloud, name, signal),
      remove: () => removeFailureBucket(cloud, name, signal),
    })),
  );
}

interface OwnCertificate {
  readonly arn: string;
  readonly domain: string;
  readonly record: { readonly name: string; readonly value: string } | undefined;
}

async function ownCertificates(cloud: Cloud, app: string, signal: AbortSignal): Promise<OwnCertificate[]> {
  if (!hasEdge(cloud.region)) return [];
  const acm = await cloud.acm(CERTIFICATE_REGION);
  const certificates: OwnCertificate[] = [];
  for (let NextToken: string | undefined; ; ) {
    const page = await acm.listCertificates(
      { MaxItems: 1000, ...(NextToken && { NextToken }) },
      { abortSignal: signal },
    );
    for (const { CertificateArn, DomainName } of page.CertificateSummaryList ?? []) {
      const { Tags = [] } = await acm.listTagsForCertificate(
        { CertificateArn: CertificateArn! },
        { abortSignal: signal },
      );
      if (!Tags.some(({ Key, Value }) => Key === TAGS.app && Value === app)) continue;
      const { Certificate } = await acm.describeCertificate(
        { CertificateArn: CertificateArn! },
        { abortSignal: signal },
      );
      const record = Certificate?.DomainValidationOptions?.[0]?.ResourceRecord;
      certificates.push({
        arn: CertificateArn!,
        domain: DomainName!,
        record: record === undefined ? undefined : { name: record.Name!, value: record.Value! },
      });
    }
    NextToken = page.NextToken;
    if (NextToken === undefined) return certificates;
  }
}

async function removeCertificate(
  cloud: Cloud,
  { arn, domain, record }: OwnCertificate,
  zones: readonly ZoneState[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const acm = await cloud.acm(CERTIFICATE_REGION);
  try {
    await acm.deleteCertificate({ CertificateArn: arn }, { abortSignal: signal });
  } catch (error) {
    if ((error as Error).name !== "ResourceInUseException") throw error;
    return "something else uses it";
  }
  const names = Object.fromEntries(zones.map(({ name, id }) => [name, id]));
  const zone = zoneOf(domain, names);
  if (record !== undefined && zone !== undefined) {
    await changeRecord(cloud, { action: "DELETE", zoneId: zone.id, record }, signal).catch((error: Error) => {
      // It was never written, or was changed since.
      if (error.name !== "InvalidChangeBatch") throw error;
    });
  }
  return undefined;
}

const NOT_OURS = `its tag ${TAGS.app} is not this app: the tool did not make it`;

async function ownFunction(cloud: Cloud, app: string, signal: AbortSignal): Promise<OwnedResource[]> {
  const lambda = await cloud.lambda();
  const name = functionName(app);
  const existing = await unlessAbsent(lambda.getFunction({ FunctionName: name }, { abortSignal: signal }));
  if (existing === undefined) return [];
  const isOurs = existing.Tags?.[TAGS.app] === app;
  return [
    {
      kind: "function",
      name,
      stays: isOurs ? undefined : NOT_OURS,
      async remove() {
        // Deletes its versions and aliases, too.
        await lambda.deleteFunction({ FunctionName: name }, { abortSignal: signal });
        return undefined;
      },
    },
  ];
}

async function ownRole(cloud: Cloud, app: string, signal: AbortSignal): Promise<OwnedResource[]> {
  const iam = await cloud.iam();
  const RoleName = roleName(app, cloud.region);
  const existing = await unlessAbsent(iam.getRole({ RoleName }, { abortSignal: signal }));
  if (existing === undefined) return [];
  const isOurs = existing.Role?.Tags?.some(({ Key, Value }) => Key === TAGS.app && Value === app) === true;
  return [
    {
      kind: "role",
      name: RoleName,
      stays: isOurs ? undefined : NOT_OURS,
      async remove() {
        const attached = await iam.listAttachedRolePolicies({ RoleName }, { abortSignal: signal });
        const names = (attached.AttachedPolicies ?? []).map(({ PolicyName }) => PolicyName);
        if (names.length > 0) return `policies that are not ours are attached: ${names.join(", ")}`;
        const { PolicyNames = [] } = await iam.listRolePolicies({ RoleName }, { abortSignal: signal });
        for (const PolicyName of PolicyNames)
          await iam.deleteRolePolicy({ RoleName, PolicyName }, { abortSignal: signal });
        await iam.deleteRole({ RoleName }, { abortSignal: signal });
        return undefined;
      },
    },
  ];
}

/** The app's archives in the bucket, which all apps of the account and region share. */
async function ownArtifacts(cloud: Cloud, app: string, signal: AbortSignal): Promise<OwnedResource[]> {
  const s3 = await cloud.s3();
  const accountId = await cloud.accountId();
  const Bucket = bucketName(accountId, cloud.region);
  const bucket = { Bucket, ExpectedBucketOwner: accountId };
  const keys: string[] = [];
  for (let ContinuationToken: string | undefined; ; ) {
    const page = await unlessAbsent(
      s3.listObjectsV2(
        { ...bucket, Prefix: artifactPrefix(app), ...(ContinuationToken && { ContinuationToken }) },
        { abortSignal: signal },
      ),
    );
    keys.push(...(page?.Contents ?? []).map(({ Key }) => Key!));
    ContinuationToken = page?.NextContinuationToken;
    if (ContinuationToken === undefined) break;
  }
  if (keys.length === 0) return [];
  return [
    {
      kind: "archives",
      name: `${keys.length} in ${Bucket}`,
      async remove() {
        for (const Key of keys) await s3.deleteObject({ ...bucket, Key }, { abortSignal: signal });
        return undefined;
      },
    },
  ];
}

/** The zones of the stack, and zones with our tag that an earlier stack left. */
async function ownZones(
  cloud: Cloud,
  app: string,
  ofStack: readonly ZoneState[],
  signal: AbortSignal,
): Promise<ZoneState[]> {
  const route53 = await cloud.route53();
  const zones = [...ofStack];
  for (let Marker: string | undefined; ; ) {
    const page = await route53.listHostedZones({ ...(Marker && { Marker }) }, { abortSignal: signal });
    for (const { Id, Name } of page.HostedZones ?? []) {
      const id = idOf(Id!);
      if (zones.some((zone) => zone.id === id)) continue;
      const { ResourceTagSet } = await route53.listTagsForResource(
        { ResourceType: "hostedzone", ResourceId: id },
        { abortSignal: signal },
      );
      const isOurs = ResourceTagSet?.Tags?.some(({ Key, Value }) => Key === TAGS.app && Value === app);
      if (isOurs) zones.push({ name: Name!.replace(/\.$/, ""), id, nameservers: [] });
    }
    Marker = page.IsTruncated ? page.NextMarker : undefined;
    if (Marker === undefined) return zones;
  }
}

async function removeZone(cloud: Cloud, id: string, name: string, signal: AbortSignal): Promise<string | undefined> {
  const route53 = await cloud.route53();
  const { ResourceRecordSets = [] } = await route53.listResourceRecordSets(
    { HostedZoneId: id },
    { abortSignal: signal },
  );
  const isApex = (record: string | undefined) => record?.replace(/\.$/, "").toLowerCase() === name;
  // A zone can be deleted when only its own NS and SOA records are left.
  const foreign = ResourceRecordSets.filter(({ Name, Type }) => !(isApex(Name) && (Type === "NS" || Type === "SOA")));
  if (foreign.length > 0) {
    const examples = foreign.slice(0, 3).map(({ Name, Type }) => `${Name!.replace(/\.$/, "")} ${Type}`);
    const more = foreign.length > 3 ? ` and ${foreign.length - 3} more` : "";
    return `it holds records that are not ours: ${examples.join(", ")}${more}`;
  }
  await route53.deleteHostedZone({ Id: id }, { abortSignal: signal });
  return undefined;
}

async function ownLogs(cloud: Cloud, app: string, remove: boolean, signal: AbortSignal): Promise<OwnedResource[]> {
  const client = await cloud.logs();
  const logGroupNamePrefix = logGroupName(app);
  const { logGroups = [] } = await client.describeLogGroups({ logGroupNamePrefix }, { abortSignal: signal });
  return logGroups
    .filter(({ logGroupName }) => logGroupName === logGroupNamePrefix)
    .map(({ logGroupName }) => ({
      kind: "log group",
      name: logGroupName!,
      stays: remove ? undefined : "tool stack delete --logs removes it",
      async remove() {
        await client.deleteLogGroup({ logGroupName: logGroupName! }, { abortSignal: signal });
        return undefined;
      },
    }));
}

/**
 * The variables of `tool env`, which may be the only copy of a secret, are named and kept unless they are asked for. The
 * snapshots of deployments go with their function.
 */
async function ownVariables(
  cloud: Cloud,
  app: string,
  removesVariables: boolean,
  signal: AbortSignal,
): Promise<OwnedResource[]> {
  const store = { ssm: await cloud.ssm(), app, signal };
  const prefix = parameterPrefix(app);
  const of = (path: string) => path.slice(prefix.length).split("/");
  // A parameter that is in no stage is not ours.
  const names = (await allBelow(store, prefix, false)).map(({ Name }) => Name!).filter((name) => of(name).length > 1);
  const snapshots = names.filter((name) => of(name)[0] === SNAPSHOTS);
  const tokens = names.filter((name) => of(name)[0] === LOG_TOKENS);
  const stages = [...new Set(names.map((name) => of(name)[0]!))].filter((stage) => !stage.startsWith(".")).sort();
  const remove = (paths: readonly string[]) => async () => {
    await removeParameters(store, paths);
    return undefined;
  };
  const resources = stages.map((stage): OwnedResource => {
    const own = names.filter((name) => of(name)[0] === stage);
    // The parts of a large value are below its name.
    const variables = [...new Set(own.map((name) => of(name)[1]!))].sort();
    return {
      kind: stage === ALL_STAGES ? "variables for all stages" : `variables for ${stage}`,
      name: shortList(variables),
      stays: removesVariables ? undefined : "tool stack delete --env removes them",
      remove: remove(own),
    };
  });
  const nameOf = (path: string) => (of(path)[1] === ALL_OF_APP ? "the app" : of(path)[1]!);
  const stagesOf = (paths: readonly string[]) => shortList(paths.map(nameOf).sort());
  return [
    ...(snapshots.length === 0 ? [] : [{ kind: "variables", name: "of deployed versions", remove: remove(snapshots) }]),
    ...(tokens.length === 0
      ? []
      : [{ kind: "tokens for the log service", name: stagesOf(tokens), remove: remove(tokens) }]),
    ...resources,
  ];
}

/** Undefined if a service reports that the resource does not exist; each service has its own name for that error. */
async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    const { name } = error as Error;
    if (
      ["ResourceNotFoundException", "NoSuchEntityException", "NoSuchEntity", "NoSuchBucket", "NotFound"].includes(name)
    )
      return undefined;
    throw error;
  }
}
