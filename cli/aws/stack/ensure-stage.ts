import type { Stack } from "@aws-sdk/client-cloudformation";
import { usesFirehose } from "../../platform/log-tokens.ts";
import type { DeployRequest } from "../../platform/target.ts";
import type { Cloud } from "../clients.ts";
import { makeLogGroup } from "../log-retention.ts";
import { stackName } from "../names.ts";
import { withoutStream } from "./log-stream.ts";
import { operate, removeRemains, untilIdle, type Watch } from "./operation.ts";
import { aboutOf, resourceTags, type StackInput, type TemplateDocument } from "./resource.ts";
import { describeStack, type StackState, stateOf } from "./state.ts";
import { templateBody } from "./template-body.ts";
import { stageAlone, withStage } from "./with-stage.ts";

export interface EnsuredStack extends StackState {
  readonly isChanged: boolean;
}

/** How often another run may change the stack after we looked at it and before we change it. */
const MAX_RACES = 5;

/**
 * Creates the stack with only `stage`, or adds the stage and leaves every other part unchanged. Domains, zones and records
 * wait for `tool stack apply`. The function and the stage's alias must exist. Waits, then returns the state of the stack.
 */
export async function ensureStage(
  cloud: Cloud,
  input: StackInput,
  stage: string,
  { report, signal, streamKey }: Omit<Watch, "about"> & Pick<DeployRequest, "streamKey">,
): Promise<EnsuredStack> {
  const watch = { report, signal, about: aboutOf(stageAlone(input, stage).template) };
  const name = stackName(input.name);
  for (let race = 1; ; race++) {
    const status = await untilIdle(cloud, name, watch);
    if (status !== undefined) await removeRemains(cloud, name, status, watch);
    const stack = await describeStack(cloud, name, signal);
    try {
      if (stack === undefined) await create(cloud, { input, stage, streamKey }, watch);
      else {
        const state = stateOf(stack, cloud);
        if (state.stages.some((one) => one.name === stage && one.isOpen)) return { ...state, isChanged: false };
        await extend(cloud, stack, { input, stage }, watch);
      }
    } catch (error) {
      if (race === MAX_RACES || !isRace(error)) throw error;
      continue;
    }
    return { ...stateOf((await describeStack(cloud, name, signal))!, cloud), isChanged: true };
  }
}

interface FirstStage extends Pick<DeployRequest, "streamKey"> {
  readonly input: StackInput;
  readonly stage: string;
}

/** Without a token the stream to the log service waits for an apply. */
async function create(cloud: Cloud, { input, stage, streamKey }: FirstStage, watch: Watch): Promise<void> {
  const key = usesFirehose(input.config) ? await streamKey?.() : undefined;
  const isStreamed = key !== undefined;
  // The subscription is one of the log group, which is not in the stack.
  if (isStreamed) await makeLogGroup(cloud, input.config, { signal: watch.signal, isNeeded: true });
  const { template, parameters } = stageAlone(isStreamed ? input : withoutStream(input), stage, { streamKey: key });
  const client = await cloud.cloudFormation();
  const options = await stackOptions(cloud, input, template, watch.signal);
  await operate(
    cloud,
    input.name,
    async (ClientRequestToken) => {
      const { StackId } = await client.createStack(
        { ...options, Parameters: newParameters(parameters), ClientRequestToken },
        { abortSignal: watch.signal },
      );
      return StackId!;
    },
    watch,
  );
}

async function extend(
  cloud: Cloud,
  stack: Stack,
  { input, stage }: { readonly input: StackInput; readonly stage: string },
  watch: Watch,
): Promise<void> {
  const stackId = stack.StackId!;
  const client = await cloud.cloudFormation();
  const abortSignal = watch.signal;
  const { TemplateBody } = await client.getTemplate({ StackName: stackId }, { abortSignal });
  const before = JSON.parse(TemplateBody!) as TemplateDocument;
  const { template, parameters } = withStage(before, input, stage);
  const kept = Object.keys(before.Parameters ?? {}).map((ParameterKey) => ({ ParameterKey, UsePreviousValue: true }));
  const Parameters = [...kept, ...newParameters(parameters)];
  const options = await stackOptions(cloud, input, template, abortSignal);
  await operate(
    cloud,
    input.name,
    async (ClientRequestToken) => {
      // Changed tags of tool.json wait for an apply, like every other change.
      const Tags = stack.Tags ?? [];
      await client.updateStack({ ...options, Tags, Parameters, ClientRequestToken }, { abortSignal });
      return stackId;
    },
    { ...watch, about: aboutOf(template) },
  );
}

/** The options of every change of the stack. CAPABILITY_IAM allows the roles of our helper functions. */
export const stackOptions = async (
  cloud: Cloud,
  input: StackInput,
  template: TemplateDocument,
  signal: AbortSignal,
) => ({
  StackName: stackName(input.name),
  ...(await templateBody(cloud, input, template, signal)),
  Capabilities: ["CAPABILITY_IAM" as const],
  // CloudFormation adds them to all resources that support tags.
  Tags: resourceTags(input),
});

export const newParameters = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([ParameterKey, ParameterValue]) => ({ ParameterKey, ParameterValue }));

/** Whether another run was faster: the stack exists by now, it is being changed, or it has what was to be added. */
export const isRace = (error: unknown) =>
  error instanceof Error &&
  (error.name === "AlreadyExistsException" ||
    (error.name === "ValidationError" &&
      /is in \w+_IN_PROGRESS state|no updates are to be performed/i.test(error.message)));
