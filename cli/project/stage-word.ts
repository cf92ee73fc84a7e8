import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Config, DEFAULT_STAGES } from "../../schema/index.ts";
import type { Misuse } from "../argv.ts";

/** Where a command takes no stage: the one that can be broken without anybody seeing it. */
export const DEFAULT_STAGE = "staging";

/** Why a word names no stage that can be deployed; undefined where it does. */
export function explainStage(stage: string, config: Pick<Config, "stages">): Misuse | undefined {
  if (stage === LOCAL_STAGE) {
    return { message: `${stage} is the stage of this machine, and is not deployed`, hint: "tool start runs it" };
  }
  const stages = [...new Set([...DEFAULT_STAGES, ...Object.keys(config.stages ?? {})])].filter(
    (name) => name !== LOCAL_STAGE,
  );
  if (stages.includes(stage)) return undefined;
  const near = didYouMean(stage, stages);
  return {
    message: `there is no stage ${JSON.stringify(stage)}`,
    hint: near === undefined ? `the stages are: ${stages.join(", ")}` : `did you mean ${near}?`,
  };
}

const LOCAL_STAGE = "development";
