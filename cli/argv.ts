// sade and mri guess: a word after a boolean flag becomes its value, a global flag before a command hides the command,
// `-v` prints the version, numbers lose their spelling. So the arguments are read strictly here, by the same table, and
// sade gets a spelling that leaves nothing to guess: name, `--flag=value` ..., `--`, words.
import { didYouMean } from "../grammar/did-you-mean.ts";

export interface Flag {
  readonly long: string;
  readonly short?: string;
  /** The name of the value in help. A flag without one is a switch. */
  readonly value?: string;
  /** The word that a switch may have: `--size=folders`. */
  readonly choice?: string;
  readonly repeatable: boolean;
  readonly description: string;
}

/** The part of a command's description that reading its arguments needs. */
export interface CommandShape {
  /** One word or several: `logs`, `stack plan`, `team members add`. */
  readonly name: string;
  /** `run <hook>` */
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly minWords: number;
  readonly maxWords: number;
}

export type Format = "text" | "json" | "csv" | "github" | "gitlab" | "sarif";

/** The flags that every command has, at any position, and the command. */
export interface Globals {
  /** The name that the words have, in a line that is refused, too. */
  readonly command: string | undefined;
  readonly chdir: string;
  readonly verbose: boolean;
  readonly format: Format | undefined;
}

export type ParsedArgv = { readonly globals: Globals } & (
  | { readonly kind: "command"; readonly name: string; readonly argv: readonly string[] }
  | { readonly kind: "help"; readonly topic: readonly string[] }
  | { readonly kind: "version" }
  /** The first word is not a command: the name of a stage, which deploys it, or a typo. */
  | { readonly kind: "unknown"; readonly word: string }
  | ({ readonly kind: "misuse" } & Misuse)
);

/** A mistake in the arguments, and what to write instead. */
export interface Misuse {
  readonly message: string;
  readonly hint?: string;
}

export const GLOBAL_FLAGS: readonly Flag[] = [
  { long: "help", short: "h", repeatable: false, description: "Show help" },
  { long: "chdir", short: "C", value: "dir", repeatable: false, description: "Run in the directory dir" },
  { long: "verbose", short: "v", repeatable: false, description: "Verbose output, with stack traces" },
  { long: "format", value: "format", repeatable: false, description: "text (default) or json" },
  { long: "version", repeatable: false, description: "Print the version" },
];

/** Their words may be secrets, which no message quotes. */
const HOLDS_VALUES = ["env add", "env set"];

/** So many usages fit two lines of a terminal. */
const MAX_USAGES = 3;

/** The command that runs without arguments, by the specification. */
const DEFAULT_COMMAND = "deploy";

/**
 * The formats of a command, the default first. `validate` also writes what code hosts and other viewers read, `logs` the rows
 * of stages for spreadsheets.
 */
export function formatsOf(name: string | undefined): readonly Format[] {
  if (name === "validate") return ["text", "json", "github", "gitlab", "sarif"];
  return name === "logs" ? ["text", "json", "csv"] : ["text", "json"];
}

/** The global flags, described for one command. */
export function globalFlagsOf(name: string | undefined): readonly Flag[] {
  const [usual, ...others] = formatsOf(name);
  const last = others.pop();
  const description = `${[`${usual} (default)`, ...others].join(", ")} or ${last}`;
  return GLOBAL_FLAGS.map((flag) => (flag.long === "format" ? { ...flag, description } : flag));
}

/** Reads the arguments after `tool`. Pure: looks at no file. */
export function readArgv(argv: readonly string[], commands: readonly CommandShape[]): ParsedArgv {
  const words: string[] = [];
  const flags: { flag: Flag; value: string | undefined }[] = [];
  let misuse: Misuse | undefined;
  let command: CommandShape | undefined;
  /** The words so far that name a command, or begin the names of several; a first word that does neither, too. */
  let named: string | undefined;
  /** Whether `named` begins the names of several commands, none of which was named. */
  let isGroup = false;

  const availableFlags = () => [...GLOBAL_FLAGS, ...(command?.flags ?? [])];
  const fail = (message: string, hint?: string) => {
    misuse ??= hint === undefined ? { message } : { message, hint };
  };
  const word = (text: string) => {
    const longer = named === undefined ? text : `${named} ${text}`;
    const match = commands.find(({ name }) => name === longer);
    const isLongerGroup = commandsBelow(longer, commands).length > 0;
    const isArgument = named !== undefined && (!isGroup || words.length > 0 || (match === undefined && !isLongerGroup));
    if (isArgument) return void words.push(text);
    named = longer;
    command = match;
    isGroup = isLongerGroup;
  };
  const unknown = (written: string, name: string, rest: readonly string[]) => {
    // After an unknown command every flag is unknown; the error is about the command.
    if (named !== undefined && command === undefined && !isGroup) return;
    const owns = ({ flags }: CommandShape) => flags.some((flag) => name === flag.long || name === flag.short);
    const below = isGroup ? commandsBelow(named!, commands) : commands;
    const later = below.find((one) => isGroup && rest.some((word) => one.name === `${named} ${word}`));
    const owner = later !== undefined && owns(later) ? later : (below.find(owns) ?? commands.find(owns));
    const isBefore = named === undefined || (isGroup && owner?.name.startsWith(`${named} `));
    if (isBefore && owner !== undefined) {
      const { value } = owner.flags.find(({ long, short }) => name === long || name === short)!;
      const usage = value === undefined ? written : `${written} <${value}>`;
      fail(`${written} is before the command`, `write it after: ${neededUsage(owner)} ${usage}`);
      return;
    }
    const near =
      name.length > 1
        ? didYouMean(
            name,
            availableFlags().map(({ long }) => long),
          )
        : undefined;
    const place = command?.name ?? (isGroup ? named : undefined);
    const help = place === undefined ? "tool help" : `tool help ${place}`;
    // A word that is near a flag is no secret.
    if (place !== undefined && HOLDS_VALUES.includes(place) && near === undefined) {
      fail(
        `a word of tool ${place} begins with - and is no flag`,
        `write a value that begins with - as NAME=VALUE, or pipe it in: NAME -; ${help} lists the flags`,
      );
      return;
    }
    const message = `unknown flag ${written}${place === undefined ? "" : ` for tool ${place}`}`;
    const meant = near === undefined ? `${help} lists the flags` : `did you mean --${near}?`;
    fail(message, (command && hintForForeignFlag(command, name, rest)) ?? meant);
  };

  for (let i = 0; i < argv.length; i++) {
    const text = argv[i]!;
    if (text === "--") {
      for (const rest of argv.slice(i + 1)) word(rest);
      break;
    }
    if (text === "-" || !text.startsWith("-")) {
      word(text);
      continue;
    }
    /** The value of a flag that needs one: the text attached to it, else the next word. */
    const value = (flag: Flag, written: string, glued: string | undefined) => {
      if (glued !== undefined && glued !== "") return glued;
      const next = argv[i + 1];
      if (glued === undefined && next !== undefined && (next === "-" || !next.startsWith("-")) && next !== "") {
        i++;
        return next;
      }
      const usage = `--${flag.long}=<${flag.value}>`;
      const hint =
        next?.startsWith("-") && next !== "--" ? `${next} reads as a flag; write ${usage}` : `write ${usage}`;
      fail(`${written} needs a value`, hint);
      return undefined;
    };

    if (text.startsWith("--")) {
      const equals = text.indexOf("=");
      const name = text.slice(2, equals < 0 ? undefined : equals);
      const flag = availableFlags().find(({ long }) => long === name);
      if (flag === undefined) unknown(`--${name}`, name, argv.slice(i + 1));
      else if (!flag.value && equals >= 0 && text.slice(equals + 1) !== flag.choice) fail(...noValue(flag));
      else if (flag.value === undefined) flags.push({ flag, value: equals < 0 ? undefined : flag.choice });
      else flags.push({ flag, value: value(flag, `--${name}`, equals < 0 ? undefined : text.slice(equals + 1)) });
      continue;
    }
    // A cluster: -fe, -vC dir, -S1d, -S=1d.
    for (let at = 1; at < text.length; at++) {
      const letter = text[at]!;
      const flag = availableFlags().find(({ short }) => short === letter);
      if (flag === undefined) {
        unknown(`-${letter}`, letter, argv.slice(i + 1));
        break;
      }
      if (flag.value === undefined) {
        if (text[at + 1] === "=") {
          fail(`-${letter} takes no value`, `write -${letter} alone`);
          break;
        }
        flags.push({ flag, value: undefined });
        continue;
      }
      const glued = at + 1 < text.length ? text.slice(at + 1).replace(/^=/, "") : undefined;
      // The text after the letter may be a part of a value, which no message about the flag may quote.
      if (glued !== undefined && command !== undefined && HOLDS_VALUES.includes(command.name) && text[at + 1] !== "=") {
        unknown(text, "", []);
        break;
      }
      flags.push({ flag, value: value(flag, `-${letter}`, glued) });
      break;
    }
  }

  const last = (long: string) => flags.findLast(({ flag }) => flag.long === long);
  const written = last("format")?.value;
  const formats = formatsOf(command?.name);
  const format = formats.find((one) => one === written);
  if (written !== undefined && format === undefined) {
    const others = commands.filter(({ name }) => formatsOf(name).some((one) => one === written));
    const hint =
      formats.length === 2
        ? "write --format text or --format json"
        : `write --format with one of ${formats.join(", ")}`;
    fail(
      `unknown format ${JSON.stringify(written)}${others.length > 0 && command ? ` for tool ${command.name}` : ""}`,
      others.length > 0 ? `only tool ${others.map(({ name }) => name).join(", ")} writes it` : hint,
    );
  }
  const globals: Globals = {
    command: command?.name,
    chdir: last("chdir")?.value ?? ".",
    verbose: last("verbose") !== undefined,
    format,
  };

  if (misuse !== undefined) return { kind: "misuse", globals, ...misuse };
  if (last("version") !== undefined) return { kind: "version", globals };
  if (named === "help") return { kind: "help", globals, topic: words };
  if (named === undefined) {
    return last("help") === undefined
      ? { kind: "command", globals, name: DEFAULT_COMMAND, argv: [DEFAULT_COMMAND, "--"] }
      : { kind: "help", globals, topic: [] };
  }
  if (isGroup && (command?.maxWords ?? 0) === 0 && words.length > 0) {
    return { kind: "misuse", globals, ...unknownBelow(named, [words[0]!, ...words.slice(1)], commands) };
  }
  if (isGroup && last("help") !== undefined) return { kind: "help", globals, topic: named.split(" ") };
  if (isGroup && command === undefined) {
    const below = commandsBelow(named, commands);
    const hint =
      below.length > MAX_USAGES
        ? `its commands are: ${nextWords(named, commands).join(", ")}; see tool help ${named}`
        : `write ${below.map(({ usage }) => `tool ${usage}`).join(", ")}`;
    return { kind: "misuse", globals, message: `tool ${named} needs a command`, hint };
  }
  if (command === undefined) return { kind: "unknown", globals, word: named };
  if (last("help") !== undefined) return { kind: "help", globals, topic: command.name.split(" ") };
  if (words.length < command.minWords || words.length > command.maxWords) {
    return { kind: "misuse", globals, ...wordCount(command, words) };
  }

  const own = flags.filter(({ flag }) => !GLOBAL_FLAGS.includes(flag));
  // A flag of `team ci`, and then the `ls` of `team ci ls`.
  const foreign = own.find(({ flag }) => !command!.flags.some(({ long }) => long === flag.long));
  if (foreign !== undefined) {
    const message = `unknown flag --${foreign.flag.long} for tool ${command.name}`;
    return { kind: "misuse", globals, message, hint: `tool help ${command.name} lists the flags` };
  }
  const spelled = own
    // If a flag is written twice, the last one counts, unless it may be repeated.
    .filter(({ flag }, i) => flag.repeatable || !own.slice(i + 1).some((later) => later.flag === flag))
    .map(spell);
  return {
    kind: "command",
    globals,
    name: command.name,
    argv: [...command.name.split(" "), ...spelled, "--", ...words],
  };
}

/** The misuse of a switch that has another value than it may have, and what to write. */
const noValue = ({ long, choice }: Flag): [message: string, hint: string] =>
  choice === undefined
    ? [`--${long} takes no value`, `write --${long} alone`]
    : [`--${long} takes no other value than ${choice}`, `write --${long}, or --${long}=${choice}`];

/** A switch that may have a word is a text to sade, and has one always. */
function spell({ flag: { long, choice }, value = choice && "yes" }: { flag: Flag; value: string | undefined }): string {
  return value === undefined ? `--${long}` : `--${long}=${value}`;
}

/** The commands whose names continue these words. */
export function commandsBelow<S extends CommandShape>(words: string, commands: readonly S[]): S[] {
  return commands.filter(({ name }) => name.startsWith(`${words} `));
}

/** The words that come next in the names of these commands. */
function nextWords(words: string, commands: readonly CommandShape[]): string[] {
  const next = commandsBelow(words, commands).map(({ name }) => name.slice(words.length + 1).split(" ", 1)[0]!);
  return [...new Set(next)];
}

/** The error for a word that continues the name of no command. `rest` are the words after it. */
export function unknownBelow(
  words: string,
  [next, ...rest]: readonly [string, ...string[]],
  commands: readonly CommandShape[],
): Misuse {
  const candidates = nextWords(words, commands);
  const near = didYouMean(next, candidates);
  const meant = commands.find(({ name }) => name === `${words} ${near}`);
  const inGroup = commands.find(({ name }) => name === `${words} ${near} ${rest[0]}`);
  const usage = meant ?? inGroup;
  const group = near === undefined ? undefined : `tool help ${words} ${near} lists what may come next`;
  return {
    message: `tool ${words} has no command ${JSON.stringify(next)}`,
    hint:
      usage === undefined
        ? (group ?? `its commands are: ${candidates.join(", ")}`)
        : `did you mean ${neededUsage(usage)}?`,
  };
}

/** A command with the words that it needs: `tool run <hook>`. */
export function neededUsage({ usage }: CommandShape): string {
  return `tool ${usage.replace(/ \[.*?\]/g, "")}`;
}

/** Nouns for the words whose names in the usage are none. */
const NOUNS: Readonly<Record<string, string>> = {
  do: "an action",
  from: "a backup",
  to: "a folder",
  address: "an address",
  id: "an id",
  email: "an email address",
};

function wordCount(command: CommandShape, words: readonly string[]): Misuse {
  if (words.length < command.minWords) {
    const needed = [...command.usage.matchAll(/<([\w-]+)>/g)].map(([, word]) => word!);
    const missing = needed[words.length] ?? needed[0] ?? "word";
    return {
      message: `tool ${command.name} needs ${NOUNS[missing] ?? `a ${missing}`}`,
      hint: `write tool ${command.usage}`,
    };
  }
  const surplus = JSON.stringify(words[command.maxWords]);
  if (command.name === "logs") {
    return {
      message: `tool logs takes one query, ${surplus} is a second`,
      // The shell would remove the quotes of a query in several words, and silently change its meaning.
      hint: `quote the whole query: tool logs ${shellQuote(words.join(" "))}`,
    };
  }
  return {
    message: `unexpected argument ${surplus}`,
    hint: hintForSurplus(command, words) ?? `see tool help ${command.name}`,
  };
}

/** A flag of other tools. `rest` are the words after it. */
function hintForForeignFlag(command: CommandShape, name: string, rest: readonly string[]): string | undefined {
  // Transports of other language servers, which a client may be set up for.
  if (command.name === "lsp" && (name === "socket" || name === "pipe")) {
    return "the server speaks on stdin and stdout: set the editor's transport to stdio";
  }
  if (name === "stage" || name === "s") {
    const stage = rest.find((word) => !word.startsWith("-")) ?? "<stage>";
    if (command.name === "deploy") return `the stage is a word: write tool deploy ${stage}`;
    if (command.name === "logs") return `the stage is a word of the query: write tool logs ${stage}`;
  }
  if (!/^p(ort)?$/.test(name) || !command.flags.some(({ long }) => long === "address")) return undefined;
  const port = rest.find((word) => /^\d{1,5}$/.test(word)) ?? "<port>";
  return `the port is part of the address: write --address :${port}`;
}

/** A word that other tools take in this place, and that is a flag here. */
function hintForSurplus(command: CommandShape, words: readonly string[]): string | undefined {
  const has = (name: string) => command.flags.some(({ long }) => long === name);
  const [word, ...others] = words.slice(command.maxWords);
  if (word === undefined || others.length > 0) return undefined;
  const start = ["tool", command.name, ...words.slice(0, command.maxWords)].join(" ");
  const isStage = STAGES.includes(word) || (command.maxWords === 0 && /^[a-z][\w-]*$/.test(word));
  if (has("stage") && isStage) return `the stage is a flag: ${start} --stage ${word}`;
  if (has("address") && /^:?\d{1,5}$/.test(word)) {
    return `the port is a flag: ${start} --address :${word.replace(":", "")}`;
  }
  return undefined;
}

const STAGES: readonly string[] = ["development", "staging", "production"];

/** Quotes a text as one word of a POSIX shell. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
