import type { Watched } from "../platform/progress.ts";
import type { TargetOptions } from "../platform/target.ts";
import { ALL_STAGES, type AppVariables } from "../platform/variables.ts";
import { openCloud } from "./clients.ts";
import { explained } from "./errors.ts";
import { deployedStages } from "./function/deployed-stages.ts";
import { isOutdated } from "./variables/outdated.ts";
import {
  describeVariables,
  listVariables,
  readEffective,
  readOne,
  readStage,
  removeVariables,
  setVariables,
  type VariableStore,
} from "./variables/store.ts";

/** The variables of the app that tool.json names. Makes no call yet. */
export function openVariables({ env, clock, config, resolved, sandbox }: TargetOptions): AppVariables {
  const region = resolved.regions[0]!;
  const { profile } = resolved;
  const app = config.name;
  const cloud = openCloud({ env, clock, region, profile, sandbox });
  const call = async <T>({ report, signal }: Watched, run: (store: VariableStore) => Promise<T>) => {
    const tell = (isOver: boolean) => () => report({ kind: "throttled", isOver });
    const stop = cloud.onThrottling({ throttled: tell(false), resumed: tell(true) });
    try {
      return await explained({ region, profile, isSandbox: sandbox !== undefined }, async () =>
        run({ ssm: await cloud.ssm(), app, signal }),
      );
    } finally {
      stop();
    }
  };
  return {
    read: (stage, watched) => call(watched, (store) => readEffective(store, stage)),
    readOne: (stage, name, watched) => call(watched, (store) => readOne(store, stage, name)),
    names: (watched) =>
      call(watched, async (store) => (await describeVariables(store)).map(({ stage, name }) => ({ stage, name }))),
    list: (watched) => call(watched, (store) => listVariables(store)),
    set: (request, watched) => call(watched, (store) => setVariables(store, request)),
    remove: ({ stage, names }, watched) => call(watched, (store) => removeVariables(store, stage, names)),
    outdatedStages: (watched) =>
      call(watched, async (store) => {
        const deployed = await deployedStages(await cloud.lambda(), app, store.signal);
        if (deployed.length === 0) return [];
        const all = await readStage(store, ALL_STAGES);
        const outdated = deployed.map(async ({ stage, environment }) => {
          const stored = { ...all, ...(await readStage(store, stage)) };
          return isOutdated({ stage, environment, config: resolved, stored }) ? [stage] : [];
        });
        return (await Promise.all(outdated)).flat().sort();
      }),
  };
}
