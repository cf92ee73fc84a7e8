import type { Sade } from "sade";
import type { Flag, Shape } from "./argv.ts";

/** A command as help shows it and as the reader of the words needs it. */
export interface Command extends Shape {
  readonly summary: string;
  readonly examples: readonly string[];
}

/** Reads the commands back from the table, in its order. */
export function describeTable(table: Sade): Command[] {
  // sade keeps its table in a property that its types leave out.
  const { tree } = table as unknown as { tree: Record<string, SadeCommand> };
  return Object.entries(tree)
    .filter(([name]) => !name.startsWith("__"))
    .map(([name, { usage, describe, options, examples }]) => {
      const words = usage.split(" ").filter((word) => /^[[<]/.test(word));
      return {
        name,
        usage,
        summary: (describe ?? []).join(" "),
        flags: options.map(([spelled, description]) => readFlag(spelled, description)),
        minWords: words.filter((word) => word.startsWith("<")).length,
        maxWords: words.some((word) => word.includes("...")) ? Number.POSITIVE_INFINITY : words.length,
        examples,
      };
    });
}

interface SadeCommand {
  readonly usage: string;
  readonly describe?: readonly string[];
  readonly options: readonly (readonly [flag: string, description: string, value?: unknown])[];
  readonly examples: readonly string[];
}

function readFlag(spelled: string, text: string): Flag {
  const [long, short] = spelled.split(", ").reverse();
  const [, value, description = text] = /^<([^>]+)> (.*)$/.exec(text) ?? [];
  return {
    long: long!.replace(/^-+/, ""),
    ...(short !== undefined && { short: short.replace(/^-/, "") }),
    ...(value !== undefined && { value: value.replace("...", "") }),
    repeatable: value?.endsWith("...") ?? false,
    description,
  };
}
