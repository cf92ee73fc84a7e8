import { globalFlagsOf } from "../argv.ts";
import type { Command } from "../command-row.ts";

type Flag = Command["flags"][number];

/** The manual page tool(1), in the man macros of roff: each command with its flags and examples. `date` is `2026-11-28`. */
export function manPage(
  commands: readonly Command[],
  { version, date }: { readonly version: string; readonly date: string },
) {
  return `${[
    `.TH TOOL 1 "${date}" "tool ${version}" "User Commands"`,
    ".SH NAME",
    "tool \\- deploy HTTP servers and static sites, run them locally, query their logs",
    ".SH SYNOPSIS",
    ".B tool",
    ".I command",
    ".RI [ flags ]",
    ".br",
    ".B tool",
    ".RI [ stage ]",
    ".SH DESCRIPTION",
    "Deploys an unmodified HTTP server or static site to a serverless platform, runs it locally behind the same proxy, and",
    "queries its logs. Without a command it deploys, to the stage staging if none is named.",
    ".SH GLOBAL FLAGS",
    ...globalFlagsOf(undefined).flatMap(flagLines),
    ".SH COMMANDS",
    ...commands.flatMap(({ usage, summary, flags, examples }) => [
      `.SS "tool ${quoted(usage)}"`,
      `${text(summary)}.`,
      ...flags.flatMap(flagLines),
      ...(examples.length === 0 ? [] : [".PP", ".EX", ...examples.map(exampleLine), ".EE"]),
    ]),
    ".SH EXIT STATUS",
    ...exits.flatMap(([code, meaning]) => [".TP", `.B ${code}`, meaning]),
    ".SH SEE ALSO",
    "\\fBtool help\\fR \\fIcommand\\fR; \\fBtool docs\\fR opens the reference for tool.json.",
  ].join("\n")}\n`;
}

/** As cli/README.md has them. */
const exits = [
  ["0", "Done."],
  ["1", "Failed: a problem in tool.json or in a query, a failing hook, a taken port, a full disk, no network."],
  ["2", "Misuse: wrong arguments, or an input that does not exist."],
  ["70", "A bug of tool."],
  ["130", "Interrupted."],
] as const;

function flagLines({ long, short, value, choice, repeatable, description }: Flag): string[] {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${long}`].map((name) => `\\fB${text(name)}\\fR`);
  const word =
    value !== undefined ? ` \\fI${text(value)}\\fR` : choice !== undefined ? `[=\\fI${text(choice)}\\fR]` : "";
  return [".TP", `${names.join(", ")}${word}`, `${text(description)}${repeatable ? " (may be repeated)" : ""}.`];
}

const exampleLine = (example: string) => text(example.startsWith("$ ") ? example.slice(2) : `tool ${example}`);

/** A line of text: no character of it is a request or an escape. */
function text(words: string): string {
  const escaped = words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti");
  return escaped.startsWith(".") ? `\\&${escaped}` : escaped;
}

/** Within the quotes of a request's argument. */
const quoted = (words: string) => text(words).replaceAll('"', "\\(dq");
