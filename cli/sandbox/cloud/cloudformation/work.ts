// What a stack does over time: making, changing and deleting resources in the order of their dependencies, and going
// back where one of them fails.
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import {
  contextOf,
  type Desired,
  isActive,
  type Stack,
  type StackResource,
  scopeOf,
  setResource,
  setStatus,
} from "./stack.ts";
import { dependenciesOf, type Template } from "./template.ts";
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

export class Work {
  readonly #world: World;
  readonly #stack: Stack;
  readonly #failures: ResourceFailure[];
  /** The first failure: what is under way then is cancelled. */
  #failed: string[] = [];

  constructor(world: World, stack: Stack, failures: ResourceFailure[]) {
    this.#world = world;
    this.#stack = stack;
    this.#failures = failures;
  }

  async create(): Promise<void> {
    const stack = this.#stack;
    setStatus(this.#world, stack, "CREATE_IN_PROGRESS", "User Initiated");
    const { desired } = stack;
    const names = Object.keys(desired.template.Resources).filter((name) => isActive(this.#world, stack, desired, name));
    await inOrder(
      names,
      (name) => dependenciesOf(desired.template, name),
      (name) => this.#make(name, desired),
    );
    if (this.#failed.length === 0) return this.#finish("CREATE_COMPLETE");
    const reason = `The following resource(s) failed to create: [${this.#failed.sort().join(", ")}]. `;
    if (stack.disablesRollback) return setStatus(this.#world, stack, "CREATE_FAILED", reason);
    setStatus(this.#world, stack, "ROLLBACK_IN_PROGRESS", `${reason}Rollback requested by user.`);
    const left = await this.#removeAll([...stack.resources.values()], desired.template);
    if (left.length === 0) setStatus(this.#world, stack, "ROLLBACK_COMPLETE");
    else
      setStatus(
        this.#world,
        stack,
        "ROLLBACK_FAILED",
        `The following resource(s) failed to delete: [${left.join(", ")}]. `,
      );
  }

  async update(desired: Desired): Promise<void> {
    const stack = this.#stack;
    const before = stack.desired;
    const kept = new Map([...stack.resources].map(([name, resource]) => [name, { ...resource }]));
    setStatus(this.#world, stack, "UPDATE_IN_PROGRESS", "User Initiated");
    stack.updatedAt = this.#world.clock.date();
    stack.desired = desired;
    const names = Object.keys(desired.template.Resources).filter((name) => isActive(this.#world, stack, desired, name));
    const replaced: StackResource[] = [];
    const changed: string[] = [];
    await inOrder(
      names,
      (name) => dependenciesOf(desired.template, name),
      (name) => this.#change(name, desired, changed, replaced),
    );
    if (this.#failed.length > 0) return this.#goBack(before, kept, changed, replaced);
    setStatus(this.#world, stack, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
    const removed = [...stack.resources.values()].filter(({ logicalId }) => !names.includes(logicalId));
    await this.#removeAll([...removed, ...replaced], before.template);
    this.#finish("UPDATE_COMPLETE");
  }

  async delete(retained: readonly string[]): Promise<void> {
    const stack = this.#stack;
    setStatus(this.#world, stack, "DELETE_IN_PROGRESS", "User Initiated");
    const own = [...stack.resources.values()].filter(({ logicalId }) => !retained.includes(logicalId));
    const left = await this.#removeAll(own, stack.desired.template);
    if (left.length > 0)
      return setStatus(
        this.#world,
        stack,
        "DELETE_FAILED",
        `The following resource(s) failed to delete: [${left.join(", ")}]. `,
      );
    stack.deletedAt = this.#world.clock.date();
    setStatus(this.#world, stack, "DELETE_COMPLETE");
  }

  #finish(status: string): void {
    const stack = this.#stack;
    const scope = scopeOf(this.#world, stack, stack.desired);
    stack.outputs = Object.entries(stack.desired.template.Outputs ?? {})
      .filter(([, { Condition }]) => Condition === undefined || holds(Condition, scope))
      .map(([OutputKey, { Value, Description }]) => ({
        OutputKey,
        OutputValue: String(resolved(Value, scope)),
        ...(Description !== undefined && { Description }),
      }));
    setStatus(this.#world, stack, status);
  }

  async #make(name: string, desired: Desired): Promise<boolean> {
    const stack = this.#stack;
    if (this.#failed.length > 0) return false;
    const { Type } = desired.template.Resources[name]!;
    const resource: StackResource = {
      logicalId: name,
      type: Type,
      physicalId: undefined,
      properties: {},
      status: "",
      reason: undefined,
      updatedAt: this.#world.clock.date(),
    };
    stack.resources.set(name, resource);
    return this.#run("CREATE", resource, resourceType(Type).durationMs, async (between) => {
      resource.properties = this.#propertiesOf(name, desired);
      checkProperties(resource);
      this.#meet("create", name);
      resource.physicalId = await resourceType(Type).create(contextOf(this.#world, stack, name), resource.properties);
      setResource(this.#world, stack, resource, "CREATE_IN_PROGRESS", "Resource creation Initiated");
      await between();
    });
  }

  async #change(name: string, desired: Desired, changed: string[], replaced: StackResource[]): Promise<boolean> {
    const stack = this.#stack;
    const resource = stack.resources.get(name);
    if (this.#failed.length > 0) return false;
    if (resource === undefined) {
      changed.push(name);
      return this.#make(name, desired);
    }
    const type = resourceType(resource.type);
    const before = resource.properties;
    const properties = this.#propertiesOf(name, desired);
    const names = changedProperties(before, properties);
    if (names.length === 0) return true;
    changed.push(name);
    if (names.some((one) => type.properties[one]?.recreation === "Always")) {
      const old = { ...resource };
      return this.#run("UPDATE", resource, type.durationMs, async (between) => {
        setResource(
          this.#world,
          stack,
          resource,
          "UPDATE_IN_PROGRESS",
          "Requested update requires the creation of a new physical resource; hence creating one.",
        );
        resource.properties = properties;
        checkProperties(resource);
        this.#meet("update", name);
        resource.physicalId = await type.create(contextOf(this.#world, stack, name), properties);
        replaced.push(old);
        setResource(this.#world, stack, resource, "UPDATE_IN_PROGRESS", "Resource creation Initiated");
        await between();
      });
    }
    return this.#run("UPDATE", resource, type.durationMs, async (between) => {
      resource.properties = properties;
      checkProperties(resource);
      this.#meet("update", name);
      await type.update(contextOf(this.#world, stack, name), resource.physicalId!, properties, before);
      await between();
    });
  }

  /** One resource through its states; false where it failed. Cancelled where another failed meanwhile. */
  async #run(
    verb: "CREATE" | "UPDATE",
    resource: StackResource,
    durationMs: number,
    run: (between: () => Promise<void>) => Promise<void>,
  ): Promise<boolean> {
    const stack = this.#stack;
    const { clock } = this.#world;
    setResource(this.#world, stack, resource, `${verb}_IN_PROGRESS`);
    await clock.sleep(durationMs / 2);
    if (this.#failed.length > 0) {
      setResource(
        this.#world,
        stack,
        resource,
        `${verb}_FAILED`,
        verb === "CREATE" ? "Resource creation cancelled" : "Resource update cancelled",
      );
      return false;
    }
    try {
      await run(() => clock.sleep(durationMs / 2));
    } catch (error) {
      this.#failed.push(resource.logicalId);
      setResource(this.#world, stack, resource, `${verb}_FAILED`, reasonOf(error));
      return false;
    }
    setResource(this.#world, stack, resource, `${verb}_COMPLETE`);
    return true;
  }

  #meet(on: ResourceFailure["on"], logicalId: string): void {
    const failure = this.#failures.find((one) => one.logicalId === logicalId && one.on === on && (one.times ?? 1) > 0);
    if (failure === undefined) return;
    if (failure.times !== undefined) failure.times -= 1;
    throw new ResourceProblem(failure.reason);
  }

  #propertiesOf(name: string, desired: Desired): Properties {
    const scope = scopeOf(this.#world, this.#stack, desired);
    return (resolved(desired.template.Resources[name]!.Properties ?? {}, scope) ?? {}) as Properties;
  }

  async #goBack(
    before: Desired,
    kept: ReadonlyMap<string, StackResource>,
    changed: readonly string[],
    replaced: readonly StackResource[],
  ): Promise<void> {
    const stack = this.#stack;
    const failed = this.#failed.sort();
    const tried = stack.desired.template;
    stack.desired = before;
    setStatus(
      this.#world,
      stack,
      "UPDATE_ROLLBACK_IN_PROGRESS",
      `The following resource(s) failed to ${failed.every((name) => kept.has(name)) ? "update" : "create"}: [${failed.join(", ")}]. `,
    );
    const unwanted: StackResource[] = [];
    for (const name of [...changed].reverse()) {
      const now = stack.resources.get(name)!;
      const old = kept.get(name);
      if (old === undefined) {
        unwanted.push(now);
        continue;
      }
      const isReplaced = replaced.some(({ logicalId }) => logicalId === name);
      if (isReplaced) unwanted.push({ ...now });
      setResource(this.#world, stack, now, "UPDATE_IN_PROGRESS");
      if (
        !isReplaced &&
        now.physicalId === old.physicalId &&
        JSON.stringify(now.properties) !== JSON.stringify(old.properties)
      ) {
        try {
          await resourceType(old.type).update(
            contextOf(this.#world, stack, name),
            old.physicalId!,
            old.properties,
            now.properties,
          );
        } catch (error) {
          setResource(this.#world, stack, now, "UPDATE_FAILED", reasonOf(error));
          return setStatus(
            this.#world,
            stack,
            "UPDATE_ROLLBACK_FAILED",
            `The following resource(s) failed to update: [${name}]. `,
          );
        }
      }
      Object.assign(now, { physicalId: old.physicalId, properties: old.properties });
      setResource(this.#world, stack, now, "UPDATE_COMPLETE");
    }
    setStatus(this.#world, stack, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS");
    // New resources are only in the template that was tried, and so is their order.
    await this.#removeAll(unwanted, tried);
    this.#finish("UPDATE_ROLLBACK_COMPLETE");
  }

  /** Deletes what depends on others first; gives the names of those that would not go. */
  async #removeAll(resources: readonly StackResource[], template: Template): Promise<string[]> {
    const left: string[] = [];
    const names = resources.map(({ logicalId }) => logicalId);
    const dependents = (name: string) =>
      new Set(
        names.filter((other) => template.Resources[other] !== undefined && dependenciesOf(template, other).has(name)),
      );
    const remove = async (name: string) => {
      let isGone = true;
      for (const resource of resources.filter(({ logicalId }) => logicalId === name)) {
        if (await this.#remove(resource, template)) continue;
        isGone = false;
        left.push(name);
      }
      return isGone;
    };
    await inOrder([...new Set(names)], dependents, remove, (name) => left.push(name));
    return [...new Set(left)].sort();
  }

  async #remove(resource: StackResource, template: Template): Promise<boolean> {
    const stack = this.#stack;
    const { logicalId, type, physicalId } = resource;
    const isCurrent = stack.resources.get(logicalId)?.physicalId === physicalId;
    const forget = () => {
      if (isCurrent) stack.resources.delete(logicalId);
    };
    if (physicalId === undefined) {
      forget();
      return true;
    }
    const policy = template.Resources[logicalId]?.[isCurrent ? "DeletionPolicy" : "UpdateReplacePolicy"];
    if (policy === "Retain" || (policy === "RetainExceptOnCreate" && !/ROLLBACK/.test(stack.status))) {
      setResource(this.#world, stack, resource, "DELETE_SKIPPED");
      forget();
      return true;
    }
    setResource(this.#world, stack, resource, "DELETE_IN_PROGRESS");
    await this.#world.clock.sleep(resourceType(type).durationMs / 2);
    try {
      this.#meet("delete", logicalId);
      await resourceType(type).delete(contextOf(this.#world, stack, logicalId), physicalId, resource.properties);
    } catch (error) {
      setResource(this.#world, stack, resource, "DELETE_FAILED", reasonOf(error));
      return false;
    }
    setResource(this.#world, stack, resource, "DELETE_COMPLETE");
    forget();
    return true;
  }
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

/** Each after all that it waits for; what waits for one that failed is skipped. */
async function inOrder(
  names: readonly string[],
  waitsFor: (name: string) => ReadonlySet<string>,
  run: (name: string) => Promise<boolean>,
  skip: (name: string) => void = () => {},
): Promise<void> {
  const running = new Map<string, Promise<boolean>>();
  const start = (name: string): Promise<boolean> => {
    const known = running.get(name);
    if (known !== undefined) return known;
    const others = [...waitsFor(name)].filter((other) => names.includes(other) && other !== name);
    const result = Promise.all(others.map(start)).then((done) => {
      if (done.every(Boolean)) return run(name);
      skip(name);
      return false;
    });
    running.set(name, result);
    return result;
  };
  await Promise.all(names.map(start));
}
