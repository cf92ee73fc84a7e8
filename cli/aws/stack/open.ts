import type { TargetOptions } from "../../platform.ts";
import type { Stack, StackEvent, StackWatch } from "../../stack.ts";
import { openCloud } from "../clients.ts";
import { explained } from "../errors.ts";
import { apply, plan } from "./apply.ts";
import type { StackEvent as OwnEvent } from "./operation.ts";
import { possessions, removeAll } from "./remove.ts";
import { readStatus } from "./status.ts";
import type { StackInput } from "./template.ts";

/** The stack of an app, as commands speak of it. */
export function openStack({ env, config, resolved }: TargetOptions): Stack {
  const { profile } = resolved;
  const { name } = config;
  const cloud = openCloud({ env, region: resolved.regions[0]!, profile });
  const input = async (): Promise<StackInput> => ({
    name,
    config,
    region: cloud.region,
    accountId: await cloud.accountId(),
  });
  const call = <T>(run: () => Promise<T>) => explained({ region: cloud.region, profile }, run);
  return {
    status: ({ signal }) => call(async () => readStatus(cloud, await input(), signal)),
    plan: (watch) => call(async () => plan(cloud, await input(), translated(watch))),
    apply: (confirm, watch) =>
      call(async () => {
        const asked = await input();
        const applied = await apply(cloud, asked, confirm, translated(watch));
        const status = applied.outcome === "cancelled" ? undefined : await readStatus(cloud, asked, watch.signal);
        return { ...applied, status };
      }),
    inventory: (options, watch) =>
      call(async () => {
        const found = await possessions(cloud, name, options, translated(watch));
        return found.map(({ kind, name, stays }) => ({ kind, name, stays }));
      }),
    remove: (options, watch) => call(() => removeAll(cloud, name, options, translated(watch))),
  };
}

/** Events in words of the command line. */
function translated({ signal, report }: StackWatch) {
  return { signal, report: (event: OwnEvent) => report(translate(event)) };
}

function translate(event: OwnEvent): StackEvent {
  if (event.kind === "note") return event;
  const { logicalId, status, ...rest } = event;
  return {
    ...rest,
    id: logicalId,
    action: /DELETE/.test(status) ? "delete" : /CREATE/.test(status) ? "create" : "update",
    state: status.endsWith("_COMPLETE") ? "done" : status.endsWith("_FAILED") ? "failed" : "begun",
  };
}
