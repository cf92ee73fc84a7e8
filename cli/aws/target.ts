import { forStage } from "../../schema/index.ts";
import type { Watched } from "../platform/progress.ts";
import type { DeployRequest, DeployTarget, TargetOptions } from "../platform/target.ts";
import { openCloud } from "./clients.ts";
import { explained } from "./errors.ts";
import { deployStage, lookAtStage, type StageDeploy, type StageGateway, type StageLook } from "./function/deploy.ts";
import { listDeployments, pruneStage } from "./function/history.ts";
import { rollbackStage } from "./function/rollback.ts";
import { fixedVariables } from "./function/settings.ts";
import { type RuntimeLayerFile, runtimeLayerFile } from "./layer/runtime-layer.ts";
import { packVariables } from "./variables/pack.ts";
import { readEffective } from "./variables/store.ts";

/** Lambda behind an API gateway. */
export function openTarget({ env, clock, config, resolved, sandbox }: TargetOptions): DeployTarget {
  const region = resolved.regions[0]!;
  const { profile } = resolved;
  const cloud = openCloud({ env, clock, region, profile, sandbox });
  const call = async <T>({ report }: Watched, run: () => Promise<T>) => {
    const tell = (isOver: boolean) => () => report({ kind: "throttled", isOver });
    const stop = cloud.onThrottling({ throttled: tell(false), resumed: tell(true) });
    try {
      return await explained({ region, profile, isSandbox: sandbox !== undefined }, run);
    } finally {
      stop();
    }
  };
  const gateway = (watched: Watched, streamKey?: DeployRequest["streamKey"]): StageGateway => {
    // Imported when first asked: a rollback, a list and most looks before a build ask nothing about the stack.
    const open = async () => (await import("./stage-gateway.ts")).stageGateway(cloud, { config, streamKey }, watched);
    return {
      stackHash: async (accountId) => (await open()).stackHash(accountId),
      find: async (stage) => (await open()).find(stage),
      ensure: async (stage, accountId) => (await open()).ensure(stage, accountId),
    };
  };
  const deploying = (stage: string, watched: Watched, streamKey?: DeployRequest["streamKey"]): StageDeploy => ({
    cloud,
    gateway: gateway(watched, streamKey),
    stage,
    written: config,
    staged: { written: forStage(config, stage), config: forStage(resolved, stage) },
  });
  let runtimeLayer: RuntimeLayerFile | undefined;
  return {
    region,
    variables: (stage, watched) =>
      call(watched, async () => {
        const store = { ssm: await cloud.ssm(), app: config.name, signal: watched.signal };
        const stored = await readEffective(store, stage);
        // Without what only the deploy knows, which is short.
        packVariables(
          stage,
          fixedVariables(forStage(resolved, stage), { stage, commit: undefined, wrapper: "" }),
          stored,
        );
        return stored;
      }),
    look: (stage, watched) => call(watched, () => lookAtStage(deploying(stage, watched), watched)),
    async prepare({ needsLayer }, watched) {
      if (needsLayer) runtimeLayer = await runtimeLayerFile(env, { ...watched, clock });
    },
    deploy: ({ before, artifact, commit, variables, logs, streamKey, checks }, watched) =>
      call(watched, async () => {
        if (artifact.needsLayer) runtimeLayer ??= await runtimeLayerFile(env, { ...watched, clock });
        return deployStage(
          deploying(before.stage, watched, streamKey),
          {
            before: before as StageLook,
            artifact: { ...artifact, runtimeLayer: artifact.needsLayer ? runtimeLayer : undefined },
            commit,
            variables,
            logs,
            checks,
          },
          watched,
        );
      }),
    rollback: (request, watched) => call(watched, () => rollbackStage(cloud, config.name, request, watched)),
    deploys: (watched) => call(watched, async () => listDeployments(await cloud.lambda(), config.name, watched)),
    prune: (request, watched) => call(watched, () => pruneStage(cloud, config.name, request, watched)),
    url: (stage, watched) => call(watched, async () => (await gateway(watched).find(stage))?.url),
  };
}
