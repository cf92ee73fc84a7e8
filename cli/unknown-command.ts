import { readFileSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "../grammar/did-you-mean.ts";
import type { Misuse } from "./argv.ts";
import type { Context } from "./context.ts";
import type { Command } from "./table.ts";

/** Commands of the whole tool that this version leaves out. Naming one is no slip of the fingers. */
const LATER = ["metrics", "upgrade", "domains", "env", "team"];

const DEFAULT_STAGES = ["development", "staging", "production"];

/** Why the words name neither a command nor a stage: a word that is no stage never deploys. */
export function explainUnknown(words: readonly string[], commands: readonly Command[], context: Context): Misuse {
  const word = words[0]!;
  const existing = [...new Set(commands.map(({ name }) => name.split(" ", 1)[0]!))];
  const here = `the commands are: ${existing.join(", ")}`;
  if (LATER.includes(word)) return { message: `tool ${words.join(" ")} is not part of this version`, hint: here };
  const stages = stagesHere(context.directory);
  const near = didYouMean(word, [...existing, ...LATER, ...stages]);
  const message = `unknown command ${JSON.stringify(word)}`;
  if (near !== undefined && stages.includes(near)) {
    return { message, hint: `did you mean tool ${near}, which deploys the stage ${near}?` };
  }
  if (near === undefined) return { message, hint: here };
  return {
    message,
    hint: LATER.includes(near)
      ? `did you mean tool ${near}? It is not part of this version\n${here}`
      : `did you mean tool ${near}?`,
  };
}

/** The stages that a word can mean: the default ones, and those of tool.json as far as it can be read. */
export function stagesHere(directory: string): string[] {
  return [...DEFAULT_STAGES, ...stagesOf(directory)];
}

function stagesOf(directory: string): string[] {
  try {
    const { stages } = JSON.parse(readFileSync(join(directory, "tool.json"), "utf8"));
    return Object.keys(stages);
  } catch {
    return [];
  }
}
