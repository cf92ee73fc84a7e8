import { createHash } from "node:crypto";
import { type Config, DEFAULT_STAGES, forStage, type ResolvedConfig, withDefaults } from "../../../schema/index.ts";
import { TAGS } from "../names.ts";
import { actionResources, alarmResources } from "./alarms.ts";
import { domainResources, stageDomain, type Zones, zoneResources } from "./domains.ts";
import { apiResources, stageResources } from "./gateway.ts";
import { warmingResources } from "./warming.ts";

/** A CloudFormation template, as JSON has it. */
export interface Template {
  readonly AWSTemplateFormatVersion: "2010-09-09";
  readonly Description: string;
  readonly Parameters?: Readonly<Record<string, Parameter>>;
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, Output>>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Metadata: { readonly tool: About };
}

/** What a resource is for, to show it and to find what belongs to a stage. */
export interface About {
  /** In the user's words: `domain api.example.com`. */
  readonly about: string;
  /** Absent where it belongs to the app. */
  readonly stage?: string;
}

interface Parameter {
  readonly Type: "String";
  readonly NoEcho: true;
  readonly Description: string;
}

export interface Output {
  readonly Description: string;
  readonly Value: unknown;
}

export type Resources = Record<string, Resource>;

/** What the stack is made for. */
export interface StackInput {
  readonly name: string;
  /** Checked; overrides of stages not applied. */
  readonly config: Config;
  readonly region: string;
  readonly accountId: string;
}

/** The same with every default. */
export interface AppStack extends StackInput {
  readonly config: ResolvedConfig;
}

/** What has to be known of the account. */
export interface Known {
  /** The remote stages that the stack has. */
  readonly stages: readonly string[];
  /** Stages that were deployed: their alias exists, and the gateway can be allowed to call it. */
  readonly deployed: ReadonlySet<string>;
  /** ARNs of the certificates that are issued, by domain. A domain without one is left out. */
  readonly certificates: Readonly<Record<string, string>>;
  /** Ids of the zones that the account has beside those of this stack, by name. */
  readonly zones: Zones;
  /** The API as it is, where it is left alone: stages are snapshots of it. */
  readonly api?: Resources;
}

/** What cannot be made as tool.json has it. */
export interface TemplateProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface StackTemplate {
  readonly template: Template;
  /** Values of the parameters: secrets, which the template must not hold. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly problems: readonly TemplateProblem[];
}

/**
 * The template of an app's stack. Pure. Logical ids depend on nothing but what a resource is for, so that an unchanged
 * part of tool.json is an unchanged part of the stack. Function and aliases are only referred to.
 */
export function buildTemplate(input: StackInput, known: Known): StackTemplate {
  const app = resolved(input);
  const parts = partsOf(app, known);
  const hash = hashOf(app, known);
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
 * The hash of what tool.json asks for: the stack is behind where its own, the output TemplateHash, is another. It does
 * not depend on what the account answers (ARNs of certificates, ids of zones, which stages were deployed). `present` are
 * the stages that the stack has.
 */
export function templateHash(input: StackInput, present: readonly string[]): string {
  const { config } = resolved(input);
  const stages = wantedStages(input.config, present);
  return partialHash(
    input,
    stages,
    stages.flatMap((stage) => stageDomain(config, stage) ?? []),
  );
}

/** The hash of a stack that has no more than these stages and domains of tool.json. */
export function partialHash(input: StackInput, stages: readonly string[], domains: readonly string[]): string {
  return hashOf(resolved(input), {
    stages,
    deployed: new Set(),
    certificates: Object.fromEntries(domains.map((domain) => [domain, "issued"])),
    zones: {},
  });
}

/** Only the region matters of what the environment decides, and that is given. */
export const resolved = (input: StackInput): AppStack => ({
  ...input,
  config: withDefaults(input.config, { env: {} }),
});

/**
 * The remote stages that the stack is to have. Staging and production exist without being written: they come with their
 * first deploy, or when tool.json says something of them.
 */
export function wantedStages(config: Config, present: readonly string[]): string[] {
  const written = Object.keys(config.stages ?? {});
  const remote = [...new Set([...DEFAULT_STAGES, ...written])].filter((stage) => stage !== LOCAL_STAGE);
  const wanted = remote.filter((stage) => written.includes(stage) || present.includes(stage));
  // A gateway without a stage would answer nothing.
  return wanted.length > 0 ? wanted : [FIRST_STAGE];
}

const LOCAL_STAGE = "development";
const FIRST_STAGE = "staging";

export interface Parts {
  readonly resources: Resources;
  readonly outputs: Record<string, Output>;
  readonly secrets: readonly Secret[];
  readonly problems: readonly TemplateProblem[];
}

export interface Secret {
  readonly parameter: string;
  readonly value: string;
  readonly about: string;
}

function partsOf(input: AppStack, known: Known): Parts {
  const { config } = input;
  const api = known.api ?? apiResources(input);
  const zones = zoneResources(input, known);
  const parts = [
    { resources: api, outputs: { ApiId: { Description: "The REST API", Value: { Ref: "Api" } } } },
    ...known.stages.map((stage) => stageResources(input, stage, api, known.deployed.has(stage))),
    ...known.stages.map((stage) => warmingResources(input, stage, forStage(config, stage).function)),
    zones,
    domainResources(input, known),
    actionResources(input),
    ...known.stages.map((stage) => alarmResources(input, stage)),
    alarmResources(input, undefined),
  ] as readonly Partial<Parts>[];
  return {
    resources: Object.assign({}, ...parts.map(({ resources }) => resources)),
    outputs: Object.assign({}, ...parts.map(({ outputs }) => outputs)),
    secrets: parts.flatMap(({ secrets }) => secrets ?? []),
    problems: parts.flatMap(({ problems }) => problems ?? []),
  };
}

function hashOf(input: AppStack, { stages, certificates }: Known): string {
  const asked = partsOf(input, {
    stages,
    deployed: new Set(stages),
    certificates: Object.fromEntries(Object.keys(certificates).map((domain) => [domain, "issued"])),
    zones: {},
  });
  // In whatever order they stand.
  const secrets = asked.secrets.map(({ parameter, value }) => [parameter, value]);
  return sha256(
    JSON.stringify([...Object.entries(asked.resources), ...secrets].sort(([a], [b]) => (a! < b! ? -1 : 1))),
  ).slice(0, 16);
}

/** The tags of a resource, those of tool.json included. The stack has them too, for what takes them from there. */
export function tagsOf(
  { name, config }: Pick<StackInput, "name" | "config">,
  stage?: string,
): { Key: string; Value: string }[] {
  return [
    { Key: TAGS.app, Value: name },
    ...(stage === undefined ? [] : [{ Key: TAGS.stage, Value: stage }]),
    ...Object.entries(config.tags ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([Key, Value]) => ({ Key, Value })),
  ];
}

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export const aboutOf = ({ Resources }: Template): Record<string, About> =>
  Object.fromEntries(
    Object.entries(Resources).flatMap(([id, { Metadata }]) =>
      Metadata?.tool === undefined ? [] : [[id, Metadata.tool]],
    ),
  );
