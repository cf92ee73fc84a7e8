import { join } from "node:path";
import { didYouMean } from "../grammar/did-you-mean.ts";
import { readProjectText } from "../language-server/node-project-file.ts";
import { type Misuse, neededUsage } from "./argv.ts";
import type { Command } from "./command-row.ts";
import type { Context } from "./context.ts";

/** Words of other tools, with the commands that do what they do there. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["init", "new", "create"].map((word) => [word, "tool start, which asks for a name and writes tool.json"]),
  ),
  ...Object.fromEntries(["dev", "serve", "server", "up"].map((word) => [word, "tool start"])),
  ...Object.fromEntries(["publish", "release", "push"].map((word) => [word, "tool deploy"])),
  ...Object.fromEntries(["remove", "destroy", "down", "undeploy"].map((word) => [word, "tool stack delete"])),
  ...Object.fromEntries(["status", "list", "ps"].map((word) => [word, "tool deploys"])),
};

const LOCAL_STAGE = "development";
const DEFAULT_STAGES = [LOCAL_STAGE, "staging", "production"];

/** The error for words that name neither a command nor a stage. Only the name of a stage deploys. */
export function explainUnknown(words: readonly string[], commands: readonly Command[], context: Context): Misuse {
  const word = words[0]!;
  const existing = [...new Set(commands.map(({ name }) => name.split(" ", 1)[0]!))];
  const here = `the commands are: ${existing.join(", ")}`;
  const inGroups = commands.filter(({ name }) => name.endsWith(` ${word}`)).map(neededUsage);
  const meant = [...(Object.hasOwn(ELSEWHERE, word) ? [ELSEWHERE[word]!] : []), ...inGroups];
  if (meant.length > 0) {
    return { message: `unknown command ${JSON.stringify(word)}`, hint: `did you mean ${meant.join(", or ")}?` };
  }
  // Hints name only what works: the local stage is never deployed.
  const stages = stagesHere(context.directory).filter((stage) => stage !== LOCAL_STAGE);
  const near = didYouMean(word, [...existing, ...stages]);
  const message = `unknown command ${JSON.stringify(word)}`;
  if (near !== undefined && stages.includes(near)) {
    return { message, hint: `did you mean tool ${near}, which deploys the stage ${near}?` };
  }
  if (near === undefined) return { message, hint: here };
  return { message, hint: `did you mean ${usageOf(near, commands)}?` };
}

/** How to call a command. A group that is no command itself has only help. */
function usageOf(name: string, commands: readonly Command[]): string {
  const command = commands.find((one) => one.name === name);
  return command === undefined ? `tool help ${name}` : neededUsage(command);
}

/** The stages that a word can name: the default ones, and those of tool.json as far as it can be read. */
export function stagesHere(directory: string): string[] {
  return [...DEFAULT_STAGES, ...stagesOf(directory)];
}

function stagesOf(directory: string): string[] {
  try {
    const { stages } = JSON.parse(readProjectText(join(directory, "tool.json")));
    return Object.keys(stages);
  } catch {
    return [];
  }
}
