import { logicalId } from "./logical-id.ts";
import type { StackContext, StackInput, StackOutput, TemplateDocument, TemplateResource } from "./resource.ts";
import { buildTemplate, partialHash } from "./template.ts";

/** The four resources of the API, of which a deployment is a snapshot. */
const API = ["Api", "Proxy", "RootMethod", "ProxyMethod"];

export interface Extended {
  readonly template: TemplateDocument;
  /** Values of the parameters that are new. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A template with only this stage. Domains and records are left to `tool stack apply`, which shows them first. */
export function stageAlone(input: StackInput, stage: string, more: Partial<StackContext> = {}) {
  return buildTemplate(
    { ...input, config: withoutNames(input.config) },
    { stages: [stage], deployed: new Set([stage]), certificates: {}, zones: {}, ...more },
  );
}

/**
 * The template with one more stage, or with the permission of a stage that waited for its first deploy. Every other part is
 * unchanged. Pure.
 */
export function withStage(template: TemplateDocument, input: StackInput, stage: string): Extended {
  const stageId = logicalId("Stage", stage);
  const api = Object.fromEntries(API.flatMap((id) => (template.Resources[id] ? [[id, template.Resources[id]]] : [])));
  const alone = stageAlone(input, stage, { api });
  const permissionId = logicalId("Permission", stage);
  const waiting = template.Resources[stageId] !== undefined;
  const resources = waiting
    ? { [permissionId]: alone.template.Resources[permissionId]! }
    : stageParts(template, alone.template, stage);
  const needed = new Set(Object.values(resources).flatMap(referredTo));
  const added = Object.fromEntries(
    Object.entries(alone.template.Parameters ?? {}).filter(([id]) => needed.has(id) && !template.Parameters?.[id]),
  );
  const Parameters = { ...template.Parameters, ...added };
  const opened = (output: StackOutput): StackOutput => ({
    ...output,
    Value: JSON.stringify({ ...JSON.parse(output.Value as string), isOpen: true }),
  });
  return {
    template: {
      ...template,
      ...(Object.keys(Parameters).length > 0 && { Parameters }),
      Resources: { ...template.Resources, ...resources },
      Outputs: {
        ...template.Outputs,
        [stageId]: waiting ? opened(template.Outputs[stageId]!) : alone.template.Outputs[stageId]!,
        TemplateHash: {
          ...template.Outputs.TemplateHash!,
          Value: waiting ? hashOf(template) : extendedHash(template, input, stage),
        },
      },
    },
    parameters: Object.fromEntries(Object.keys(added).map((id) => [id, alone.parameters[id]!])),
  };
}

/** The resources of the stage, what they refer to, and shared ones that refer to new ones (subscriptions of a topic). */
function stageParts(
  template: TemplateDocument,
  alone: TemplateDocument,
  stage: string,
): Record<string, TemplateResource> {
  const parts: Record<string, TemplateResource> = {};
  const add = (id: string) => {
    const resource = alone.Resources[id];
    if (resource === undefined || parts[id] !== undefined || template.Resources[id] !== undefined) return;
    parts[id] = resource;
    for (const other of referredTo(resource)) add(other);
  };
  const all = Object.entries(alone.Resources);
  for (const [id, { Metadata }] of all) if (Metadata.tool.stage === stage) add(id);
  for (const [id, resource] of all) {
    const isShared = resource.Metadata.tool.stage === undefined;
    if (isShared && referredTo(resource).some((other) => parts[other] !== undefined)) add(id);
  }
  return parts;
}

/**
 * The hash after adding the stage. If the stack matched tool.json for its stages, it is the hash with one more stage;
 * otherwise it stays the same, so that the stack remains out of date.
 */
function extendedHash(template: TemplateDocument, input: StackInput, stage: string): string {
  const before = hashOf(template);
  const outputs = (prefix: string) =>
    Object.entries(template.Outputs).flatMap(([id, { Value }]) => {
      const text = typeof Value === "string" ? Value : (Value as { "Fn::Sub"?: unknown })["Fn::Sub"];
      return id.startsWith(prefix) && typeof text === "string" ? [JSON.parse(text).name as string] : [];
    });
  const stages = outputs("Stage");
  const domains = outputs("Domain");
  for (const one of [input, { ...input, config: withoutNames(input.config) }]) {
    if (partialHash(one, stages, domains) === before) return partialHash(one, [...stages, stage], domains);
  }
  return before;
}

const hashOf = ({ Outputs }: TemplateDocument) => Outputs.TemplateHash?.Value as string;

function withoutNames({ dns: _, stages = {}, ...config }: StackInput["config"]): StackInput["config"] {
  const nameless = Object.entries(stages).map(([name, { domain: _domain, zone: _zone, path: _path, ...stage }]) => [
    name,
    stage,
  ]);
  return { ...config, stages: Object.fromEntries(nameless) };
}

/** The ids of the resources and parameters that a resource names. */
function referredTo({ Properties, DependsOn = [] }: TemplateResource): string[] {
  const ids = [...DependsOn];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "Ref") ids.push(inner as string);
      else if (key === "Fn::GetAtt") ids.push((inner as [string, string])[0]);
      else if (key === "Fn::Sub" && typeof inner === "string") ids.push(...(inner.match(/(?<=\$\{)\w+/g) ?? []));
      else visit(inner);
    }
  };
  visit(Properties);
  return ids;
}
