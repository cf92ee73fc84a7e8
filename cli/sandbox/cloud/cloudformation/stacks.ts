// The requests that check, make, change and delete stacks.
import type {
  CreateStackCommandInput,
  DeleteStackCommandInput,
  UpdateStackCommandInput,
} from "@aws-sdk/client-cloudformation";
import { AwsError } from "../protocol/error.ts";
import { isOtherwise, resourceChangesOf } from "./change-set.ts";
import { checkDesired, checkStackName, checkUpdatable, desire } from "./desired.ts";
import { desiredTemplateOf, newStack } from "./stack.ts";
import type { CloudFormationState } from "./state.ts";
import { refusal } from "./template.ts";
import { updateStack, type Work } from "./work.ts";

export function stackOperations(state: CloudFormationState, work: Work) {
  const { world, region } = state;
  return {
    ValidateTemplate(input: { TemplateBody?: string; TemplateURL?: string }) {
      const template = desiredTemplateOf(
        desire(world, { ...input, StackName: "", Capabilities: ["CAPABILITY_NAMED_IAM"] }, undefined),
      );
      return {
        Parameters: Object.keys(template.Parameters ?? {}).map((ParameterKey) => ({ ParameterKey })),
        Description: template.Description,
      };
    },
    CreateStack(input: CreateStackCommandInput) {
      const name = input.StackName ?? "";
      checkStackName("stackName", name);
      const desired = desire(world, input, undefined);
      if (state.find(name) !== undefined)
        throw new AwsError("AlreadyExistsException", `Stack [${name}] already exists`, 400);
      const stack = newStack(world, region, name, desired);
      checkDesired(world, stack, desired);
      stack.disablesRollback = input.DisableRollback ?? input.OnFailure === "DO_NOTHING";
      stack.isProtected = input.EnableTerminationProtection ?? false;
      stack.token = input.ClientRequestToken;
      state.stacks.set(stack.id, stack);
      work.create(stack);
      return { StackId: stack.id };
    },
    UpdateStack(input: UpdateStackCommandInput) {
      const stack = state.stack(input.StackName);
      checkUpdatable(stack);
      const desired = desire(world, input, stack.desired);
      checkDesired(world, stack, desired);
      if (resourceChangesOf(world, stack, desired).length === 0 && !isOtherwise(desired, stack.desired))
        throw refusal("No updates are to be performed.");
      stack.token = input.ClientRequestToken;
      updateStack(work, stack, desired);
      return { StackId: stack.id };
    },
    DeleteStack(input: DeleteStackCommandInput) {
      const stack = state.find(input.StackName);
      // "Deleting a stack that does not exist succeeds."
      if (stack === undefined || stack.status === "DELETE_COMPLETE") return;
      if (stack.isProtected)
        throw refusal(`Stack [${stack.name}] cannot be deleted while TerminationProtection is enabled`);
      if (
        /_IN_PROGRESS$/.test(stack.status) &&
        stack.status !== "REVIEW_IN_PROGRESS" &&
        stack.status !== "CREATE_IN_PROGRESS"
      ) {
        throw refusal(`Stack [${stack.name}] cannot be deleted while in status ${stack.status}`);
      }
      stack.token = input.ClientRequestToken;
      work.delete(stack, input.RetainResources ?? []);
    },
    UpdateTerminationProtection(input: { StackName?: string; EnableTerminationProtection?: boolean }) {
      const stack = state.stack(input.StackName);
      stack.isProtected = input.EnableTerminationProtection ?? false;
      return { StackId: stack.id };
    },
  };
}
