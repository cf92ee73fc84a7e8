// The properties of resources: with their functions done, compared, and checked.
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import { ResourceProblem } from "./failure.ts";
import { desiredTemplateOf, type Stack, type StackResource, templateScopeOf } from "./stack.ts";
import { resourceType } from "./types/index.ts";
import { type Properties, propertiesProblem } from "./types/type.ts";
import { resolveValue, Unknown } from "./values.ts";

export function propertiesOf(world: World, stack: Stack, name: string): Properties {
  const scope = templateScopeOf(world, stack, stack.desired);
  return (resolveValue(desiredTemplateOf(stack.desired).Resources[name]!.Properties ?? {}, scope) ?? {}) as Properties;
}

/** One whose properties cannot be told is changed: that fails then. */
export function isUnchanged(world: World, stack: Stack, { logicalId, properties }: StackResource): boolean {
  try {
    return changedProperties(properties, propertiesOf(world, stack, logicalId)).length === 0;
  } catch (error) {
    if (error instanceof AwsError) return false;
    throw error;
  }
}

export function checkProperties({ type, logicalId, properties }: StackResource): void {
  const unknown = findUnknown(properties);
  if (unknown !== undefined) throw new ResourceProblem(`Unresolved reference of ${logicalId} to ${unknown.cause}`);
  const problem = propertiesProblem(resourceType(type), type, properties);
  if (problem !== undefined) throw new ResourceProblem(problem);
}

function findUnknown(value: unknown): Unknown | undefined {
  if (value instanceof Unknown) return value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const one of Object.values(value)) {
    const unknown = findUnknown(one);
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

export function changedProperties(before: Properties, after: Properties): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(sorted(before[name])) !== JSON.stringify(sorted(after[name])));
}

/** The order of keys makes no difference. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || value instanceof Unknown) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
