// The requests that make, carry out, delete and describe change sets.
import type { CreateChangeSetCommandInput, DescribeChangeSetCommandInput } from "@aws-sdk/client-cloudformation";
import { AwsError } from "../protocol/error.ts";
import { newChangeSet } from "./change-set.ts";
import { paged, parametersOf } from "./descriptions.ts";
import { checkDesired, checkStackName, checkUpdatable, desire } from "./desired.ts";
import { type ChangeSet, newStack, setStatus } from "./stack.ts";
import type { ChangeSetName, CloudFormationState } from "./state.ts";
import { refusal } from "./template.ts";
import { updateStack, type Work } from "./work.ts";

/** How long a change set takes to be made, in the cloud's time. */
const CHANGE_SET_MS = 3_000;

const NO_CHANGES =
  "The submitted information didn't contain changes. Submit different information to create a change set.";

export function changeSetOperations(state: CloudFormationState, work: Work) {
  const { world, region } = state;
  const tasks = world.tasks("cloudformation", region, {
    changeSet(key) {
      const [stackId = "", name = ""] = key.split(" ");
      const changeSet = state.stacks.get(stackId)?.changeSets.get(name);
      if (changeSet?.status !== "CREATE_PENDING") return;
      changeSet.status = changeSet.hasChanges ? "CREATE_COMPLETE" : "FAILED";
      changeSet.reason = changeSet.hasChanges ? undefined : NO_CHANGES;
      changeSet.executionStatus = changeSet.hasChanges ? "AVAILABLE" : "UNAVAILABLE";
    },
  });
  return {
    CreateChangeSet(input: CreateChangeSetCommandInput) {
      const type = input.ChangeSetType ?? "UPDATE";
      const name = input.ChangeSetName ?? "";
      checkStackName("changeSetName", name);
      let stack = state.find(input.StackName);
      if (type === "UPDATE") {
        stack = state.stack(input.StackName);
        checkUpdatable(stack);
      } else if (stack !== undefined && stack.status !== "REVIEW_IN_PROGRESS") {
        throw refusal(`Stack [${stack.name}] already exists and cannot be created again with the changeSet [${name}].`);
      }
      const desired = desire(world, input, stack?.desired);
      if (stack === undefined) {
        stack = newStack(world, region, input.StackName ?? "", desired);
        setStatus(world, stack, "REVIEW_IN_PROGRESS", "User Initiated");
        state.stacks.set(stack.id, stack);
      }
      checkDesired(world, stack, desired);
      if (stack.changeSets.has(name))
        throw new AwsError(
          "AlreadyExistsException",
          `ChangeSet ${name} cannot be created due to a mismatch with existing attribute Template`,
        );
      const changeSet = newChangeSet(world, stack, {
        name,
        type: type === "CREATE" ? "CREATE" : "UPDATE",
        desired,
        description: input.Description,
      });
      stack.changeSets.set(name, changeSet);
      tasks.after(CHANGE_SET_MS, "changeSet", `${stack.id} ${name}`);
      return { Id: changeSet.id, StackId: stack.id };
    },
    ExecuteChangeSet(input: {
      ChangeSetName?: string;
      StackName?: string;
      ClientRequestToken?: string;
      DisableRollback?: boolean;
    }) {
      const { target, set } = state.changeSet(input);
      if (set.executionStatus !== "AVAILABLE") {
        throw new AwsError(
          "InvalidChangeSetStatus",
          `ChangeSet [${set.id}] cannot be executed in its current execution status of [${set.executionStatus}]`,
        );
      }
      if (set.type === "UPDATE") checkUpdatable(target);
      target.token = input.ClientRequestToken;
      target.disablesRollback = input.DisableRollback ?? false;
      target.lastChangeSetId = set.id;
      set.executionStatus = "EXECUTE_COMPLETE";
      if (set.type === "UPDATE") updateStack(work, target, set.desired);
      else {
        target.desired = set.desired;
        work.create(target);
      }
      // All other change sets of the stack are gone with it.
      for (const [name, other] of target.changeSets) if (other !== set) target.changeSets.delete(name);
      return {};
    },
    DeleteChangeSet(input: ChangeSetName) {
      const target =
        state.find(input.StackName) ??
        state.stacks.find(({ changeSets }) => [...changeSets.values()].some(({ id }) => id === input.ChangeSetName));
      if (target === undefined) throw refusal(`Stack [${input.StackName}] does not exist`);
      for (const [name, set] of target.changeSets)
        if (name === input.ChangeSetName || set.id === input.ChangeSetName) target.changeSets.delete(name);
      return {};
    },
  };
}

export function changeSetDescriptions(state: CloudFormationState) {
  return {
    DescribeChangeSet(input: DescribeChangeSetCommandInput) {
      const { target, set } = state.changeSet(input);
      const { items, next } = paged(set.changes, input.NextToken);
      return {
        ChangeSetName: set.name,
        ChangeSetId: set.id,
        StackId: target.id,
        StackName: target.name,
        Description: set.description,
        CreationTime: set.createdAt,
        ExecutionStatus: set.executionStatus,
        Status: set.status,
        StatusReason: set.reason,
        Tags: set.desired.tags,
        Parameters: parametersOf(set.desired),
        Capabilities: set.desired.capabilities,
        Changes:
          set.status === "CREATE_COMPLETE"
            ? items.map((change) => describedChange(change, input.IncludePropertyValues ?? false))
            : [],
        ...next,
      };
    },
    ListChangeSets(input: { StackName?: string }) {
      const stack = state.stack(input.StackName);
      return {
        Summaries: [...stack.changeSets.values()].map((set) => ({
          StackId: stack.id,
          StackName: stack.name,
          ChangeSetId: set.id,
          ChangeSetName: set.name,
          ExecutionStatus: set.executionStatus,
          Status: set.status,
          StatusReason: set.reason,
          CreationTime: set.createdAt,
        })),
      };
    },
  };
}

/** Leaves out the values unless the request asks for them. */
function describedChange(change: ChangeSet["changes"][number], hasValues: boolean) {
  if (hasValues) return change;
  const { BeforeContext: _before, AfterContext: _after, Details = [], ...rest } = change.ResourceChange!;
  const details = Details.map(({ Target, ...detail }) => {
    const { BeforeValue: _old, AfterValue: _new, Path: _path, AttributeChangeType: _type, ...target } = Target!;
    return { ...detail, Target: target };
  });
  return { ...change, ResourceChange: { ...rest, Details: details } };
}
