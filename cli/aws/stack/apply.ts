import { randomUUID } from "node:crypto";
import type { Change as CloudChange, DescribeChangeSetCommandOutput } from "@aws-sdk/client-cloudformation";
import { PlatformError } from "../../platform/error.ts";
import { usesFirehose } from "../../platform/log-tokens.ts";
import type { StackPlan } from "../../platform/stack.ts";
import type { Cloud } from "../clients.ts";
import { makeLogGroup } from "../log-retention.ts";
import { FAILURE_BUCKET, stackName } from "../names.ts";
import { type KnownCertificate, tagCertificates, writeValidationRecord } from "./certificates.ts";
import { additions, stackChanges } from "./changes.ts";
import { isRace, newParameters, stackOptions } from "./ensure-stage.ts";
import { failureBucketsOf, removeFailureBucket } from "./failure-bucket.ts";
import { STREAM_KEY } from "./log-stream.ts";
import { type OperationEvent, operate, removeRemains, untilIdle, type Watch } from "./operation.ts";
import { aboutOf, resourceTags, type StackInput } from "./resource.ts";
import { describeStack, readStack, readTemplate } from "./state.ts";
import { type StackSurvey, surveyStack } from "./survey.ts";

export interface Applied {
  readonly outcome: "created" | "updated" | "unchanged" | "cancelled";
  readonly plan: StackPlan;
}

interface Watched {
  readonly signal: AbortSignal;
  readonly report: (event: OperationEvent) => void;
}

/** How often another run may change the stack after we looked at it and before we change it. */
const MAX_RACES = 5;

/** A change set is computed in seconds. */
const CHANGE_SET_POLL_MS = 500;

/** Lists the changes that `apply` would make, from a change set that is created and deleted again. */
export async function planStack(cloud: Cloud, input: StackInput, { signal }: Watched): Promise<StackPlan> {
  const survey = await surveyStack(cloud, input, { signal, request: false });
  if (survey.state === undefined) return planOf(cloud, survey, additions(survey.wanted.template));
  const set = await makeChangeSet(cloud, survey, signal);
  if (set === undefined) return planOf(cloud, survey, []);
  await removeChangeSet(cloud, set.id);
  return planOf(cloud, survey, stackChanges(set.changes, survey.before!, survey.wanted.template));
}

export interface ApplyOptions {
  readonly confirm: (plan: StackPlan) => Promise<boolean>;
  /** The token of the stream to the log service. Throws a PlatformError if there is none. */
  readonly streamKey: () => Promise<string>;
}

/** Creates or updates the stack to match tool.json. Certificates are requested before anything is changed. */
export async function applyStack(
  cloud: Cloud,
  input: StackInput,
  { confirm, streamKey: keyOf }: ApplyOptions,
  watched: Watched,
): Promise<Applied> {
  const { signal } = watched;
  const name = stackName(input.name);
  const streamKey = usesFirehose(input.config) ? await keyOf() : undefined;
  for (let race = 1; ; race++) {
    const idle: Watch = { ...watched, about: {} };
    const status = await untilIdle(cloud, name, idle);
    if (status !== undefined) await removeRemains(cloud, name, status, idle);
    const survey = await surveyStack(cloud, input, { signal, request: true, streamKey });
    try {
      const applied = await (survey.state === undefined
        ? create(cloud, survey, watched)
        : update(cloud, survey, confirm, watched));
      return applied.outcome === "cancelled" ? applied : await validateInNewZones(cloud, survey, applied, signal);
    } catch (error) {
      if (race === MAX_RACES || !isRace(error)) throw error;
    }
  }
}

/** Writes validation records into zones that this apply has created. Their certificates were requested before. */
async function validateInNewZones(
  cloud: Cloud,
  survey: StackSurvey,
  applied: Applied,
  signal: AbortSignal,
): Promise<Applied> {
  const isOpen = ({ validation }: KnownCertificate) => validation?.by === "record" && !validation.isMade;
  if (!survey.certificates.some(isOpen)) return applied;
  const state = await readStack(cloud, survey.input.name, signal);
  const zones = Object.fromEntries((state?.zones ?? []).map(({ name, id }) => [name, id]));
  const certificates: KnownCertificate[] = [];
  for (const certificate of survey.certificates) {
    certificates.push(
      isOpen(certificate) ? await writeValidationRecord(cloud, certificate, zones, signal) : certificate,
    );
  }
  return { ...applied, plan: planOf(cloud, { ...survey, certificates }, applied.plan.changes) };
}

/** The subscription of the stream is one of the log group, which is not in the stack. */
async function makeLog(cloud: Cloud, { config }: StackInput, signal: AbortSignal): Promise<void> {
  if (usesFirehose(config)) await makeLogGroup(cloud, config, { signal, isNeeded: true });
}

async function create(cloud: Cloud, survey: StackSurvey, watched: Watched): Promise<Applied> {
  await makeLog(cloud, survey.input, watched.signal);
  const { template, parameters } = survey.wanted;
  const client = await cloud.cloudFormation();
  const common = await stackOptions(cloud, survey.input, template, watched.signal);
  await operate(
    cloud,
    survey.input.name,
    async (ClientRequestToken) => {
      const options = { ...common, Parameters: newParameters(parameters) };
      const made = await client.createStack({ ...options, ClientRequestToken }, { abortSignal: watched.signal });
      return made.StackId!;
    },
    { ...watched, about: aboutOf(template) },
  );
  return { outcome: "created", plan: planOf(cloud, survey, additions(template)) };
}

async function update(
  cloud: Cloud,
  survey: StackSurvey,
  confirm: (plan: StackPlan) => Promise<boolean>,
  watched: Watched,
): Promise<Applied> {
  const { template } = survey.wanted;
  const set = await makeChangeSet(cloud, survey, watched.signal);
  if (set === undefined) return { outcome: "unchanged", plan: planOf(cloud, survey, []) };
  const plan = planOf(cloud, survey, stackChanges(set.changes, survey.before!, template));
  let isConfirmed = false;
  try {
    isConfirmed = await confirm(plan);
  } finally {
    if (!isConfirmed) await removeChangeSet(cloud, set.id);
  }
  if (!isConfirmed) return { outcome: "cancelled", plan };
  await makeLog(cloud, survey.input, watched.signal);
  // Before the stack's tags, by which the old ones are known if this is interrupted in between.
  const tags = { wanted: resourceTags(survey.input), before: survey.tagsBefore };
  await tagCertificates(cloud, survey.certificates, tags, watched.signal);
  const client = await cloud.cloudFormation();
  await operate(
    cloud,
    survey.input.name,
    async (ClientRequestToken) => {
      await client.executeChangeSet({ ChangeSetName: set.id, ClientRequestToken }, { abortSignal: watched.signal });
      return survey.state!.id;
    },
    // Removed resources are described by the previous template.
    { ...watched, about: { ...aboutOf(survey.before!), ...aboutOf(template) } },
  );
  if (survey.before!.Resources[FAILURE_BUCKET] !== undefined && template.Resources[FAILURE_BUCKET] === undefined) {
    await removeLeftBuckets(cloud, survey.input.name, watched);
  }
  return { outcome: "updated", plan };
}

/** The stack leaves the bucket of a stream that is gone, as one that has something cannot be deleted. */
async function removeLeftBuckets(cloud: Cloud, app: string, { signal, report }: Watched): Promise<void> {
  for (const name of await failureBucketsOf(cloud, app, signal)) {
    const reason = await removeFailureBucket(cloud, name, signal);
    const text = reason === undefined ? `removed bucket ${name}` : `left: bucket ${name}: ${reason}`;
    report({ kind: "note", text });
  }
}

/** A plan has no token for the stream: it stays, or is one that is never used. */
function changedParameters({ before, wanted }: StackSurvey) {
  return newParameters(wanted.parameters).map((parameter) => {
    if (parameter.ParameterKey !== STREAM_KEY || parameter.ParameterValue !== "") return parameter;
    return before?.Parameters?.[STREAM_KEY] === undefined
      ? { ...parameter, ParameterValue: "none" }
      : { ParameterKey: STREAM_KEY, UsePreviousValue: true };
  });
}

interface ChangeSet {
  readonly id: string;
  readonly changes: readonly CloudChange[];
}

/** Undefined if nothing would change. */
async function makeChangeSet(cloud: Cloud, survey: StackSurvey, signal: AbortSignal): Promise<ChangeSet | undefined> {
  const client = await cloud.cloudFormation();
  const { template } = survey.wanted;
  const created = await client.createChangeSet(
    {
      ...(await stackOptions(cloud, survey.input, template, signal)),
      StackName: survey.state!.id,
      Parameters: changedParameters(survey),
      ChangeSetName: `tool-${randomUUID()}`,
      ChangeSetType: "UPDATE",
    },
    { abortSignal: signal },
  );
  const id = created.Id!;
  const changes: CloudChange[] = [];
  try {
    for (let NextToken: string | undefined; ; ) {
      const set: DescribeChangeSetCommandOutput = await client.describeChangeSet(
        { ChangeSetName: id, ...(NextToken !== undefined && { NextToken }) },
        { abortSignal: signal },
      );
      if (set.Status === "FAILED") {
        const reason = set.StatusReason ?? "";
        await removeChangeSet(cloud, id);
        if (/didn't contain changes|no updates are to be performed/i.test(reason)) return undefined;
        throw new PlatformError("stack/plan-failed", `the change set cannot be made: ${reason.replace(/\.$/, "")}`);
      }
      if (set.Status !== "CREATE_COMPLETE") {
        await cloud.clock.sleep(CHANGE_SET_POLL_MS, signal);
        continue;
      }
      changes.push(...(set.Changes ?? []));
      NextToken = set.NextToken;
      if (NextToken === undefined) return { id, changes };
    }
  } catch (error) {
    if (signal.aborted) await removeChangeSet(cloud, id);
    throw error;
  }
}

/**
 * Gives the stream another token, and changes nothing else. False if the stack has no stream. Waits; entries that are refused
 * meanwhile are sent again.
 */
export async function changeStreamKey(
  cloud: Cloud,
  { name }: Pick<StackInput, "name">,
  key: string,
  watched: Watched,
): Promise<boolean> {
  const stack = await describeStack(cloud, stackName(name), watched.signal);
  const keys = (stack?.Parameters ?? []).map(({ ParameterKey }) => ParameterKey!);
  if (!keys.includes(STREAM_KEY)) return false;
  const about = aboutOf(await readTemplate(cloud, stack!.StackId!, watched.signal));
  await untilIdle(cloud, stackName(name), { ...watched, about });
  const client = await cloud.cloudFormation();
  await operate(
    cloud,
    name,
    async (ClientRequestToken) => {
      const Parameters = keys.map((ParameterKey) =>
        ParameterKey === STREAM_KEY ? { ParameterKey, ParameterValue: key } : { ParameterKey, UsePreviousValue: true },
      );
      const input = { StackName: stack!.StackId!, UsePreviousTemplate: true, Parameters, ClientRequestToken };
      await client.updateStack(
        { ...input, Capabilities: ["CAPABILITY_IAM"], Tags: stack!.Tags ?? [] },
        { abortSignal: watched.signal },
      );
      return stack!.StackId!;
    },
    { ...watched, about },
  );
  return true;
}

/** Ignores errors: a change set that is left changes nothing and is deleted with the stack. */
async function removeChangeSet(cloud: Cloud, id: string): Promise<void> {
  const client = await cloud.cloudFormation();
  await client.deleteChangeSet({ ChangeSetName: id }).catch(() => {});
}

function planOf(cloud: Cloud, survey: StackSurvey, changes: StackPlan["changes"]): StackPlan {
  return {
    name: survey.input.name,
    region: cloud.region,
    isNew: survey.state === undefined,
    changes,
    certificates: survey.certificates
      .filter(({ state }) => state !== "issued")
      .map(({ arn: _, ...certificate }) => certificate),
  };
}
