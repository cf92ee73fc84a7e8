import type { TargetOptions, Watched } from "../platform.ts";
import type { Cloud } from "./clients.ts";
import type { StageEndpoint, StageGateway } from "./function/deploy.ts";
import type { StackEvent, StackState } from "./stack/index.ts";

/** The stack of an app, as deploying a stage needs it. Its part is loaded when it is asked, which few deploys do. */
export function stageGateway(
  cloud: Cloud,
  { config }: Pick<TargetOptions, "config">,
  { signal, report }: Watched,
): StageGateway {
  const note = (event: StackEvent) => report({ kind: "note", phase: "stack", text: textOf(event) });
  return {
    async find(stage) {
      const { readStack } = await import("./stack/index.ts");
      return endpointIn(await readStack(cloud, config.name, signal), stage);
    },
    async ensure(stage, accountId) {
      const { ensureStage } = await import("./stack/index.ts");
      const input = { name: config.name, config, region: cloud.region, accountId };
      const endpoint = endpointIn(await ensureStage(cloud, input, stage, note, signal), stage);
      if (endpoint === undefined) throw new Error(`the stack of ${config.name} has no ${stage} after it was made`);
      return endpoint;
    },
  };
}

function endpointIn(state: StackState | undefined, stage: string): StageEndpoint | undefined {
  const found = state?.stages.find(({ name }) => name === stage);
  return state?.apiId === undefined || found === undefined ? undefined : { apiId: state.apiId, url: found.endpoint };
}

function textOf(event: StackEvent): string {
  if (event.kind === "note") return event.text;
  const { about, stage, status, reason } = event;
  const what = stage === undefined ? about : `${about} of ${stage}`;
  return `${what} ${status.toLowerCase().replaceAll("_", " ")}${reason === undefined ? "" : `: ${reason}`}`;
}
