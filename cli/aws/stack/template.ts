import { type Config, DEFAULT_STAGES, forStage, withDefaults } from "../../../schema/index.ts";
import { actionResources, alarmResources } from "./alarms.ts";
import { domainResources, stageDomain, zoneResources } from "./domains.ts";
import { apiResources, stageResources } from "./gateway.ts";
import { logStreamResources } from "./log-stream.ts";
import {
  type AppStack,
  type Parts,
  type StackContext,
  type StackInput,
  sha256,
  type TemplateDocument,
  type TemplateProblem,
} from "./resource.ts";
import { warmingResources } from "./warming.ts";

export interface StackTemplate {
  readonly template: TemplateDocument;
  /** Values of the parameters: secrets, which must not be in the template. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly problems: readonly TemplateProblem[];
}

/**
 * The template of an app's stack. Pure. Logical ids depend only on what a resource is for, so that an unchanged part of
 * tool.json is an unchanged part of the stack. The function and its aliases are only referred to.
 */
export function buildTemplate(input: StackInput, context: StackContext): StackTemplate {
  const app = resolveInput(input);
  const parts = partsOf(app, context);
  const hash = hashOf(app, context);
  return {
    template: {
      AWSTemplateFormatVersion: "2010-09-09",
      Description: `${input.name}, made by tool from tool.json`,
      ...(parts.secrets.length > 0 && {
        Parameters: Object.fromEntries(
          parts.secrets.map(({ parameter, about }) => [
            parameter,
            { Type: "String", NoEcho: true, Description: about },
          ]),
        ),
      }),
      Resources: parts.resources,
      Outputs: {
        ...parts.outputs,
        TemplateHash: { Description: "What tool.json said at the last apply", Value: hash },
      },
    },
    parameters: Object.fromEntries(parts.secrets.map(({ parameter, value }) => [parameter, value])),
    problems: parts.problems,
  };
}

/**
 * The hash of what tool.json asks for. If it differs from the stack's output TemplateHash, the stack is out of date. It does
 * not depend on the account (ARNs of certificates, ids of zones, which stages were deployed). `present` are the stages that
 * the stack has.
 */
export function templateHash(input: StackInput, present: readonly string[]): string {
  const { config } = resolveInput(input);
  const stages = wantedStages(input.config, present);
  return partialHash(
    input,
    stages,
    stages.flatMap((stage) => stageDomain(config, stage) ?? []),
  );
}

/** The hash of a stack with only these stages and domains of tool.json. */
export function partialHash(input: StackInput, stages: readonly string[], domains: readonly string[]): string {
  return hashOf(resolveInput(input), {
    stages,
    deployed: new Set(),
    certificates: Object.fromEntries(domains.map((domain) => [domain, "issued"])),
    zones: {},
  });
}

/** Fills in the defaults. The environment would only decide the region, which is known. */
export const resolveInput = (input: StackInput): AppStack => ({
  ...input,
  config: withDefaults(input.config, { env: {} }),
});

/**
 * The remote stages that the stack should have. Staging and production need not be in tool.json: they are added by their
 * first deploy, or if tool.json configures them.
 */
export function wantedStages(config: Config, present: readonly string[]): string[] {
  const written = Object.keys(config.stages ?? {});
  const remote = [...new Set([...DEFAULT_STAGES, ...written])].filter((stage) => stage !== LOCAL_STAGE);
  const wanted = remote.filter((stage) => written.includes(stage) || present.includes(stage));
  // Without a stage the gateway would serve nothing.
  return wanted.length > 0 ? wanted : [FIRST_STAGE];
}

const LOCAL_STAGE = "development";
const FIRST_STAGE = "staging";

function partsOf(input: AppStack, context: StackContext): Parts {
  const { config } = input;
  const api = context.api ?? apiResources(input);
  const zones = zoneResources(input, context);
  const parts = [
    { resources: api, outputs: { ApiId: { Description: "The REST API", Value: { Ref: "Api" } } } },
    ...context.stages.map((stage) => stageResources(input, stage, api, context.deployed.has(stage))),
    ...context.stages.map((stage) => warmingResources(input, stage, forStage(config, stage).function)),
    zones,
    domainResources(input, context),
    logStreamResources(input, context),
    actionResources(input),
    ...context.stages.map((stage) => alarmResources(input, stage)),
    alarmResources(input, undefined),
  ] as readonly Partial<Parts>[];
  return {
    resources: Object.assign({}, ...parts.map(({ resources }) => resources)),
    outputs: Object.assign({}, ...parts.map(({ outputs }) => outputs)),
    secrets: parts.flatMap(({ secrets }) => secrets ?? []),
    problems: parts.flatMap(({ problems }) => problems ?? []),
  };
}

function hashOf(input: AppStack, { stages, certificates }: StackContext): string {
  const parts = partsOf(input, {
    stages,
    deployed: new Set(stages),
    certificates: Object.fromEntries(Object.keys(certificates).map((domain) => [domain, "issued"])),
    zones: {},
  });
  // Sorted, so that their order does not matter.
  const secrets = parts.secrets.map(({ parameter, value }) => [parameter, value]);
  return sha256(
    JSON.stringify([...Object.entries(parts.resources), ...secrets].sort(([a], [b]) => (a! < b! ? -1 : 1))),
  ).slice(0, 16);
}
