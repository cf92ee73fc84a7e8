import type { World } from "../world.ts";
import type { ResourceFailure } from "./failure.ts";
import type { Stack } from "./stack.ts";

/** The stacks of a region at work, for the steps of their operations. */
export interface StackWork {
  readonly world: World;
  /** The handlers that are to fail. */
  readonly failures: ResourceFailure[];
  /** Goes on with a resource after some time of the cloud. */
  wait(stack: Stack, name: string, ms: number): void;
  /** Forgets a deleted stack once its time is over. */
  forgetLater(stack: Stack): void;
}
