import { DEFAULT_STAGES } from "../../schema/index.ts";
import type { TargetOptions, Watched } from "../platform.ts";
import type { Cloud } from "./clients.ts";
import type { StageEndpoint, StageGateway } from "./function/deploy.ts";
import { accountOf } from "./names.ts";
import type { StackEvent, StackInput, StackState } from "./stack/index.ts";

/** The stack of an app, as deploying a stage needs it. Its part is loaded when it is asked, which few deploys do. */
export function stageGateway(
  cloud: Cloud,
  { config }: Pick<TargetOptions, "config">,
  { signal, report }: Watched,
): StageGateway {
  const note = (event: StackEvent) =>
    report({ kind: "note", phase: "stack", text: textOf(event), isDetail: event.kind === "resource" });
  const inputFor = (accountId: string): StackInput => ({ name: config.name, config, region: cloud.region, accountId });
  return {
    async askedHash(accountId) {
      const { templateHash } = await import("./stack/index.ts");
      const stages = new Set([...DEFAULT_STAGES, ...Object.keys(config.stages ?? {})]);
      return templateHash(inputFor(accountId), [...stages]);
    },
    async find(stage) {
      const { readStack, templateHash } = await import("./stack/index.ts");
      return endpointIn(await readStack(cloud, config.name, signal), stage, inputFor, templateHash);
    },
    async ensure(stage, accountId) {
      const { ensureStage, templateHash } = await import("./stack/index.ts");
      const state = await ensureStage(cloud, inputFor(accountId), stage, note, signal);
      const endpoint = endpointIn(state, stage, inputFor, templateHash);
      if (endpoint === undefined) throw new Error(`the stack of ${config.name} has no ${stage} after it was made`);
      return endpoint;
    },
  };
}

function endpointIn(
  state: StackState | undefined,
  stage: string,
  inputFor: (accountId: string) => StackInput,
  templateHash: (input: StackInput, present: readonly string[]) => string,
): StageEndpoint | undefined {
  const found = state?.stages.find(({ name }) => name === stage);
  if (state?.apiId === undefined || found === undefined) return undefined;
  const present = state.stages.map(({ name }) => name);
  const isBehind = state.templateHash !== templateHash(inputFor(accountOf(state.id)), present);
  return { apiId: state.apiId, url: found.endpoint, isBehind };
}

function textOf(event: StackEvent): string {
  if (event.kind === "note") return event.text;
  const { about, stage, status, reason } = event;
  const what = stage === undefined ? about : `${about} of ${stage}`;
  return `${what} ${status.toLowerCase().replaceAll("_", " ")}${reason === undefined ? "" : `: ${reason}`}`;
}
