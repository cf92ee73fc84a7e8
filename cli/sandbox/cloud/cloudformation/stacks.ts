// The requests that check, make, change and delete stacks.
import type {
  CreateStackCommandInput,
  DeleteStackCommandInput,
  UpdateStackCommandInput,
} from "@aws-sdk/client-cloudformation";
import { AwsError } from "../protocol/error.ts";
import { changesOf, isOtherwise } from "./change-set.ts";
import { checkDesired, checkName, checkUpdatable, desire } from "./desired.ts";
import { newStack, templateOf } from "./stack.ts";
import type { CloudFormationState } from "./state.ts";
import { refusal } from "./template.ts";
import { updateStack, type Work } from "./work.ts";

export function stackOperations(state: CloudFormationState, work: Work) {
  const { world, region } = state;
  return {
    ValidateTemplate(input: { TemplateBody?: string; TemplateURL?: string }) {
      const template = templateOf(
        desire(world, { ...input, StackName: "", Capabilities: ["CAPABILITY_NAMED_IAM"] }, undefined),
      );
      return {
        Parameters: Object.keys(template.Parameters ?? {}).map((ParameterKey) => ({ ParameterKey })),
        Description: template.Description,
      };
    },
    CreateStack(input: CreateStackCommandInput) {
      const name = input.StackName ?? "";
      checkName("stackName", name);
      const desired = desire(world, input, undefined);
      if (state.find(name) !== undefined)
        throw new AwsError("AlreadyExistsException", `Stack [${name}] already exists`, 400);
      const created = newStack(world, region, name, desired);
      checkDesired(world, created, desired);
      created.disablesRollback = input.DisableRollback ?? input.OnFailure === "DO_NOTHING";
      created.isProtected = input.EnableTerminationProtection ?? false;
      created.token = input.ClientRequestToken;
      state.stacks.set(created.id, created);
      work.create(created);
      return { StackId: created.id };
    },
    UpdateStack(input: UpdateStackCommandInput) {
      const found = state.stack(input.StackName);
      checkUpdatable(found);
      const desired = desire(world, input, found.desired);
      checkDesired(world, found, desired);
      if (changesOf(world, found, desired).length === 0 && !isOtherwise(desired, found.desired))
        throw refusal("No updates are to be performed.");
      found.token = input.ClientRequestToken;
      updateStack(work, found, desired);
      return { StackId: found.id };
    },
    DeleteStack(input: DeleteStackCommandInput) {
      const found = state.find(input.StackName);
      // "Deleting a stack that does not exist succeeds."
      if (found === undefined || found.status === "DELETE_COMPLETE") return;
      if (found.isProtected)
        throw refusal(`Stack [${found.name}] cannot be deleted while TerminationProtection is enabled`);
      if (
        /_IN_PROGRESS$/.test(found.status) &&
        found.status !== "REVIEW_IN_PROGRESS" &&
        found.status !== "CREATE_IN_PROGRESS"
      ) {
        throw refusal(`Stack [${found.name}] cannot be deleted while in status ${found.status}`);
      }
      found.token = input.ClientRequestToken;
      work.delete(found, input.RetainResources ?? []);
    },
    UpdateTerminationProtection(input: { StackName?: string; EnableTerminationProtection?: boolean }) {
      const found = state.stack(input.StackName);
      found.isProtected = input.EnableTerminationProtection ?? false;
      return { StackId: found.id };
    },
  };
}
