import { randomUUID } from "node:crypto";
import type { StackEvent as CloudEvent } from "@aws-sdk/client-cloudformation";
import { PlatformError } from "../../platform/error.ts";
import type { Cloud } from "../clients.ts";
import { explainFailure, readable } from "./failure.ts";
import { type About, aboutOf } from "./resource.ts";
import { describeStack, readTemplate } from "./state.ts";

/** The stack as a resource of itself. */
const STACK_TYPE = "AWS::CloudFormation::Stack";

/** A step of an operation on a stack, or a remark about it. */
export type OperationEvent =
  | {
      readonly kind: "resource";
      readonly logicalId: string;
      readonly type: string;
      /** A name of the resource for people, from the template's metadata. */
      readonly about: string;
      readonly stage: string | undefined;
      /** `CREATE_IN_PROGRESS` and the like. */
      readonly status: string;
      readonly reason: string | undefined;
      readonly at: Date;
      /** Whether the operation failed and is being rolled back. */
      readonly isRollback: boolean;
    }
  /** Something to know: another run has to finish first, a failed stack is created again. */
  | { readonly kind: "note"; readonly text: string };

export interface Watch {
  readonly report: (event: OperationEvent) => void;
  readonly signal: AbortSignal;
  /** The purposes of the resources, by logical id. */
  readonly about: Readonly<Record<string, About>>;
}

/** The first time between two polls, short so that a small change is noticed at once. */
const FIRST_POLL_MS = 300;
/**
 * The longest time between two polls. DescribeStackEvents is throttled per account; an edge-optimized domain takes minutes.
 */
const MAX_POLL_MS = 4000;

/**
 * Starts an operation and waits until it has ended. Only events with the token of this operation are reported. Throws a
 * PlatformError with the root cause if it fails. If `signal` aborts, the operation continues in the cloud.
 */
export async function operate(
  cloud: Cloud,
  name: string,
  start: (token: string) => Promise<string>,
  watch: Watch,
): Promise<void> {
  const token = `tool-${randomUUID()}`;
  const stackId = await start(token);
  const events = await untilSettled(cloud, stackId, (event) => event.ClientRequestToken === token, watch);
  const stack = await describeStack(cloud, stackId, watch.signal);
  // By now another run may have begun to change the stack: how ours ended is in its own events.
  const ended = events.findLast(
    ({ ResourceType, ResourceStatus }) => ResourceType === STACK_TYPE && !ResourceStatus?.endsWith("_IN_PROGRESS"),
  );
  const status = ended?.ResourceStatus ?? stack?.StackStatus ?? "DELETE_COMPLETE";
  if (/^(CREATE|UPDATE|DELETE)_COMPLETE$/.test(status)) return;
  throw explainFailure(name, status, events, watch.about);
}

/** Waits while another run changes the stack. Returns the status of the stack. */
export async function untilIdle(cloud: Cloud, name: string, watch: Watch): Promise<string | undefined> {
  const stack = await describeStack(cloud, name, watch.signal);
  if (stack === undefined) return undefined;
  if (!isWorking(stack.StackStatus!)) return stack.StackStatus;
  watch.report({
    kind: "note",
    text: `another run works on the stack (${stack.StackStatus}): waiting until it is done`,
  });
  const since = new Date(cloud.clock.nowMs());
  const isSince = ({ Timestamp }: CloudEvent) => Timestamp !== undefined && Timestamp >= since;
  const template = await readTemplate(cloud, stack.StackId!, watch.signal).catch(() => undefined);
  const about = template === undefined ? watch.about : aboutOf(template);
  await untilSettled(cloud, stack.StackId!, isSince, { ...watch, about });
  return (await describeStack(cloud, name, watch.signal))?.StackStatus;
}

/** `REVIEW_IN_PROGRESS` is the status of a change set that was never executed: nothing is in progress. */
const isWorking = (status: string) => status.endsWith("_IN_PROGRESS") && status !== "REVIEW_IN_PROGRESS";

/** Reports events until no operation is in progress. Returns them, oldest first. */
async function untilSettled(
  cloud: Cloud,
  stackId: string,
  isOurs: (event: CloudEvent) => boolean,
  { report, signal, about }: Watch,
): Promise<CloudEvent[]> {
  const seen = new Set<string>();
  const all: CloudEvent[] = [];
  const last = new Map<string, string | undefined>();
  let isRollback = false;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, MAX_POLL_MS)) {
    // Read before the events, so that these include everything up to that status.
    const status = (await describeStack(cloud, stackId, signal))?.StackStatus ?? "DELETE_COMPLETE";
    for (const event of await newEvents(cloud, stackId, seen, signal)) {
      if (!isOurs(event)) continue;
      all.push(event);
      const { LogicalResourceId: logicalId, ResourceType: type, ResourceStatus, Timestamp } = event;
      // The stack is a resource of itself; its state is the operation's.
      if (type === STACK_TYPE && /ROLLBACK_IN_PROGRESS$/.test(ResourceStatus ?? "") && !isRollback) {
        isRollback = true;
        report({ kind: "note", text: "that failed: rolling back" });
      }
      if (logicalId === undefined || type === STACK_TYPE) continue;
      // CREATE_IN_PROGRESS comes again when the resource has its id.
      if (last.get(logicalId) === ResourceStatus) continue;
      last.set(logicalId, ResourceStatus);
      report({
        kind: "resource",
        logicalId,
        type: type ?? "",
        about: about[logicalId]?.about ?? logicalId,
        stage: about[logicalId]?.stage,
        status: ResourceStatus ?? "",
        reason: event.ResourceStatusReason === undefined ? undefined : readable(event.ResourceStatusReason),
        at: Timestamp ?? new Date(cloud.clock.nowMs()),
        isRollback,
      });
    }
    if (!isWorking(status)) return all;
    await cloud.clock.sleep(pollMs, signal);
  }
}

/** The events that are new, oldest first. The service returns the newest first, in pages. */
async function newEvents(cloud: Cloud, stackId: string, seen: Set<string>, signal: AbortSignal): Promise<CloudEvent[]> {
  const client = await cloud.cloudFormation();
  const unseen: CloudEvent[] = [];
  for (let NextToken: string | undefined; ; ) {
    const page = await client.describeStackEvents(
      { StackName: stackId, ...(NextToken !== undefined && { NextToken }) },
      { abortSignal: signal },
    );
    const events = page.StackEvents ?? [];
    const fresh = events.filter(({ EventId }) => EventId !== undefined && !seen.has(EventId));
    unseen.push(...fresh);
    NextToken = page.NextToken;
    if (NextToken === undefined || fresh.length < events.length) break;
  }
  for (const { EventId } of unseen) seen.add(EventId!);
  return unseen.reverse();
}

/** Deletes what prevents the stack from being created: a failed first attempt, or an unexecuted change set. */
export async function removeRemains(cloud: Cloud, name: string, status: string, watch: Watch): Promise<void> {
  if (status === "UPDATE_ROLLBACK_FAILED" || status === "DELETE_FAILED") {
    throw new PlatformError(
      "stack/stuck",
      `the stack ${name} is stuck in ${status}`,
      status === "DELETE_FAILED"
        ? "run tool stack delete again: it says what blocks it"
        : `continue its rollback: aws cloudformation continue-update-rollback --stack-name ${name} --region ${cloud.region}; then run the command again`,
    );
  }
  if (!/^(ROLLBACK_COMPLETE|ROLLBACK_FAILED|CREATE_FAILED|REVIEW_IN_PROGRESS)$/.test(status)) return;
  if (status !== "REVIEW_IN_PROGRESS") {
    watch.report({ kind: "note", text: `the first attempt to make the stack failed (${status}): creating it again` });
  }
  const client = await cloud.cloudFormation();
  await operate(
    cloud,
    name,
    async (token) => {
      const { StackId } = (await describeStack(cloud, name, watch.signal))!;
      await client.deleteStack({ StackName: StackId!, ClientRequestToken: token }, { abortSignal: watch.signal });
      return StackId!;
    },
    { ...watch, report: () => {} },
  );
}
