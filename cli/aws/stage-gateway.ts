import { DEFAULT_STAGES } from "../../schema/index.ts";
import type { Watched } from "../platform/progress.ts";
import type { DeployRequest, TargetOptions } from "../platform/target.ts";
import type { Cloud } from "./clients.ts";
import { isNotFound } from "./function/aliases.ts";
import type { StageEndpoint, StageGateway } from "./function/deploy.ts";
import { accountOf, functionName, partition, stageAlias } from "./names.ts";
import { ensureStage } from "./stack/ensure-stage.ts";
import type { OperationEvent } from "./stack/operation.ts";
import type { StackInput } from "./stack/resource.ts";
import { readStack, type StackState } from "./stack/state.ts";
import { templateHash } from "./stack/template.ts";

/** The stack of an app, as deploying a stage needs it. */
export function stageGateway(
  cloud: Cloud,
  { config, streamKey }: Pick<TargetOptions, "config"> & Pick<DeployRequest, "streamKey">,
  { signal, report }: Watched,
): StageGateway {
  const note = (event: OperationEvent) =>
    report({ kind: "note", phase: "stack", text: textOf(event), isDetail: event.kind === "resource" });
  const inputFor = (accountId: string): StackInput => ({ name: config.name, config, region: cloud.region, accountId });
  return {
    async stackHash(accountId) {
      const stages = new Set([...DEFAULT_STAGES, ...Object.keys(config.stages ?? {})]);
      return templateHash(inputFor(accountId), [...stages]);
    },
    async find(stage) {
      return endpointIn(await readStack(cloud, config.name, signal), stage, inputFor);
    },
    async ensure(stage, accountId) {
      const state = await ensureStage(cloud, inputFor(accountId), stage, { report: note, signal, streamKey });
      const endpoint = endpointIn(state, stage, inputFor);
      if (endpoint === undefined) throw new Error(`the stack of ${config.name} has no ${stage} after it was made`);
      if (!state.isChanged)
        await allowAgain(cloud, { name: config.name, stage, apiId: endpoint.apiId, accountId, signal });
      return endpoint;
    },
  };
}

/**
 * The gateway's permission to call the stage is attached to its alias and is deleted with it. If somebody removed the alias,
 * CloudFormation still believes that the permission exists.
 */
async function allowAgain(
  cloud: Cloud,
  at: {
    readonly name: string;
    readonly stage: string;
    readonly apiId: string;
    readonly accountId: string;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const lambda = await cloud.lambda();
  const { region } = cloud;
  const alias = { FunctionName: functionName(at.name), Qualifier: stageAlias(at.stage) };
  const options = { abortSignal: at.signal };
  try {
    await lambda.getPolicy(alias, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await lambda.addPermission(
      {
        ...alias,
        StatementId: `tool-${at.stage}`,
        Action: "lambda:InvokeFunction",
        Principal: "apigateway.amazonaws.com",
        SourceArn: `arn:${partition(region)}:execute-api:${region}:${at.accountId}:${at.apiId}/${at.stage}/*`,
      },
      options,
    );
  }
}

function endpointIn(
  state: StackState | undefined,
  stage: string,
  inputFor: (accountId: string) => StackInput,
): StageEndpoint | undefined {
  const stageState = state?.stages.find(({ name }) => name === stage);
  if (state?.apiId === undefined || stageState === undefined) return undefined;
  const present = state.stages.map(({ name }) => name);
  const isBehind = state.templateHash !== templateHash(inputFor(accountOf(state.id)), present);
  return { apiId: state.apiId, url: stageState.endpoint, isBehind };
}

/** `making the gateway`, `made the gateway`. */
function textOf(event: OperationEvent): string {
  if (event.kind === "note") return event.text;
  const { about, stage, status, reason } = event;
  const what = stage === undefined ? about : `${about} of ${stage}`;
  const [, verb = "", state = ""] = /^(CREATE|UPDATE|DELETE)_(IN_PROGRESS|COMPLETE)$/.exec(status) ?? [];
  const [present, past] = VERBS[verb] ?? [];
  if (present !== undefined) return `${state === "COMPLETE" ? past : present} ${what}`;
  return `${what} ${status.toLowerCase().replaceAll("_", " ")}${reason === undefined ? "" : `: ${reason}`}`;
}

const VERBS: Readonly<Record<string, readonly [present: string, past: string]>> = {
  CREATE: ["making", "made"],
  UPDATE: ["changing", "changed"],
  DELETE: ["removing", "removed"],
};
