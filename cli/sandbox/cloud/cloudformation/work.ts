// What a stack does over time: making, changing and deleting resources in the order of their dependencies, and going
// back where one of them fails. Each step is a task, and all that the next one needs is in the stack's operation.
import type { Collection } from "../collection.ts";
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import {
  contextOf,
  type Desired,
  isActive,
  type Making,
  type Removing,
  type Stack,
  type StackResource,
  type Step,
  scopeOf,
  setResource,
  setStatus,
  templateOf,
} from "./stack.ts";
import { dependenciesOf } from "./template.ts";
import { resourceType } from "./types/index.ts";
import { type Properties, problemOf } from "./types/type.ts";
import { holds, resolved, Unknown } from "./values.ts";

export interface ResourceFailure {
  readonly logicalId: string;
  readonly on: "create" | "update" | "delete";
  readonly reason: string;
  /** How often; always where it is absent. */
  times?: number;
}

/** How often one looks whether a service has done what it was told, in the cloud's time. */
const SETTLING_MS = 500;

/** So many events of what was before an operation stay: each step writes the stack with all of them. */
const MAX_PAST_EVENTS = 500;

/** "CloudFormation keeps deleted stacks for 90 days." */
const REMEMBERED_MS = 90 * 86_400_000;

export function openWork(world: World, region: string, stacks: Collection<Stack>, failures: ResourceFailure[]) {
  /** Who waits until nothing is under way. */
  let waiting: (() => void)[] = [];

  const tasks = world.tasks("cloudformation", region, {
    forget: (stackId) => void stacks.delete(stackId),
    resource(key) {
      const [stackId = "", name = ""] = key.split(" ");
      const stack = stacks.get(stackId);
      const step = stack?.operation?.steps.get(name);
      if (stack?.operation === undefined || (step !== "begun" && step !== "told")) return;
      if (stack.operation.phase === "removing") finishRemoval(stack, stack.operation, name);
      else if (step === "begun") tell(stack, stack.operation, name);
      else complete(stack, stack.operation, name);
      goOn(stack);
    },
  });
  const wait = (stack: Stack, name: string, ms: number) => tasks.after(ms, "resource", `${stack.id} ${name}`);

  const meet = (on: ResourceFailure["on"], logicalId: string) => {
    const failure = failures.find((one) => one.logicalId === logicalId && one.on === on && (one.times ?? 1) > 0);
    if (failure === undefined) return;
    if (failure.times !== undefined) failure.times -= 1;
    throw new ResourceProblem(failure.reason);
  };

  /** Starts all that waits for nothing any more; where nothing is left, the next phase. */
  const goOn = (stack: Stack): void => {
    const { operation } = stack;
    if (operation === undefined) return;
    const isOver = operation.phase === "making" ? goOnMaking(stack, operation) : goOnRemoving(stack, operation);
    if (!isOver) return;
    stack.operation = undefined;
    if (operation.phase === "making") endMaking(stack, operation);
    else endRemoval(stack, operation);
    if (stack.operation !== undefined) goOn(stack);
    else if (stacks.filter((one) => one.operation !== undefined).length === 0) {
      for (const resolve of waiting) resolve();
      waiting = [];
    }
  };

  const goOnMaking = (stack: Stack, operation: Making): boolean => {
    const template = templateOf(stack.desired);
    const names = Object.keys(template.Resources).filter((name) => isActive(world, stack, stack.desired, name));
    return inOrder({
      names,
      steps: operation.steps,
      waitsFor: (name) => dependenciesOf(template, name),
      begin: (name) => begin(stack, operation, name),
    });
  };

  const begin = (stack: Stack, operation: Making, name: string): Step => {
    if (operation.failed.length > 0) return "failed";
    const { Type } = templateOf(stack.desired).Resources[name]!;
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
    wait(stack, name, resourceType(Type).durationMs / 2);
    return "begun";
  };

  /** The service does it now; the resource is complete after the other half of its time. */
  const tell = (stack: Stack, operation: Making, name: string): void => {
    const resource = stack.resources.get(name)!;
    const verb = resource.physicalId === undefined ? "CREATE" : "UPDATE";
    if (operation.failed.length > 0) {
      const what = verb === "CREATE" ? "creation" : "update";
      setResource({ world, stack }, resource, `${verb}_FAILED`, `Resource ${what} cancelled`);
      operation.steps.set(name, "failed");
      return;
    }
    try {
      if (verb === "CREATE") create(stack, resource);
      else change(stack, operation, resource);
    } catch (error) {
      operation.failed.push(name);
      operation.steps.set(name, "failed");
      setResource({ world, stack }, resource, `${verb}_FAILED`, reasonOf(error));
      return;
    }
    operation.steps.set(name, "told");
    wait(stack, name, resourceType(resource.type).durationMs / 2);
  };

  const create = (stack: Stack, resource: StackResource): void => {
    const { logicalId } = resource;
    resource.properties = propertiesOf(world, stack, logicalId);
    checkProperties(resource);
    meet("create", logicalId);
    const context = contextOf(world, stack, logicalId);
    resource.physicalId = resourceType(resource.type).create(context, resource.properties);
    setResource({ world, stack }, resource, "CREATE_IN_PROGRESS", "Resource creation Initiated");
  };

  const change = (stack: Stack, operation: Making, resource: StackResource) => {
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
    meet("update", logicalId);
    const context = contextOf(world, stack, logicalId);
    if (!isReplaced) return type.update(context, resource.physicalId!, properties, old.properties);
    resource.physicalId = type.create(context, properties);
    operation.replaced.push(old);
    setResource({ world, stack }, resource, "UPDATE_IN_PROGRESS", "Resource creation Initiated");
  };

  const complete = (stack: Stack, operation: Making, name: string) => {
    const resource = stack.resources.get(name)!;
    const { isSettled } = resourceType(resource.type);
    if (isSettled?.(contextOf(world, stack, name), resource.physicalId!) === false) {
      return wait(stack, name, SETTLING_MS);
    }
    const isNew = operation.before?.resources.has(name) !== true;
    setResource({ world, stack }, resource, isNew ? "CREATE_COMPLETE" : "UPDATE_COMPLETE");
    operation.steps.set(name, "done");
  };

  const endMaking = (stack: Stack, operation: Making) => {
    const { failed, before } = operation;
    const all = [...stack.resources.values()];
    if (before !== undefined && failed.length > 0) return goBack(stack, operation, before);
    if (before !== undefined) {
      setStatus(world, stack, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
      const removed = all.filter(({ logicalId }) => {
        const { Resources } = templateOf(stack.desired);
        return Resources[logicalId] === undefined || !isActive(world, stack, stack.desired, logicalId);
      });
      return remove(stack, "update", before.desired, [...removed, ...operation.replaced]);
    }
    if (failed.length === 0) return finish(world, stack, "CREATE_COMPLETE");
    const reason = `The following resource(s) failed to create: [${[...failed].sort().join(", ")}]. `;
    if (stack.disablesRollback) return setStatus(world, stack, "CREATE_FAILED", reason);
    setStatus(world, stack, "ROLLBACK_IN_PROGRESS", `${reason}Rollback requested by user.`);
    remove(stack, "create", stack.desired, all);
  };

  const goBack = (stack: Stack, operation: Making, before: NonNullable<Making["before"]>) => {
    const { changed, replaced } = operation;
    const failed = [...operation.failed].sort();
    const tried = stack.desired;
    stack.desired = before.desired;
    const what = failed.every((name) => before.resources.has(name)) ? "update" : "create";
    const reason = `The following resource(s) failed to ${what}: [${failed.join(", ")}]. `;
    setStatus(world, stack, "UPDATE_ROLLBACK_IN_PROGRESS", reason);
    const unwanted: StackResource[] = [];
    for (const name of [...changed].reverse()) {
      const now = stack.resources.get(name)!;
      const old = before.resources.get(name);
      if (old === undefined) {
        unwanted.push(now);
        continue;
      }
      const isReplaced = replaced.some(({ logicalId }) => logicalId === name);
      if (isReplaced) unwanted.push({ ...now });
      setResource({ world, stack }, now, "UPDATE_IN_PROGRESS");
      if (!isReplaced && JSON.stringify(now.properties) !== JSON.stringify(old.properties)) {
        try {
          const context = contextOf(world, stack, name);
          resourceType(old.type).update(context, old.physicalId!, old.properties, now.properties);
        } catch (error) {
          setResource({ world, stack }, now, "UPDATE_FAILED", reasonOf(error));
          const left = `The following resource(s) failed to update: [${name}]. `;
          return setStatus(world, stack, "UPDATE_ROLLBACK_FAILED", left);
        }
      }
      Object.assign(now, { physicalId: old.physicalId, properties: old.properties });
      setResource({ world, stack }, now, "UPDATE_COMPLETE");
    }
    setStatus(world, stack, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS");
    // New resources are only in the template that was tried, and so is their order.
    remove(stack, "rollback", tried, unwanted);
  };

  const remove = (
    stack: Stack,
    after: Removing["after"],
    desired: Desired,
    resources: readonly StackResource[],
  ): void => {
    stack.operation = { phase: "removing", after, desired, resources, steps: new Map() };
  };

  /** What depends on others goes first. */
  const goOnRemoving = (stack: Stack, { desired, resources, steps }: Removing): boolean => {
    const template = templateOf(desired);
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
      begin: (name) => beginRemoval(stack, desired, resourceOf(stack, resources, name)),
    });
  };

  const beginRemoval = (stack: Stack, desired: Desired, resource: StackResource): Step => {
    const { logicalId, type, physicalId } = resource;
    if (physicalId === undefined) {
      forget(stack, resource);
      return "done";
    }
    const own = templateOf(desired).Resources[logicalId];
    const policy = own?.[isCurrent(stack, resource) ? "DeletionPolicy" : "UpdateReplacePolicy"];
    if (policy === "Retain" || (policy === "RetainExceptOnCreate" && !/ROLLBACK/.test(stack.status))) {
      setResource({ world, stack }, resource, "DELETE_SKIPPED");
      forget(stack, resource);
      return "done";
    }
    setResource({ world, stack }, resource, "DELETE_IN_PROGRESS");
    wait(stack, logicalId, resourceType(type).durationMs / 2);
    return "begun";
  };

  const finishRemoval = (stack: Stack, { resources, steps }: Removing, name: string): void => {
    const resource = resourceOf(stack, resources, name);
    try {
      meet("delete", name);
      resourceType(resource.type).delete(contextOf(world, stack, name), resource.physicalId!, resource.properties);
    } catch (error) {
      setResource({ world, stack }, resource, "DELETE_FAILED", reasonOf(error));
      steps.set(name, "failed");
      return;
    }
    setResource({ world, stack }, resource, "DELETE_COMPLETE");
    forget(stack, resource);
    steps.set(name, "done");
  };

  const endRemoval = (stack: Stack, { after, steps }: Removing) => {
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
      tasks.at(new Date(stack.deletedAt.getTime() + REMEMBERED_MS), "forget", stack.id);
    }
    setStatus(world, stack, `${verb}_COMPLETE`);
  };

  const make = (stack: Stack, before: Making["before"]) => {
    stack.events.splice(0, Math.max(0, stack.events.length - MAX_PAST_EVENTS));
    stack.operation = { phase: "making", before, steps: new Map(), changed: [], replaced: [], failed: [] };
    goOn(stack);
  };

  return {
    create(stack: Stack): void {
      setStatus(world, stack, "CREATE_IN_PROGRESS", "User Initiated");
      make(stack, undefined);
    },
    update(stack: Stack, desired: Desired): void {
      const resources = new Map([...stack.resources].map(([name, resource]) => [name, { ...resource }]));
      const before = { desired: stack.desired, resources };
      setStatus(world, stack, "UPDATE_IN_PROGRESS", "User Initiated");
      stack.updatedAt = world.clock.date();
      stack.desired = desired;
      make(stack, before);
    },
    delete(stack: Stack, retained: readonly string[]): void {
      setStatus(world, stack, "DELETE_IN_PROGRESS", "User Initiated");
      const own = [...stack.resources.values()].filter(({ logicalId }) => !retained.includes(logicalId));
      remove(stack, "delete", stack.desired, own);
      goOn(stack);
    },
    /** When nothing is under way. */
    async settled(): Promise<void> {
      if (stacks.filter((one) => one.operation !== undefined).length === 0) return;
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

export type Work = ReturnType<typeof openWork>;

/** Begins an update, after which the change sets that were ready are of a state that is gone. */
export function updateStack(work: Work, found: Stack, desired: Desired): void {
  for (const set of found.changeSets.values())
    if (set.executionStatus === "AVAILABLE") set.executionStatus = "OBSOLETE";
  work.update(found, desired);
}

interface Order {
  readonly names: readonly string[];
  readonly steps: Map<string, Step>;
  waitsFor(name: string): ReadonlySet<string>;
  begin(name: string): Step;
}

/** Begins each after all that it waits for; what waits for one that failed fails. True where all are at their end. */
function inOrder({ names, steps, waitsFor, begin }: Order): boolean {
  const isOver = (name: string) => /^(done|failed)$/.test(steps.get(name) ?? "");
  for (let hasBegun = true; hasBegun; ) {
    hasBegun = false;
    for (const name of names) {
      if (steps.has(name)) continue;
      const others = [...waitsFor(name)].filter((other) => names.includes(other) && other !== name);
      if (!others.every(isOver)) continue;
      steps.set(name, others.some((other) => steps.get(other) === "failed") ? "failed" : begin(name));
      hasBegun = true;
    }
  }
  return names.every(isOver);
}

/** A resource that is to go: as the stack has it, or as it was before another took its place. */
function resourceOf(stack: Stack, resources: readonly StackResource[], name: string): StackResource {
  const wanted = resources.find(({ logicalId }) => logicalId === name)!;
  return isCurrent(stack, wanted) ? stack.resources.get(name)! : wanted;
}

function isCurrent(stack: Stack, { logicalId, physicalId }: StackResource): boolean {
  return stack.resources.get(logicalId)?.physicalId === physicalId && stack.resources.has(logicalId);
}

function forget(stack: Stack, resource: StackResource): void {
  if (isCurrent(stack, resource)) stack.resources.delete(resource.logicalId);
}

function propertiesOf(world: World, stack: Stack, name: string): Properties {
  const scope = scopeOf(world, stack, stack.desired);
  return (resolved(templateOf(stack.desired).Resources[name]!.Properties ?? {}, scope) ?? {}) as Properties;
}

/** One whose properties cannot be told is changed: that fails then. */
function isUnchanged(world: World, stack: Stack, { logicalId, properties }: StackResource): boolean {
  try {
    return changedProperties(properties, propertiesOf(world, stack, logicalId)).length === 0;
  } catch (error) {
    if (error instanceof AwsError) return false;
    throw error;
  }
}

function finish(world: World, stack: Stack, status: string): void {
  const scope = scopeOf(world, stack, stack.desired);
  stack.outputs = Object.entries(templateOf(stack.desired).Outputs ?? {})
    .filter(([, { Condition }]) => Condition === undefined || holds(Condition, scope))
    .flatMap(([OutputKey, { Value, Description }]) => {
      try {
        const OutputValue = String(resolved(Value, scope));
        return [{ OutputKey, OutputValue, ...(Description !== undefined && { Description }) }];
      } catch (error) {
        // Somebody may have deleted the resource by hand; the stack must come to its end all the same.
        if (error instanceof AwsError) return [];
        throw error;
      }
    });
  setStatus(world, stack, status);
}

class ResourceProblem extends Error {}

/** As the handlers of resources say it. */
function reasonOf(error: unknown): string {
  if (error instanceof ResourceProblem) return error.message;
  if (!(error instanceof AwsError)) throw error;
  if (error.code === "ValidationError") return error.message;
  const code = error.status === 404 ? "NotFound" : error.status === 409 ? "AlreadyExists" : "InvalidRequest";
  return `Resource handler returned message: "${error.message}" (RequestToken: 00000000-0000-0000-0000-000000000000, HandlerErrorCode: ${code})`;
}

function checkProperties({ type, logicalId, properties }: StackResource): void {
  const unknown = findUnknown(properties);
  if (unknown !== undefined) throw new ResourceProblem(`Unresolved reference of ${logicalId} to ${unknown.cause}`);
  const problem = problemOf(resourceType(type), type, properties);
  if (problem !== undefined) throw new ResourceProblem(problem);
}

function findUnknown(value: unknown): Unknown | undefined {
  if (value instanceof Unknown) return value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const one of Object.values(value)) {
    const found = findUnknown(one);
    if (found !== undefined) return found;
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
