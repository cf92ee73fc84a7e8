import sade, { type Sade } from "sade";
import type { Misuse } from "./argv.ts";
import {
  type CommandRow,
  type CommandTable,
  detailsOf,
  type NameOf,
  type NumberFlag,
  type OptionsOf,
  readSpelling,
  readUsage,
} from "./command-row.ts";

/** The options of a command, or what is wrong with the values of its flags. */
type ReadOptions<T extends CommandTable, Name> =
  | { readonly ok: true; readonly value: OptionsOf<T, Name> }
  | { readonly ok: false; readonly problems: readonly Misuse[] };

/** Parses arguments, spelled as `readArgv` spells them, into the options of the command that they name. */
export function readOptions<T extends CommandTable, Name extends NameOf<keyof T>>(
  table: T,
  name: Name,
  argv: readonly string[],
): ReadOptions<T, Name> {
  const [usage, row] = Object.entries(table).find(([usage]) => readUsage(usage).name === name)!;
  const { args } = programOf(usage, row).parse(["node", "tool", ...argv], { lazy: true });
  // sade's answer: a word for each one of the usage, then the flags, with the words that are left in `_`.
  const words = args.slice(0, -1);
  const parsed = args.at(-1) as unknown as Readonly<Record<string, unknown>> & { readonly _: readonly string[] };
  const options: Record<string, unknown> = {};
  const problems: Misuse[] = [];

  for (const [i, { word, isRest }] of readUsage(usage).words.entries()) {
    options[word] = isRest ? [...words.slice(i), ...parsed._].filter((text) => text !== undefined) : words[i];
  }
  for (const [spelling, text] of Object.entries(row.flags ?? {})) {
    const { long, value, repeatable, choice } = readSpelling(spelling);
    const details = detailsOf(text);
    const name = long.replace(/^no-/, "");
    const written = parsed[name];
    const isAbsent = written === ABSENT;
    if (choice !== undefined) options[name] = written === choice ? choice : !isAbsent;
    else if (value === undefined) options[name] = written !== false;
    else if (repeatable) options[name] = isAbsent ? [] : [written].flat();
    else if (isAbsent) options[name] = details.default;
    else if (details.number === undefined) options[name] = written;
    else {
      const read = readNumber(`--${long}`, String(written), details.number);
      if (read.ok) options[name] = read.value;
      else problems.push(...read.problems);
    }
  }
  // sade's types know nothing of the table.
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: options as OptionsOf<T, Name> };
}

/** The value of a flag that was not given. `readArgv` refuses one that is given empty. */
const ABSENT = "";

/** With one command: among all, sade would take `team members add` for `team`, as `team members` is no command. */
function programOf(usage: string, { summary, flags = {} }: CommandRow): Sade {
  const program = sade("tool");
  program.command(usage, summary);
  for (const spelling of Object.keys(flags)) {
    const { long, value, choice } = readSpelling(spelling);
    // sade takes the kind of a flag from its default. Without a text, `--since=1e3` would be the number 1000.
    if (value !== undefined || choice !== undefined) program.option(`--${long}`, "", ABSENT);
    else program.option(`--${long}`, "", long.startsWith("no-") ? undefined : false);
  }
  return program;
}

function readNumber(flag: string, text: string, { from, of, example }: NumberFlag) {
  const value = Number(text);
  // 15 digits are the most that a number holds exactly.
  if (/^(?:0|[1-9]\d{0,14})$/.test(text) && value >= from) return { ok: true, value } as const;
  const message = `${flag} ${JSON.stringify(text)}: not a number of ${of}`;
  return { ok: false, problems: [{ message, hint: `write ${flag} ${example}` }] } as const;
}
