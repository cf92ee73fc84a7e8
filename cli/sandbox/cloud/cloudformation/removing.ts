// Deleting resources.
import { failureReason, meet } from "./failure.ts";
import { finish } from "./finish.ts";
import { inOrder } from "./order.ts";
import {
  type Desired,
  desiredTemplateOf,
  type Removing,
  type ResourceStep,
  resourceContextOf,
  type Stack,
  type StackResource,
  setResource,
  setStatus,
} from "./stack.ts";
import type { StackWork } from "./stack-work.ts";
import { dependenciesOf } from "./template.ts";
import { resourceType } from "./types/index.ts";

/** The stack deletes resources from now on. */
export function beginRemoving(
  stack: Stack,
  after: Removing["after"],
  desired: Desired,
  resources: readonly StackResource[],
): void {
  stack.operation = { phase: "removing", after, desired, resources, steps: new Map() };
}

/** Begins to delete each resource that no other depends on any more. True if all are deleted or have failed to be. */
export function goOnRemoving(work: StackWork, stack: Stack, { desired, resources, steps }: Removing): boolean {
  const template = desiredTemplateOf(desired);
  const names = resources.map(({ logicalId }) => logicalId);
  const dependents = new Map(names.map((name) => [name, new Set<string>()]));
  for (const name of names) {
    if (template.Resources[name] === undefined) continue;
    for (const other of dependenciesOf(template, name)) dependents.get(other)?.add(name);
  }
  return inOrder({
    names,
    steps,
    waitsFor: (name) => dependents.get(name)!,
    begin: (name) => beginRemoval(work, stack, desired, resourceOf(stack, resources, name)),
  });
}

function beginRemoval(work: StackWork, stack: Stack, desired: Desired, resource: StackResource): ResourceStep {
  const { world } = work;
  const { logicalId, type, physicalId } = resource;
  if (physicalId === undefined) {
    forget(stack, resource);
    return "done";
  }
  const own = desiredTemplateOf(desired).Resources[logicalId];
  const policy = own?.[isCurrent(stack, resource) ? "DeletionPolicy" : "UpdateReplacePolicy"];
  if (policy === "Retain" || (policy === "RetainExceptOnCreate" && !/ROLLBACK/.test(stack.status))) {
    setResource({ world, stack }, resource, "DELETE_SKIPPED");
    forget(stack, resource);
    return "done";
  }
  setResource({ world, stack }, resource, "DELETE_IN_PROGRESS");
  work.wait(stack, logicalId, resourceType(type).durationMs / 2);
  return "begun";
}

export function deleteResource(work: StackWork, stack: Stack, { resources, steps }: Removing, name: string): void {
  const { world } = work;
  const resource = resourceOf(stack, resources, name);
  try {
    meet(work.failures, "delete", name);
    resourceType(resource.type).delete(
      resourceContextOf(world, stack, name),
      resource.physicalId!,
      resource.properties,
    );
  } catch (error) {
    setResource({ world, stack }, resource, "DELETE_FAILED", failureReason(error));
    steps.set(name, "failed");
    return;
  }
  setResource({ world, stack }, resource, "DELETE_COMPLETE");
  forget(stack, resource);
  steps.set(name, "done");
}

/** All are deleted or have failed to be. */
export function endRemoval(work: StackWork, stack: Stack, { after, steps }: Removing) {
  const { world } = work;
  const left = [...steps].flatMap(([name, step]) => (step === "failed" ? [name] : [])).sort();
  if (after === "update") return finish(world, stack, "UPDATE_COMPLETE");
  if (after === "rollback") return finish(world, stack, "UPDATE_ROLLBACK_COMPLETE");
  const verb = after === "create" ? "ROLLBACK" : "DELETE";
  if (left.length > 0) {
    const reason = `The following resource(s) failed to delete: [${left.join(", ")}]. `;
    return setStatus(world, stack, `${verb}_FAILED`, reason);
  }
  if (after === "delete") {
    stack.deletedAt = world.clock.date();
    work.forgetLater(stack);
  }
  setStatus(world, stack, `${verb}_COMPLETE`);
}

/** A resource that is to go: as the stack has it, or as it was before another took its place. */
function resourceOf(stack: Stack, resources: readonly StackResource[], name: string): StackResource {
  const resource = resources.find(({ logicalId }) => logicalId === name)!;
  return isCurrent(stack, resource) ? stack.resources.get(name)! : resource;
}

function isCurrent(stack: Stack, { logicalId, physicalId }: StackResource): boolean {
  return stack.resources.get(logicalId)?.physicalId === physicalId && stack.resources.has(logicalId);
}

function forget(stack: Stack, resource: StackResource): void {
  if (isCurrent(stack, resource)) stack.resources.delete(resource.logicalId);
}
