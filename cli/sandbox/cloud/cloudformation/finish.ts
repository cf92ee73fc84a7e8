// The end of an operation that went well.
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import { desiredTemplateOf, type Stack, setStatus, templateScopeOf } from "./stack.ts";
import { conditionHolds, resolveValue } from "./values.ts";

/** The stack has its outputs, and its status. */
export function finish(world: World, stack: Stack, status: string): void {
  const scope = templateScopeOf(world, stack, stack.desired);
  stack.outputs = Object.entries(desiredTemplateOf(stack.desired).Outputs ?? {})
    .filter(([, { Condition }]) => Condition === undefined || conditionHolds(Condition, scope))
    .flatMap(([OutputKey, { Value, Description }]) => {
      try {
        const OutputValue = String(resolveValue(Value, scope));
        return [{ OutputKey, OutputValue, ...(Description !== undefined && { Description }) }];
      } catch (error) {
        // Somebody may have deleted the resource by hand; the stack must come to its end all the same.
        if (error instanceof AwsError) return [];
        throw error;
      }
    });
  setStatus(world, stack, status);
}
