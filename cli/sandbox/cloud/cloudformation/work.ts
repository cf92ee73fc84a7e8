// The work of a stack over time: making, changing and deleting resources in the order of their dependencies, and going
// back if one of them fails. Each step is a task, and all that the next one needs is in the stack's operation.
import type { Collection } from "../collection.ts";
import type { World } from "../world.ts";
import type { ResourceFailure } from "./failure.ts";
import { completeResource, endMaking, goOnMaking, tell } from "./making.ts";
import { beginRemoving, deleteResource, endRemoval, goOnRemoving } from "./removing.ts";
import { type Desired, type Making, type Stack, setStatus } from "./stack.ts";
import type { StackWork } from "./stack-work.ts";

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
      if (stack.operation.phase === "removing") deleteResource(work, stack, stack.operation, name);
      else if (step === "begun") tell(work, stack, stack.operation, name);
      else completeResource(work, stack, stack.operation, name);
      goOn(stack);
    },
  });
  const work: StackWork = {
    world,
    failures,
    wait: (stack, name, ms) => tasks.after(ms, "resource", `${stack.id} ${name}`),
    forgetLater: ({ id, deletedAt }) => tasks.at(new Date(deletedAt!.getTime() + REMEMBERED_MS), "forget", id),
  };

  /** Starts all that waits for nothing any more; if nothing is left, the next phase. */
  const goOn = (stack: Stack): void => {
    const { operation } = stack;
    if (operation === undefined) return;
    const isOver =
      operation.phase === "making" ? goOnMaking(work, stack, operation) : goOnRemoving(work, stack, operation);
    if (!isOver) return;
    stack.operation = undefined;
    if (operation.phase === "making") endMaking(work, stack, operation);
    else endRemoval(work, stack, operation);
    if (stack.operation !== undefined) goOn(stack);
    else if (stacks.filter((one) => one.operation !== undefined).length === 0) {
      for (const resolve of waiting) resolve();
      waiting = [];
    }
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
      beginRemoving(stack, "delete", stack.desired, own);
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
export function updateStack(work: Work, stack: Stack, desired: Desired): void {
  for (const set of stack.changeSets.values())
    if (set.executionStatus === "AVAILABLE") set.executionStatus = "OBSOLETE";
  work.update(stack, desired);
}
