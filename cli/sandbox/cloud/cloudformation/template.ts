// A template as it was sent: its form, and what the service refuses before it makes anything.
import { AwsError } from "../protocol/error.ts";
import { conditionsIn, referencesIn } from "./references.ts";
import { isResourceType } from "./types/index.ts";

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly Condition?: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Metadata?: unknown;
}

export interface Template {
  readonly AWSTemplateFormatVersion?: string;
  readonly Description?: string;
  readonly Metadata?: unknown;
  readonly Parameters?: Readonly<
    Record<string, { readonly Type: string; readonly Default?: unknown; readonly NoEcho?: unknown }>
  >;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>;
}

export interface TemplateOutput {
  readonly Value: unknown;
  readonly Description?: string;
  readonly Condition?: string;
  readonly Export?: { readonly Name: unknown };
}

/** "The maximum size of a template body that you can pass in a request: 51,200 bytes", of an object 1 MB. */
export const MAX_BODY_BYTES = 51_200;
export const MAX_OBJECT_BYTES = 1_048_576;

/** "Maximum number of resources/outputs/parameters that you can declare in your template." */
const MAX_RESOURCES = 500;
const MAX_OUTPUTS = 200;
const MAX_PARAMETERS = 200;

const SECTIONS = new Set([
  "AWSTemplateFormatVersion",
  "Description",
  "Metadata",
  "Parameters",
  "Mappings",
  "Conditions",
  "Rules",
  "Transform",
  "Resources",
  "Outputs",
]);
const ATTRIBUTES = new Set([
  "Type",
  "Properties",
  "DependsOn",
  "Condition",
  "DeletionPolicy",
  "UpdateReplacePolicy",
  "UpdatePolicy",
  "CreationPolicy",
  "Metadata",
]);
const POLICIES = new Set(["Delete", "Retain", "RetainExceptOnCreate", "Snapshot"]);

/** The AWS:: names that can be referred to. */
const PSEUDO_PARAMETERS = new Set([
  "AWS::AccountId",
  "AWS::NoValue",
  "AWS::NotificationARNs",
  "AWS::Partition",
  "AWS::Region",
  "AWS::StackId",
  "AWS::StackName",
  "AWS::URLSuffix",
]);

export const refusal = (message: string) => new AwsError("ValidationError", message, 400);
const formatError = (message: string) => refusal(`Template format error: ${message}`);

/** Reads a template, and throws what CreateStack, UpdateStack, CreateChangeSet and ValidateTemplate answer. */
export function parseStackTemplate(body: string): Template {
  let template: Template;
  try {
    template = JSON.parse(body);
  } catch (error) {
    throw formatError(`JSON not well-formed. (${(error as Error).message})`);
  }
  checkSections(template);
  checkResources(template);
  checkReferences(template);
  checkCircles(template);
  return template;
}

function checkSections(template: Template): void {
  const wrong = Object.keys(template).filter((name) => !SECTIONS.has(name));
  if (wrong.length > 0) throw refusal(`Invalid template property or properties [${wrong.join(", ")}]`);
  const { AWSTemplateFormatVersion: version = "2010-09-09" } = template;
  if (version !== "2010-09-09") throw formatError(`unsupported value for AWSTemplateFormatVersion.`);
  if (Object.keys(template.Resources ?? {}).length === 0)
    throw formatError("At least one Resources member must be defined.");
  for (const [what, values, most] of [
    ["resources", template.Resources, MAX_RESOURCES],
    ["outputs", template.Outputs, MAX_OUTPUTS],
    ["parameters", template.Parameters, MAX_PARAMETERS],
  ] as const) {
    const count = Object.keys(values ?? {}).length;
    if (count > most) throw formatError(`Number of ${what}, ${count}, is greater than maximum allowed, ${most}`);
  }
  for (const [name, parameter] of Object.entries(template.Parameters ?? {})) {
    if (parameter.Type === undefined) throw formatError(`Every Parameters object must contain a Type member.`);
    if (!/^[A-Za-z0-9]+$/.test(name)) throw formatError(`Parameter name ${name} is non alphanumeric.`);
  }
  for (const [name, output] of Object.entries(template.Outputs ?? {})) {
    if (!/^[A-Za-z0-9]+$/.test(name)) throw formatError(`Outputs name '${name}' is non alphanumeric.`);
    if (output.Value === undefined) throw formatError(`Every Outputs member must contain a Value object`);
  }
}

function checkResources(template: Template): void {
  const unknownTypes = new Set<string>();
  for (const [name, resource] of Object.entries(template.Resources)) {
    if (!/^[A-Za-z0-9]{1,255}$/.test(name)) throw formatError(`Resource name ${name} is non alphanumeric.`);
    if (typeof resource.Type !== "string")
      throw formatError(`[/Resources/${name}] Every Resources object must contain a Type member.`);
    if (!isResourceType(resource.Type)) unknownTypes.add(resource.Type);
    const wrong = Object.keys(resource).filter((attribute) => !ATTRIBUTES.has(attribute));
    if (wrong.length > 0) throw refusal(`Invalid template resource property '${wrong[0]}'`);
    for (const policy of [resource.DeletionPolicy, resource.UpdateReplacePolicy]) {
      if (policy !== undefined && !POLICIES.has(policy))
        throw formatError(`Unrecognized DeletionPolicy ${policy} for resource ${name}`);
    }
  }
  if (unknownTypes.size > 0) throw formatError(`Unrecognized resource types: [${[...unknownTypes].sort().join(", ")}]`);
}

function checkReferences(template: Template): void {
  const resources = new Set(Object.keys(template.Resources));
  const isKnown = (name: string) =>
    resources.has(name) || template.Parameters?.[name] !== undefined || PSEUDO_PARAMETERS.has(name);
  for (const [section, values] of [
    ["Resources", template.Resources],
    ["Outputs", template.Outputs ?? {}],
  ] as const) {
    const unresolved = new Set<string>();
    for (const [name, value] of Object.entries(values)) {
      for (const reference of referencesIn(value)) {
        if (reference.attribute !== undefined && !resources.has(reference.name)) {
          throw refusal(`Template error: instance of Fn::GetAtt references undefined resource ${reference.name}`);
        }
        if (!isKnown(reference.name)) unresolved.add(reference.name);
      }
      const { DependsOn = [], Condition } = value as TemplateResource;
      for (const dependency of [DependsOn].flat() as string[])
        if (!resources.has(dependency)) unresolved.add(dependency);
      for (const condition of [...conditionsIn(value), ...(typeof Condition === "string" ? [Condition] : [])]) {
        if (template.Conditions?.[condition] === undefined) {
          throw formatError(`Unresolved condition dependency ${condition} in the ${section} block of the template`);
        }
      }
      if (DependsOn === name) throw refusal(`Circular dependency between resources: [${name}]`);
    }
    if (unresolved.size > 0) {
      throw formatError(
        `Unresolved resource dependencies [${[...unresolved].join(", ")}] in the ${section} block of the template`,
      );
    }
  }
}

/** The resources that one needs before itself. */
export function dependenciesOf(template: Template, name: string): Set<string> {
  const resource = template.Resources[name];
  const dependencyNames = [resource?.DependsOn ?? []].flat() as string[];
  const referenceNames = referencesIn(resource?.Properties).map((reference) => reference.name);
  return new Set(
    [...dependencyNames, ...referenceNames].filter((one) => template.Resources[one] !== undefined && one !== name),
  );
}

function checkCircles(template: Template): void {
  const left = new Map(Object.keys(template.Resources).map((name) => [name, dependenciesOf(template, name)]));
  for (const [name] of left) {
    if (referencesIn(template.Resources[name]?.Properties).some((one) => one.name === name)) {
      throw refusal(`Circular dependency between resources: [${name}]`);
    }
  }
  for (let hasProgress = true; hasProgress; ) {
    hasProgress = false;
    for (const [name, dependencies] of left) {
      if ([...dependencies].some((one) => left.has(one))) continue;
      left.delete(name);
      hasProgress = true;
    }
  }
  // Those that only depend on the circle are named, too, as the service does.
  if (left.size > 0) throw refusal(`Circular dependency between resources: [${[...left.keys()].join(", ")}]`);
}
