import { usesFirehose } from "../../platform/log-tokens.ts";
import { THROTTLED } from "../../platform/progress.ts";
import type { RemoveOptions, Stack, StackEvent, StackPlan, StackWatch } from "../../platform/stack.ts";
import type { TargetOptions } from "../../platform/target.ts";
import { type Cloud, openCloud } from "../clients.ts";
import { explained } from "../errors.ts";
import { changeRetention, type RetentionChange, retentionChange, retentionInPlan } from "../log-retention.ts";
import { type Applied, type ApplyOptions, applyStack, changeStreamKey, planStack } from "./apply.ts";
import type { OperationEvent } from "./operation.ts";
import { ownedResources, removeAll } from "./remove.ts";
import type { StackInput } from "./resource.ts";
import { readStatus } from "./status.ts";

/** Opens the stack of an app for the commands. */
export function openStack({ env, clock, config, resolved, sandbox }: TargetOptions): Stack {
  const { profile } = resolved;
  const { name } = config;
  const cloud = openCloud({ env, clock, region: resolved.regions[0]!, profile, sandbox });
  const input = async (): Promise<StackInput> => ({
    name,
    config,
    region: cloud.region,
    accountId: await cloud.accountId(),
  });
  const call = async <T>({ report }: StackWatch, run: () => Promise<T>) => {
    let isSaid = false;
    const throttled = () => {
      if (!isSaid) report({ kind: "note", text: THROTTLED });
      isSaid = true;
    };
    const stop = cloud.onThrottling({ throttled, resumed() {} });
    try {
      return await explained({ region: cloud.region, profile, isSandbox: sandbox !== undefined }, run);
    } finally {
      stop();
    }
  };
  const removing = (options: RemoveOptions) => ({ ...options, usesFirehose: usesFirehose(config) });
  return {
    status: (watch) => call(watch, async () => readStatus(cloud, await input(), watch.signal)),
    plan: (watch) =>
      call(watch, async () => {
        const stackPlan = await planStack(cloud, await input(), translated(watch));
        return withRetention(stackPlan, await retentionChange(cloud, config, watch.signal));
      }),
    apply: (options, watch) =>
      call(watch, async () => {
        const stackInput = await input();
        const applied = await applyAll(cloud, stackInput, options, watch);
        const status = applied.outcome === "cancelled" ? undefined : await readStatus(cloud, stackInput, watch.signal);
        return { ...applied, status };
      }),
    changeStreamKey: (key, watch) => call(watch, () => changeStreamKey(cloud, { name }, key, translated(watch))),
    inventory: (options, watch) =>
      call(watch, async () => {
        const resources = await ownedResources(cloud, name, removing(options), translated(watch));
        return resources.map(({ kind, name, stays }) => ({ kind, name, stays }));
      }),
    remove: (options, watch) => call(watch, () => removeAll(cloud, name, removing(options), translated(watch))),
  };
}

/** Brings the stack to what tool.json says, and the log group, which is not in it: the platform may have made that. */
async function applyAll(
  cloud: Cloud,
  input: StackInput,
  { confirm, streamKey }: ApplyOptions,
  watch: StackWatch,
): Promise<Applied> {
  const { config, name } = input;
  const retention = await retentionChange(cloud, config, watch.signal);
  let isAsked = false;
  const confirmAll = (plan: StackPlan) => {
    isAsked = true;
    return confirm(withRetention(plan, retention));
  };
  const applied = await applyStack(cloud, input, { confirm: confirmAll, streamKey }, translated(watch));
  if (retention === undefined || applied.outcome === "cancelled") return applied;
  const plan = withRetention(applied.plan, retention);
  // Without other changes nobody was asked.
  if (!isAsked && !(await confirm({ ...plan, changes: [retentionInPlan(name, retention)] }))) {
    return applied.outcome === "unchanged" ? { outcome: "cancelled", plan } : applied;
  }
  await changeRetention(cloud, name, retention, watch.signal);
  return { outcome: applied.outcome === "unchanged" ? "updated" : applied.outcome, plan };
}

function withRetention(plan: StackPlan, change: RetentionChange | undefined): StackPlan {
  if (change === undefined) return plan;
  return { ...plan, changes: [...plan.changes, retentionInPlan(plan.name, change)] };
}

/** Translates CloudFormation's events for the commands. */
function translated({ signal, report }: StackWatch) {
  return { signal, report: (event: OperationEvent) => report(translate(event)) };
}

function translate(event: OperationEvent): StackEvent {
  if (event.kind === "note") return event;
  const { logicalId, status, ...rest } = event;
  return {
    ...rest,
    id: logicalId,
    action: /DELETE/.test(status) ? "delete" : /CREATE/.test(status) ? "create" : "update",
    state: status.endsWith("_COMPLETE") ? "done" : status.endsWith("_FAILED") ? "failed" : "begun",
  };
}
