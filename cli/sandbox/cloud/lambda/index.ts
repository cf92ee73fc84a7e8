// Lambda: functions, versions, aliases, layers, and invoking them.
import type { World } from "../world.ts";
import { aliasOperations } from "./aliases.ts";
import { functionOperations } from "./functions.ts";
import { invokeOperations } from "./invoke.ts";
import { Layers } from "./layers.ts";
import { Runner } from "./run.ts";
import { LambdaState } from "./state.ts";

export function openLambda(world: World, region: string) {
  const state = new LambdaState(world, region);
  const layers = new Layers(state);
  const runner = new Runner(state, layers);
  const functions = functionOperations(state, layers, runner);
  const invocations = invokeOperations(state, runner);
  const operations = {
    ...functions.operations,
    ...aliasOperations(state),
    ...layers.operations,
    ...invocations.operations,
  };
  return {
    operations,
    change: functions.change,
    state,
    layers,
    runner,
    resume: invocations.resume,
    close: () => runner.close(),
  };
}
