import { type Flag, formatsOf, GLOBAL_FLAGS } from "../argv.ts";
import type { Command } from "../command-row.ts";

/** A word that may be written at the cursor. */
export interface CompletionWord {
  readonly value: string;
  readonly description?: string;
}

/** The words that the project adds to those of the table. */
export interface ProjectWords {
  readonly stages: readonly string[];
  /** Names of the saved queries, without the @. */
  readonly queries: readonly string[];
  readonly hooks: readonly string[];
  /** Names of the variables that `tool env` keeps. */
  readonly variables: readonly string[];
  /** Teams that somebody is signed in to on this machine. */
  readonly teams: readonly string[];
}

/** Words to choose from, or paths, which the shell completes itself. */
export type ShellCompletion =
  | { readonly kind: "words"; readonly candidates: readonly CompletionWord[] }
  | { readonly kind: "files" }
  | { readonly kind: "directories" };

const ROLES = ["member", "admin", "owner"];
const SHELLS = ["bash", "zsh", "fish"];
/** Usual periods; any other may be typed. */
const DURATIONS = ["15m", "1h", "1d", "7d", "1M"];

/**
 * Completes the last one of the words after `tool`. The candidates are not filtered by what was typed of it: the shell
 * does that.
 */
export function complete(
  words: readonly string[],
  commands: readonly Command[],
  project: ProjectWords,
): ShellCompletion {
  const typed = words.at(-1) ?? "";
  const { command, before, pending } = readBefore(words.slice(0, -1), commands);
  const flags = [...GLOBAL_FLAGS, ...(command?.flags ?? [])];
  if (pending !== undefined) return valuesOf(pending.value!, command, project);
  if (pending === undefined && before.includes("--")) return argumentOf(command, before, commands, project);
  const glued = /^--([\w-]+)=/.exec(typed);
  const gluedFlag = glued && flags.find(({ long, value }) => long === glued[1] && value !== undefined);
  if (gluedFlag) {
    const values = valuesOf(gluedFlag.value!, command, project);
    if (values.kind !== "words") return values;
    return asWords(values.candidates.map((it) => ({ ...it, value: `--${gluedFlag.long}=${it.value}` })));
  }
  if (typed.startsWith("-")) {
    const isUsed = ({ long, short, repeatable }: Flag) =>
      !repeatable &&
      before.some((word) => word === `--${long}` || word.startsWith(`--${long}=`) || word === `-${short}`);
    const left = flags.filter((flag) => !isUsed(flag));
    return asWords(left.map(({ long, description }) => ({ value: `--${long}`, description })));
  }
  return argumentOf(command, before, commands, project);
}

interface Before {
  readonly command: Command | undefined;
  /** The words after the command's name, flags included; all words if there is no command yet. */
  readonly before: readonly string[];
  /** The flag whose value comes next. */
  readonly pending: Flag | undefined;
}

/** The command that the words before the cursor name, in one word or several, and the flag that waits for its value. */
function readBefore(words: readonly string[], commands: readonly Command[]): Before {
  let command: Command | undefined;
  let name = "";
  let before: string[] = [];
  let pending: Flag | undefined;
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith("-") && word.length > 1 && !before.includes("--")) {
      before.push(word);
      const flags = [...GLOBAL_FLAGS, ...(command?.flags ?? [])];
      // The last letter of a cluster may need a value; `--stage=x` has one.
      const flag = flags.find(
        ({ long, short }) => word === `--${long}` || (/^-[^-]/.test(word) && word.endsWith(`${short}`)),
      );
      if (flag?.value !== undefined) pending = flag;
      continue;
    }
    const longer = name === "" ? word : `${name} ${word}`;
    const named = commands.find((one) => one.name === longer);
    if (named !== undefined || commands.some((one) => one.name.startsWith(`${longer} `))) {
      name = longer;
      command = named;
      before = before.filter((one) => one.startsWith("-"));
    } else before.push(word);
  }
  return { command: command ?? subcommandsOf(name, commands), before, pending };
}

/** A group, such as `domains`, as a command whose words are the rest of its commands' names. */
function subcommandsOf(name: string, commands: readonly Command[]): Command | undefined {
  const some = commands.find((one) => name !== "" && one.name.startsWith(`${name} `));
  return some && { ...some, name, usage: name, flags: [] };
}

/** Candidates for the word of a command at the cursor. */
function argumentOf(
  command: Command | undefined,
  before: readonly string[],
  commands: readonly Command[],
  project: ProjectWords,
): ShellCompletion {
  const words = before.filter((word) => !word.startsWith("-"));
  if (command === undefined) {
    if (words.length > 0) return asWords([]);
    const deploys = commands.some(({ name }) => name === "deploy");
    const stages = deploys ? project.stages.filter((stage) => stage !== "development") : [];
    const deployed = stages.map((value) => ({ value, description: `Deploy ${value}` }));
    return asWords([...nextWords("", commands), ...deployed]);
  }
  if (command.name === "help") return asWords(nextWords(words.map((word) => `${word} `).join(""), commands));
  const subcommands = words.length > 0 ? [] : nextWords(`${command.name} `, commands);
  const places = [...command.usage.matchAll(/[<[]([\w-]+)(\.\.\.)?[>\]]/g)];
  const place = places[words.length] ?? places.findLast(([, , more]) => more !== undefined);
  if (place === undefined) return asWords(subcommands);
  const values = valuesOf(place[1]!, command, project);
  if (values.kind !== "words") return values;
  // After a name `env add` takes its value; `env rm` takes each name once.
  const isValue = /^env (add|set)$/.test(command.name) && words.filter((word) => !word.includes("=")).length % 2 === 1;
  const left = isValue
    ? []
    : values.candidates.filter(({ value }) => !/^env /.test(command.name) || !words.includes(value));
  return asWords([...subcommands, ...left]);
}

/** The words that continue the beginning of a command's name, in the table's order. */
function nextWords(begun: string, commands: readonly Command[]): CompletionWord[] {
  const candidates = new Map<string, CompletionWord>();
  for (const { name, summary } of commands) {
    if (!name.startsWith(begun)) continue;
    const [value = "", ...more] = name.slice(begun.length).split(" ");
    // If several commands begin alike, the one that ends here has the description.
    if (more.length === 0) candidates.set(value, { value, description: summary });
    else if (!candidates.has(value)) candidates.set(value, { value });
  }
  return [...candidates.values()];
}

/** Values by their name in help. */
function valuesOf(name: string, command: Command | undefined, project: ProjectWords): ShellCompletion {
  switch (name) {
    case "stage": {
      // The local stage is never deployed, but flags take its name.
      const isDeploy = command?.usage.includes("[stage]") === true;
      const stages = project.stages.filter((stage) => !isDeploy || stage !== "development");
      const all = command?.name.startsWith("env ") ? ["all"] : [];
      return asWords([...all, ...stages].map((value) => ({ value })));
    }
    case "format":
      return asWords(formatsOf(command?.name).map((value) => ({ value })));
    case "hook":
      return asWords(project.hooks.map((value) => ({ value })));
    case "variable":
    case "more":
      return asWords(project.variables.map((value) => ({ value })));
    case "query":
      return asWords(project.queries.map((query) => ({ value: `@${query}`, description: "A query of logs.queries" })));
    case "team":
      return asWords(project.teams.map((value) => ({ value })));
    case "role":
      return asWords(ROLES.map((value) => ({ value })));
    case "shell":
      return asWords(SHELLS.map((value) => ({ value })));
    case "duration":
      return asWords(DURATIONS.map((value) => ({ value })));
    case "dir":
      return { kind: "directories" };
    case "file":
    case "path":
      return { kind: "files" };
    default:
      return asWords([]);
  }
}

function asWords(candidates: readonly CompletionWord[]): ShellCompletion {
  return { kind: "words", candidates };
}
