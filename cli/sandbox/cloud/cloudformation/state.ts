// The stacks of one region, and how they and their change sets are found.
import type { Collection } from "../collection.ts";
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import type { ChangeSet, Stack } from "./stack.ts";
import { refusal } from "./template.ts";

/** How a request names a change set. */
export interface ChangeSetName {
  readonly ChangeSetName?: string | undefined;
  readonly StackName?: string | undefined;
}

export class CloudFormationState {
  readonly world: World;
  readonly region: string;
  /** Deleted ones stay, and are found by their id. */
  readonly stacks: Collection<Stack>;

  constructor(world: World, region: string) {
    this.world = world;
    this.region = region;
    this.stacks = world.collection("cloudformation", region, "stacks");
  }

  find(reference: string | undefined): Stack | undefined {
    return (
      this.stacks.get(reference ?? "") ??
      this.stacks.find(({ name, status }) => name === reference && status !== "DELETE_COMPLETE")
    );
  }

  stack(reference: string | undefined): Stack {
    const stack = this.find(reference);
    if (stack === undefined) throw refusal(`Stack with id ${reference} does not exist`);
    return stack;
  }

  changeSet(input: ChangeSetName): { readonly target: Stack; readonly set: ChangeSet } {
    const isMeant = (set: ChangeSet, target: Stack) => {
      const isNamed =
        set.name === input.ChangeSetName && (target.name === input.StackName || target.id === input.StackName);
      return set.id === input.ChangeSetName || (isNamed && target.status !== "DELETE_COMPLETE");
    };
    const target = this.stacks.find((one) => [...one.changeSets.values()].some((set) => isMeant(set, one)));
    const set = target && [...target.changeSets.values()].find((one) => isMeant(one, target));
    if (target !== undefined && set !== undefined) return { target, set };
    throw new AwsError("ChangeSetNotFound", `ChangeSet [${input.ChangeSetName}] does not exist`, 404);
  }
}
