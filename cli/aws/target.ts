import { forStage } from "../../schema/index.ts";
import type { StageBefore, Target, TargetOptions, Watched } from "../platform.ts";
import { openCloud } from "./clients.ts";
import { explained } from "./errors.ts";
import { deployStage, type StageBefore as FunctionBefore, lookAtStage, type StageDeploy } from "./function/deploy.ts";
import { listDeployments, pruneStage } from "./function/history.ts";
import { rollbackStage } from "./function/rollback.ts";
import { type RuntimeLayerFile, runtimeLayerFile } from "./layer/runtime-layer.ts";
import { stageGateway } from "./stage-gateway.ts";

/** The function platform behind a REST API. */
export function openTarget({ env, config, resolved }: TargetOptions): Target {
  const region = resolved.regions[0]!;
  const { profile } = resolved;
  const cloud = openCloud({ env, region, profile });
  const call = <T>(run: () => Promise<T>) => explained({ region, profile }, run);
  const gateway = (watched: Watched) => stageGateway(cloud, { config }, watched);
  const deploying = (stage: string, watched: Watched): StageDeploy => ({
    cloud,
    gateway: gateway(watched),
    stage,
    written: config,
    staged: { written: forStage(config, stage), config: forStage(resolved, stage) },
  });
  let runtimeLayer: RuntimeLayerFile | undefined;
  return {
    region,
    look: (stage, watched) => call(() => lookAtStage(deploying(stage, watched), watched)),
    async prepare({ needsLayer }, watched) {
      if (needsLayer) runtimeLayer = await runtimeLayerFile(env, watched);
    },
    deploy: ({ before, artifact, commit }, watched) =>
      call(async () => {
        if (artifact.needsLayer) runtimeLayer ??= await runtimeLayerFile(env, watched);
        return deployStage(
          deploying(before.stage, watched),
          before as StageBefore & FunctionBefore,
          { ...artifact, runtimeLayer: artifact.needsLayer ? runtimeLayer : undefined },
          commit,
          watched,
        );
      }),
    rollback: (request, watched) =>
      call(async () => rollbackStage(await cloud.lambda(), config.name, request, watched)),
    deploys: (watched) => call(async () => listDeployments(await cloud.lambda(), config.name, watched)),
    prune: (request, watched) => call(() => pruneStage(cloud, config.name, request, watched)),
    url: (stage, watched) => call(async () => (await gateway(watched).find(stage))?.url),
  };
}
