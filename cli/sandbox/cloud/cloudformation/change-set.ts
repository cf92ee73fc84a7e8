// The changes that an update would make, property by property, before anything is done.
import { randomUUID } from "node:crypto";
import type { Change, ResourceChange, ResourceChangeDetail } from "@aws-sdk/client-cloudformation";
import type { World } from "../world.ts";
import { changedProperties, sorted } from "./properties.ts";
import {
  type ChangeSet,
  type Desired,
  desiredTemplateOf,
  isActive,
  type Stack,
  type StackResource,
  templateScopeOf,
} from "./stack.ts";
import { dependenciesOf } from "./template.ts";
import { resourceType } from "./types/index.ts";
import type { Properties, ResourceType } from "./types/type.ts";
import { resolveValue, Unknown } from "./values.ts";

export function newChangeSet(
  world: World,
  stack: Stack,
  { name, type, desired, description }: Pick<ChangeSet, "name" | "type" | "desired" | "description">,
): ChangeSet {
  const changes = resourceChangesOf(world, stack, desired);
  return {
    id: `arn:aws:cloudformation:${stack.region}:${world.accountId}:changeSet/${name}/${randomUUID()}`,
    name,
    type,
    description,
    desired,
    createdAt: world.clock.date(),
    changes,
    hasChanges: type === "CREATE" || changes.length > 0 || isOtherwise(desired, stack.desired),
    status: "CREATE_PENDING",
    reason: undefined,
    executionStatus: "UNAVAILABLE",
  };
}

/** Whether outputs or tags are others. */
export function isOtherwise(desired: Desired, before: Desired): boolean {
  const outputs = (one: Desired) => JSON.stringify(desiredTemplateOf(one).Outputs ?? {});
  return outputs(desired) !== outputs(before) || JSON.stringify(desired.tags) !== JSON.stringify(before.tags);
}

export function resourceChangesOf(world: World, stack: Stack, desired: Desired): Change[] {
  const template = desiredTemplateOf(desired);
  const names = Object.keys(template.Resources).filter((name) => isActive(world, stack, desired, name));
  const unsettled = new Set<string>();
  const scope = templateScopeOf(world, stack, desired, (name) => unsettled.has(name));
  const changes = new Map<string, ResourceChange>();
  const visit = (name: string, seen: ReadonlySet<string>) => {
    if (changes.has(name) || seen.has(name)) return;
    for (const other of dependenciesOf(template, name))
      if (names.includes(other)) visit(other, new Set([...seen, name]));
    const { Type, Properties = {} } = template.Resources[name]!;
    const existing = stack.resources.get(name);
    const after = (resolveValue(Properties, scope) ?? {}) as Properties;
    if (existing?.physicalId === undefined) {
      unsettled.add(name);
      changes.set(name, {
        Action: "Add",
        LogicalResourceId: name,
        ResourceType: Type,
        Scope: [],
        Details: [],
        AfterContext: contextText(after),
      });
      return;
    }
    const change = modification(existing, after);
    if (change === undefined) return;
    if (change.Replacement !== "False") unsettled.add(name);
    changes.set(name, change);
  };
  for (const name of names) visit(name, new Set());
  for (const resource of stack.resources.values()) {
    if (!names.includes(resource.logicalId)) changes.set(resource.logicalId, removal(resource, stack));
  }
  return [...changes.values()]
    .sort((a, b) => (a.LogicalResourceId! < b.LogicalResourceId! ? -1 : 1))
    .map((ResourceChange) => ({ Type: "Resource" as const, ResourceChange }));
}

function removal(resource: StackResource, stack: Stack): ResourceChange {
  const isKept = desiredTemplateOf(stack.desired).Resources[resource.logicalId]?.DeletionPolicy === "Retain";
  return {
    PolicyAction: isKept ? "Retain" : "Delete",
    Action: "Remove",
    LogicalResourceId: resource.logicalId,
    PhysicalResourceId: resource.physicalId,
    ResourceType: resource.type,
    Scope: [],
    Details: [],
    BeforeContext: contextText(resource.properties),
  };
}

function modification(resource: StackResource, after: Properties): ResourceChange | undefined {
  const type = resourceType(resource.type);
  const names = changedProperties(resource.properties, after);
  if (names.length === 0) return undefined;
  const details = names.flatMap((name) =>
    detailsOf({ type, name, path: `/Properties/${name}` }, resource.properties[name], after[name]),
  );
  const isSure = details.some(
    ({ Evaluation, Target }) => Evaluation === "Static" && Target?.RequiresRecreation === "Always",
  );
  const isPossible = details.some(({ Target }) => Target?.RequiresRecreation !== "Never");
  return {
    ...(isSure && { PolicyAction: "ReplaceAndDelete" as const }),
    Action: "Modify",
    LogicalResourceId: resource.logicalId,
    PhysicalResourceId: resource.physicalId,
    ResourceType: resource.type,
    Replacement: isSure ? "True" : isPossible ? "Conditional" : "False",
    Scope: [...new Set(names.map((name) => (name === "Tags" ? "Tags" : "Properties")))],
    Details: details,
    BeforeContext: contextText(resource.properties),
    AfterContext: contextText(after),
  };
}

/** A property, or a part of it. */
interface PropertyPart {
  readonly type: ResourceType;
  /** The property's. */
  readonly name: string;
  readonly path: string;
}

/** Objects are gone into, so that a detail names what differs; lists are compared whole. */
function detailsOf(part: PropertyPart, before: unknown, after: unknown): ResourceChangeDetail[] {
  const { type, name, path } = part;
  if (isObject(before) && isObject(after)) {
    return changedProperties(before, after).flatMap((key) =>
      detailsOf({ type, name, path: `${path}/${key}` }, before[key], after[key]),
    );
  }
  const unknown = firstUnknown(after);
  const target = {
    Attribute: name === "Tags" ? ("Tags" as const) : ("Properties" as const),
    Name: name,
    RequiresRecreation: type.properties[name]?.recreation ?? "Never",
    Path: path,
    ...(before !== undefined && { BeforeValue: text(before) }),
    ...(after !== undefined && unknown === undefined && { AfterValue: text(after) }),
    AttributeChangeType:
      before === undefined ? ("Add" as const) : after === undefined ? ("Remove" as const) : ("Modify" as const),
  };
  if (unknown === undefined) return [{ Target: target, Evaluation: "Static", ChangeSource: "DirectModification" }];
  const { cause, attribute } = unknown;
  return [
    {
      Target: target,
      Evaluation: "Dynamic",
      ChangeSource: attribute === undefined ? "ResourceReference" : "ResourceAttribute",
      CausingEntity: attribute === undefined ? cause : `${cause}.${attribute}`,
    },
  ];
}

function firstUnknown(value: unknown): Unknown | undefined {
  if (value instanceof Unknown) return value;
  if (typeof value !== "object" || value === null) return undefined;
  return Object.values(value)
    .map(firstUnknown)
    .find((one) => one !== undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Unknown);
}

const text = (value: unknown) => (typeof value === "object" ? JSON.stringify(sorted(value)) : String(value));

function contextText(properties: Properties): string {
  const replacer = (_key: string, value: unknown) =>
    value instanceof Unknown || (isObject(value) && "unknown" in value) ? "{{changeSet:KNOWN_AFTER_APPLY}}" : value;
  return JSON.stringify({ Properties: sorted(properties) }, replacer);
}
