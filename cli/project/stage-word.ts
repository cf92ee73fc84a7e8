import { didYouMean } from "../../grammar/did-you-mean.ts";
import type { Config } from "../../schema/index.ts";
import type { Misuse } from "../argv.ts";
import { stagesOf } from "../hooks/hooks.ts";

/** Why a word is not the name of a stage that can be deployed; undefined if it is. */
export function explainStage(stage: string, config: Pick<Config, "stages">): Misuse | undefined {
  if (stage === LOCAL_STAGE) {
    return { message: `${stage} is the stage of this machine, and is not deployed`, hint: "tool start runs it" };
  }
  const stages = stagesOf(config).filter((name) => name !== LOCAL_STAGE);
  const misuse = explainStageOf(stage, stages);
  if (misuse === undefined || didYouMean(stage, stages) !== undefined || !/^[a-z][a-z0-9_-]*$/.test(stage))
    return misuse;
  return { ...misuse, hint: `${misuse.hint}; "stages": { "${stage}": {} } in tool.json makes one` };
}

/** Why a word is not one of these stages; undefined if it is. */
export function explainStageOf(stage: string, stages: readonly string[]): Misuse | undefined {
  if (stages.includes(stage)) return undefined;
  const near = didYouMean(stage, stages);
  return {
    message: `there is no stage ${JSON.stringify(stage)}`,
    hint: near === undefined ? `the stages are: ${stages.join(", ")}` : `did you mean ${near}?`,
  };
}

const LOCAL_STAGE = "development";
