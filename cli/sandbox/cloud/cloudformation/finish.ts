// The end of an operation that went well.
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import { type Stack, scopeOf, setStatus, templateOf } from "./stack.ts";
import { holds, resolved } from "./values.ts";

/** The stack has its outputs, and its status. */
export function finish(world: World, stack: Stack, status: string): void {
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
