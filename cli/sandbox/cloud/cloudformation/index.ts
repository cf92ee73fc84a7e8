// CloudFormation: stacks that are made, changed and deleted while one waits, and change sets.
import type { World } from "../world.ts";
import { changeSetDescriptions, changeSetOperations } from "./change-sets.ts";
import { stackDescriptions } from "./descriptions.ts";
import type { ResourceFailure } from "./failure.ts";
import { stackOperations } from "./stacks.ts";
import { CloudFormationState } from "./state.ts";
import { openWork } from "./work.ts";

export function openCloudFormation(world: World, region: string) {
  const state = new CloudFormationState(world, region);
  const failures: ResourceFailure[] = [];
  const work = openWork(world, region, state.stacks, failures);
  const operations = {
    ...stackOperations(state, work),
    ...stackDescriptions(state),
    ...changeSetOperations(state, work),
    ...changeSetDescriptions(state),
  };
  return {
    operations,
    stacks: state.stacks,
    find: (reference: string | undefined) => state.find(reference),
    /** The handler of a resource fails. */
    fail: (failure: ResourceFailure) => void failures.push(failure),
    /** When nothing is under way. */
    settled: work.settled,
  };
}
