// Making and changing resources, and going back if one of them fails.
import { failureReason, meet } from "./failure.ts";
import { finish } from "./finish.ts";
import { inOrder } from "./order.ts";
import { changedProperties, checkProperties, isUnchanged, propertiesOf } from "./properties.ts";
import { beginRemoving } from "./removing.ts";
import {
  desiredTemplateOf,
  isActive,
  type Making,
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

/** How often one looks whether a service has done what it was told, in the cloud's time. */
const SETTLING_MS = 500;

/** Begins what waits for nothing any more. True if all are made or have failed. */
export function goOnMaking(work: StackWork, stack: Stack, operation: Making): boolean {
  const { world } = work;
  const template = desiredTemplateOf(stack.desired);
  const names = Object.keys(template.Resources).filter((name) => isActive(world, stack, stack.desired, name));
  return inOrder({
    names,
    steps: operation.steps,
    waitsFor: (name) => dependenciesOf(template, name),
    begin: (name) => begin(work, stack, operation, name),
  });
}

function begin(work: StackWork, stack: Stack, operation: Making, name: string): ResourceStep {
  const { world } = work;
  if (operation.failed.length > 0) return "failed";
  const { Type } = desiredTemplateOf(stack.desired).Resources[name]!;
  let resource = stack.resources.get(name);
  const isNew = resource === undefined;
  if (resource === undefined) {
    resource = {
      logicalId: name,
      type: Type,
      physicalId: undefined,
      properties: {},
      status: "",
      reason: undefined,
      updatedAt: world.clock.date(),
    };
    stack.resources.set(name, resource);
  } else if (isUnchanged(world, stack, resource)) return "done";
  operation.changed.push(name);
  setResource({ world, stack }, resource, isNew ? "CREATE_IN_PROGRESS" : "UPDATE_IN_PROGRESS");
  work.wait(stack, name, resourceType(Type).durationMs / 2);
  return "begun";
}

/** The service does it now; the resource is complete after the other half of its time. */
export function tell(work: StackWork, stack: Stack, operation: Making, name: string): void {
  const { world } = work;
  const resource = stack.resources.get(name)!;
  const verb = resource.physicalId === undefined ? "CREATE" : "UPDATE";
  if (operation.failed.length > 0) {
    const what = verb === "CREATE" ? "creation" : "update";
    setResource({ world, stack }, resource, `${verb}_FAILED`, `Resource ${what} cancelled`);
    operation.steps.set(name, "failed");
    return;
  }
  try {
    if (verb === "CREATE") create(work, stack, resource);
    else change(work, stack, operation, resource);
  } catch (error) {
    operation.failed.push(name);
    operation.steps.set(name, "failed");
    setResource({ world, stack }, resource, `${verb}_FAILED`, failureReason(error));
    return;
  }
  operation.steps.set(name, "told");
  work.wait(stack, name, resourceType(resource.type).durationMs / 2);
}

function create(work: StackWork, stack: Stack, resource: StackResource): void {
  const { world } = work;
  const { logicalId } = resource;
  resource.properties = propertiesOf(world, stack, logicalId);
  checkProperties(resource);
  meet(work.failures, "create", logicalId);
  const context = resourceContextOf(world, stack, logicalId);
  resource.physicalId = resourceType(resource.type).create(context, resource.properties);
  setResource({ world, stack }, resource, "CREATE_IN_PROGRESS", "Resource creation Initiated");
}

function change(work: StackWork, stack: Stack, operation: Making, resource: StackResource) {
  const { world } = work;
  const { logicalId } = resource;
  const type = resourceType(resource.type);
  const old = { ...resource };
  const properties = propertiesOf(world, stack, logicalId);
  const names = changedProperties(old.properties, properties);
  const isReplaced = names.some((one) => type.properties[one]?.recreation === "Always");
  if (isReplaced) {
    const why = "Requested update requires the creation of a new physical resource; hence creating one.";
    setResource({ world, stack }, resource, "UPDATE_IN_PROGRESS", why);
  }
  resource.properties = properties;
  checkProperties(resource);
  meet(work.failures, "update", logicalId);
  const context = resourceContextOf(world, stack, logicalId);
  if (!isReplaced) return type.update(context, resource.physicalId!, properties, old.properties);
  resource.physicalId = type.create(context, properties);
  operation.replaced.push(old);
  setResource({ world, stack }, resource, "UPDATE_IN_PROGRESS", "Resource creation Initiated");
}

/** The resource is complete, unless its service is still at it. */
export function completeResource(work: StackWork, stack: Stack, operation: Making, name: string) {
  const { world } = work;
  const resource = stack.resources.get(name)!;
  const { isSettled } = resourceType(resource.type);
  if (isSettled?.(resourceContextOf(world, stack, name), resource.physicalId!) === false) {
    return work.wait(stack, name, SETTLING_MS);
  }
  const isNew = operation.before?.resources.has(name) !== true;
  setResource({ world, stack }, resource, isNew ? "CREATE_COMPLETE" : "UPDATE_COMPLETE");
  operation.steps.set(name, "done");
}

/** All are made or have failed: what is left over is removed. */
export function endMaking(work: StackWork, stack: Stack, operation: Making) {
  const { world } = work;
  const { failed, before } = operation;
  const all = [...stack.resources.values()];
  if (before !== undefined && failed.length > 0) return goBack(work, stack, operation, before);
  if (before !== undefined) {
    setStatus(world, stack, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
    const removed = all.filter(({ logicalId }) => {
      const { Resources } = desiredTemplateOf(stack.desired);
      return Resources[logicalId] === undefined || !isActive(world, stack, stack.desired, logicalId);
    });
    return beginRemoving(stack, "update", before.desired, [...removed, ...operation.replaced]);
  }
  if (failed.length === 0) return finish(world, stack, "CREATE_COMPLETE");
  const reason = `The following resource(s) failed to create: [${[...failed].sort().join(", ")}]. `;
  if (stack.disablesRollback) return setStatus(world, stack, "CREATE_FAILED", reason);
  setStatus(world, stack, "ROLLBACK_IN_PROGRESS", `${reason}Rollback requested by user.`);
  beginRemoving(stack, "create", stack.desired, all);
}

function goBack(work: StackWork, stack: Stack, operation: Making, before: NonNullable<Making["before"]>) {
  const { world } = work;
  const { changed, replaced } = operation;
  const failed = [...operation.failed].sort();
  const newDesired = stack.desired;
  stack.desired = before.desired;
  const what = failed.every((name) => before.resources.has(name)) ? "update" : "create";
  const reason = `The following resource(s) failed to ${what}: [${failed.join(", ")}]. `;
  setStatus(world, stack, "UPDATE_ROLLBACK_IN_PROGRESS", reason);
  const obsolete: StackResource[] = [];
  for (const name of [...changed].reverse()) {
    const now = stack.resources.get(name)!;
    const old = before.resources.get(name);
    if (old === undefined) {
      obsolete.push(now);
      continue;
    }
    const isReplaced = replaced.some(({ logicalId }) => logicalId === name);
    if (isReplaced) obsolete.push({ ...now });
    setResource({ world, stack }, now, "UPDATE_IN_PROGRESS");
    if (!isReplaced && JSON.stringify(now.properties) !== JSON.stringify(old.properties)) {
      try {
        const context = resourceContextOf(world, stack, name);
        resourceType(old.type).update(context, old.physicalId!, old.properties, now.properties);
      } catch (error) {
        setResource({ world, stack }, now, "UPDATE_FAILED", failureReason(error));
        const left = `The following resource(s) failed to update: [${name}]. `;
        return setStatus(world, stack, "UPDATE_ROLLBACK_FAILED", left);
      }
    }
    Object.assign(now, { physicalId: old.physicalId, properties: old.properties });
    setResource({ world, stack }, now, "UPDATE_COMPLETE");
  }
  setStatus(world, stack, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS");
  // New resources are only in the template that was tried, and so is their order.
  beginRemoving(stack, "rollback", newDesired, obsolete);
}
