import type { CommandShape, Flag } from "./argv.ts";

/** Commands by their usage: `logs [query]`, `service token <do> [id]`. */
export type CommandTable = Readonly<Record<string, CommandRow>>;

export interface CommandRow {
  readonly summary: string;
  /** Set if the command needs Pro. tool.schema.json marks the settings that do. */
  readonly isPro?: true;
  readonly flags?: Readonly<Record<FlagSpelling, FlagText>>;
  /** Each begins with the command's name, or with `$ ` if it is another program's. */
  readonly examples: readonly string[];
}

/** `--open`, `-s, --stage <stage>`, `--file <path...>`, `--no-build`, `--size [folders]` */
type FlagSpelling = `--${string}` | `-${string}, --${string}`;

/** The text of help about a flag; with its default, or that it is a number, if it has either. */
export type FlagText = string | FlagDetails;

/** Help says the default, and the command gets it if the flag is absent. */
type FlagDetails =
  | { readonly about: string; readonly default?: string; readonly number?: undefined }
  | { readonly about: string; readonly default?: number; readonly number: NumberFlag };

/** A flag whose value is a whole number. */
export interface NumberFlag {
  /** The smallest one. */
  readonly from: number;
  /** The noun of what is counted, and a number to write instead of a wrong one. */
  readonly of: string;
  readonly example: number;
}

/** The name of a command in its usage: `service token` of `service token <do> [id]`. */
export type NameOf<Usage> = Usage extends `${infer Name} <${string}`
  ? NameOf<Name>
  : Usage extends `${infer Name} [${string}`
    ? NameOf<Name>
    : Usage;

/**
 * The options of a command of a table: `<word>` is a string, `[word]` a string or undefined, `[word...]` an array; a
 * switch is a boolean, or the word that it may have; a flag with a value is a string or a number, undefined if it is absent and has no default; one
 * that may be repeated is an array.
 */
export type OptionsOf<T extends CommandTable, Name> = Flat<
  { [Usage in keyof T & string]: NameOf<Usage> extends Name ? Words<Usage> & Flags<T[Usage]> : never }[keyof T & string]
>;

type Words<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? WordOf<Word> & Words<Rest>
  : WordOf<Usage>;

type WordOf<Word extends string> = Word extends `<${infer Name}>`
  ? { readonly [N in Name]: string }
  : Word extends `[${infer Name}...]`
    ? { readonly [N in Name]: readonly string[] }
    : Word extends `[${infer Name}]`
      ? { readonly [N in Name]: string | undefined }
      : unknown;

type Flags<R extends CommandRow> = R extends { readonly flags: infer F }
  ? { readonly [Spelling in keyof F & string as LongOf<Spelling>]: ValueOf<Spelling, F[Spelling]> }
  : unknown;

type LongOf<Spelling extends string> = Spelling extends `-${string}, ${infer Long}`
  ? LongOf<Long>
  : Spelling extends `--no-${infer Name}`
    ? Name
    : Spelling extends `--${infer Name} ${"<" | "["}${string}`
      ? Name
      : Spelling extends `--${infer Name}`
        ? Name
        : never;

type ValueOf<Spelling extends string, Text> = Spelling extends `${string} <${string}...>`
  ? readonly string[]
  : Spelling extends `${string} <${string}>`
    ? (Text extends { readonly number: NumberFlag } ? number : string) | AbsentOf<Text>
    : Spelling extends `${string} [${infer Word}]`
      ? boolean | Word
      : boolean;

type AbsentOf<Text> = Text extends { readonly default: string | number } ? never : undefined;

/** One object type, so that editors show its members. */
type Flat<T> = { [K in keyof T]: T[K] };

/** A command as help shows it and as the reader of the arguments needs it. */
export interface Command extends CommandShape {
  readonly summary: string;
  readonly examples: readonly string[];
}

export function describeRow(usage: string, { summary, flags = {}, examples }: CommandRow): Command {
  const { name, words } = readUsage(usage);
  return {
    name,
    usage,
    summary,
    flags: Object.entries(flags).map(([spelling, text]) => describeFlag(spelling, text)),
    minWords: words.filter(({ isNeeded }) => isNeeded).length,
    maxWords: words.some(({ isRest }) => isRest) ? Number.POSITIVE_INFINITY : words.length,
    examples,
  };
}

/** The name of a command, and the words that it takes. */
export function readUsage(usage: string) {
  const parts = usage.split(" ");
  const isWord = (part: string) => /^[[<]/.test(part);
  return {
    name: parts.filter((part) => !isWord(part)).join(" "),
    words: parts.filter(isWord).map((part) => ({
      word: part.replace(/^.|(?:\.\.\.)?.$/g, ""),
      isNeeded: part.startsWith("<"),
      isRest: part.includes("..."),
    })),
  };
}

/** The parts of a flag's spelling: the letter and the name without dashes, and what the value is called. */
export function readSpelling(spelling: string) {
  const [, short, long = "", value, more, choice] =
    /^(?:-(\w), )?--([\w-]+)(?: <([^>.]+)(\.\.\.)?>| \[(\w+)\])?$/.exec(spelling) ?? [];
  return { short, long, value, repeatable: more !== undefined, choice };
}

function describeFlag(spelling: string, text: FlagText): Flag {
  const { short, long, value, repeatable, choice } = readSpelling(spelling);
  const details = detailsOf(text);
  return {
    long,
    ...(short !== undefined && { short }),
    ...(value !== undefined && { value }),
    ...(choice !== undefined && { choice }),
    repeatable,
    description: details.default === undefined ? details.about : `${details.about} (default: ${details.default})`,
  };
}

export function detailsOf(text: FlagText): FlagDetails {
  return typeof text === "string" ? { about: text } : text;
}
