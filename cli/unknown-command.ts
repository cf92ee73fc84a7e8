import { readFileSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "../grammar/did-you-mean.ts";
import type { Misuse } from "./argv.ts";
import type { Context } from "./context.ts";
import type { Command } from "./table.ts";

/** Commands of the whole tool that this version leaves out. Naming one is no slip of the fingers. */
const LATER = ["deploy", "rollback", "deploys", "metrics", "url", "prune", "upgrade", "domains", "env", "team"];

const DEFAULT_STAGES = ["development", "staging", "production"];

/** Why the words name no command. A word that is no stage never deploys, and one that is says so plainly. */
export function explainUnknown(words: readonly string[], commands: readonly Command[], context: Context): Misuse {
  const word = words[0]!;
  const existing = [...new Set(commands.map(({ name }) => name.split(" ", 1)[0]!))];
  const here = `the commands are: ${existing.join(", ")}`;
  if (LATER.includes(word)) return { message: `tool ${words.join(" ")} is not part of this version`, hint: here };
  if ([...DEFAULT_STAGES, ...stagesOf(context.directory)].includes(word)) {
    return { message: `tool ${word} would deploy the stage ${word}, which is not part of this version`, hint: here };
  }
  const near = didYouMean(word, [...existing, ...LATER]);
  const message = `unknown command ${JSON.stringify(word)}`;
  if (near === undefined) return { message, hint: here };
  return {
    message,
    hint: LATER.includes(near)
      ? `did you mean tool ${near}? It is not part of this version\n${here}`
      : `did you mean tool ${near}?`,
  };
}

/** The stages that tool.json names, as far as it can be read: this only makes a message better. */
function stagesOf(directory: string): string[] {
  try {
    const { stages } = JSON.parse(readFileSync(join(directory, "tool.json"), "utf8"));
    return Object.keys(stages);
  } catch {
    return [];
  }
}
