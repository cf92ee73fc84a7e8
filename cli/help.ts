import { commandsBelow, type Flag, globalFlagsOf } from "./argv.ts";
import type { Command } from "./command-row.ts";

/** Help for one command, for the commands of a group (`domains`), or for all. Without a newline at the end. */
export function renderHelp(
  commands: readonly Command[],
  topic: string | undefined,
  { color, columns }: { readonly color: boolean; readonly columns: number },
): string {
  // Longer lines are hard to read; narrower terminals wrap them.
  const width = Math.min(Math.max(columns, 40), 80);
  const title = (text: string) => (color ? `\u001b[1m${text}\u001b[0m` : text);
  const block = (name: string, rows: readonly string[]) => (rows.length === 0 ? [] : ["", title(name), ...rows]);
  const rows = (some: readonly Command[]) =>
    columnsOf(
      some.map(({ usage, summary }) => [usage, summary]),
      width,
    );
  if (topic === undefined) {
    return [
      "Deploy an HTTP server or static site, run it locally, query its logs.",
      ...block("Usage", ["  tool <command> [flags]", "  tool [stage]  (the same as tool deploy [stage])"]),
      ...block("Commands", rows(commands)),
      ...block("Global flags", columnsOf(globalFlagsOf(undefined).map(flagRow), width)),
      ...block("Examples", [
        "  tool start --open",
        "  tool deploy production",
        "  tool logs -f error",
        "  tool validate --strict --format json",
        "  tool help logs",
      ]),
    ].join("\n");
  }
  const below = commandsBelow(topic, commands);
  const command = commands.find(({ name }) => name === topic);
  if (command === undefined) {
    return [
      ...block("Usage", [`  tool ${topic} <command> [flags]`]).slice(1),
      ...block("Commands", rows(below)),
      ...block(
        "Examples",
        below.flatMap(({ examples }) => examples.map(exampleLine)),
      ),
    ].join("\n");
  }
  const { usage, summary, flags, examples } = command;
  return [
    ...wrap(`${summary}.`, width),
    ...block("Usage", [`  tool ${usage}${flags.length > 0 ? " [flags]" : ""}`]),
    ...(below.length > 0 ? block("Commands", rows(below)) : []),
    ...block("Flags", columnsOf(flags.map(flagRow), width)),
    ...block("Global flags", columnsOf(globalFlagsOf(command.name).map(flagRow), width)),
    ...block("Examples", examples.map(exampleLine)),
  ].join("\n");
}

/** An example begins with the command's name, or after `$ ` with another program's. */
function exampleLine(example: string): string {
  return example.startsWith("$ ") ? `  ${example.slice(2)}` : `  tool ${example}`;
}

function flagRow({ long, short, value, choice, repeatable, description }: Flag): [string, string] {
  const name = `${short === undefined ? "    " : `-${short}, `}--${long}${value === undefined ? "" : ` <${value}>`}${choice === undefined ? "" : `[=${choice}]`}`;
  return [name, repeatable ? `${description} (may be repeated)` : description];
}

/** A few longer names have a line of their own, so that the texts of all others are not squeezed. */
const MAX_NAME = 27;

/** Two columns, the second wrapped under itself. */
function columnsOf(rows: readonly (readonly [string, string])[], width: number): string[] {
  const left = Math.max(...rows.map(([name]) => Math.min(name.length, MAX_NAME))) + 4;
  return rows.flatMap(([name, text]) => {
    const lines = wrap(text, width - left);
    const below = lines.map((line) => " ".repeat(left) + line);
    if (name.length > left - 4) return [`  ${name}`, ...below];
    return [`  ${name}`.padEnd(left) + lines[0], ...below.slice(1)];
  });
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
