import { THROTTLED } from "../../platform/progress.ts";
import type { Stack, StackEvent, StackWatch } from "../../platform/stack.ts";
import type { TargetOptions } from "../../platform/target.ts";
import { openCloud } from "../clients.ts";
import { explained } from "../errors.ts";
import { applyStack, planStack } from "./apply.ts";
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
  return {
    status: (watch) => call(watch, async () => readStatus(cloud, await input(), watch.signal)),
    plan: (watch) => call(watch, async () => planStack(cloud, await input(), translated(watch))),
    apply: (confirm, watch) =>
      call(watch, async () => {
        const stackInput = await input();
        const applied = await applyStack(cloud, stackInput, confirm, translated(watch));
        const status = applied.outcome === "cancelled" ? undefined : await readStatus(cloud, stackInput, watch.signal);
        return { ...applied, status };
      }),
    inventory: (options, watch) =>
      call(watch, async () => {
        const resources = await ownedResources(cloud, name, options, translated(watch));
        return resources.map(({ kind, name, stays }) => ({ kind, name, stays }));
      }),
    remove: (options, watch) => call(watch, () => removeAll(cloud, name, options, translated(watch))),
  };
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
