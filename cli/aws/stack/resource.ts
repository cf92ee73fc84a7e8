import { createHash } from "node:crypto";
import type { Config, ResolvedConfig } from "../../../schema/index.ts";
import { TAGS } from "../names.ts";

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

/** Ids of hosted zones by name. */
export type Zones = Readonly<Record<string, string>>;

/** What cannot be made as tool.json has it. */
export interface TemplateProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

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
