import { createHash } from "node:crypto";
import type { Config, ResolvedConfig } from "../../../schema/index.ts";
import { TAGS } from "../names.ts";

/** A CloudFormation template in JSON. */
export interface TemplateDocument {
  readonly AWSTemplateFormatVersion: "2010-09-09";
  readonly Description: string;
  readonly Parameters?: Readonly<Record<string, Parameter>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs: Readonly<Record<string, StackOutput>>;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Metadata: { readonly tool: About };
}

/** The purpose of a resource: shown to the user, and used to find what belongs to a stage. */
export interface About {
  /** In the words of tool.json: `domain api.example.com`. */
  readonly about: string;
  /** Absent if it belongs to the whole app. */
  readonly stage?: string;
}

interface Parameter {
  readonly Type: "String";
  readonly NoEcho: true;
  readonly Description: string;
}

export interface StackOutput {
  readonly Description: string;
  readonly Value: unknown;
}

export type Resources = Record<string, TemplateResource>;

/** The app that a stack is made for. */
export interface StackInput {
  readonly name: string;
  /** tool.json as checked, without the overrides of stages. */
  readonly config: Config;
  readonly region: string;
  readonly accountId: string;
}

/** The same with all defaults. */
export interface AppStack extends StackInput {
  readonly config: ResolvedConfig;
}

/** All that the template depends on besides tool.json. */
export interface StackContext {
  /** The remote stages that the stack has. */
  readonly stages: readonly string[];
  /** Stages that were deployed: their alias exists, so the gateway can get permission to invoke it. */
  readonly deployed: ReadonlySet<string>;
  /** ARNs of the issued certificates, by domain. A domain without one is left out of the template. */
  readonly certificates: Readonly<Record<string, string>>;
  /** Ids of the account's zones that are not of this stack, by name. */
  readonly zones: Zones;
  /** The token of the stream to the log service, if there is one. */
  readonly streamKey?: string | undefined;
  /** The existing API, if it is not to be changed. */
  readonly api?: Resources;
}

/** Ids of hosted zones by name. */
export type Zones = Readonly<Record<string, string>>;

/** Something in tool.json that the stack cannot have. */
export interface TemplateProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface Parts {
  readonly resources: Resources;
  readonly outputs: Record<string, StackOutput>;
  readonly secrets: readonly Secret[];
  readonly problems: readonly TemplateProblem[];
}

export interface Secret {
  readonly parameter: string;
  readonly value: string;
  readonly about: string;
}

/** The tags of a resource, including those of tool.json. The stack has them too, and passes them to its resources. */
export function resourceTags(
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

export const aboutOf = ({ Resources }: TemplateDocument): Record<string, About> =>
  Object.fromEntries(
    Object.entries(Resources).flatMap(([id, { Metadata }]) =>
      Metadata?.tool === undefined ? [] : [[id, Metadata.tool]],
    ),
  );
