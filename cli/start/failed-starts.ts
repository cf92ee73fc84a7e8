import type { Entry } from "../../grammar/entry.ts";

/** The lines of one start that are compared with the next. One that writes more is always shown. */
const MAX_LINES = 500;

/** Entries of the supervisor after which a start has failed. Their `output` has the last lines of the app. */
const FAILED = new Set(["app exited before it listened", "app did not listen on PORT in time"]);
const LISTENS = new Set(["app listening", "app listening again"]);
/** The app is another one now. */
const CHANGED = "app restarts with a changed configuration";
/** All others whose message begins with it are the supervisor's, and no lines of the app. */
const OF_SUPERVISOR = /^app (?:restarts|unavailable|exited|could not be started)/;

/** Numbers that differ from one start to the next: times (in names of files, too, as those of npm's logs), ids of processes, ports and addresses. */
const PASSING =
  /\d{4}-\d\d-\d\d[T_ ]\d\d[:_]\d\d[:_]\d\d(?:[.,_]?\d+)*|\b\d\d:\d\d:\d\d[.,\d]*|\(node:\d+\)|"?\bpid"?[:= ]+\d+|\[\d+\]|0x[\da-f]+|\d{5,}/gi;

/** One start of the app, until it listens or has failed. */
interface Start {
  /** Its output, with levels, and without numbers that pass. */
  readonly lines: string[];
  /** Whether the run before it was asked to end, and may still write. */
  readonly isMixed: boolean;
  /** Lines of the start before that have not come again, by how often. */
  readonly expected: Map<string, number>;
  /** Not shown yet, as all of it was written by the start before, too; undefined once that is not so. */
  held: Entry[] | undefined;
}

interface Failure {
  readonly lines: readonly string[];
  readonly output: string;
  /** Whether some of the lines may be the last ones of a run before it, which are no part of its output. */
  readonly isMixed: boolean;
}

/**
 * Shows the output of a start that fails once: an app that cannot start is started several times, and writes the same each
 * time. Returns a function from entries to those that are to be shown, in order; what a later start writes is held until it
 * differs from the start before, or the app listens. A start that failed as the one before is the entry of its end alone.
 */
export function showFailureOnce(): (entries: readonly Entry[]) => Entry[] {
  let last: Failure | undefined;
  let current: Start | undefined = begin(undefined);

  return (entries) => entries.flatMap(shown);

  function shown(entry: Entry): Entry[] {
    const { message, fields } = entry;
    if ("method" in fields) return [entry];
    if (FAILED.has(message)) return end(entry);
    if (message === CHANGED || LISTENS.has(message)) {
      const held = current?.held ?? [];
      last = undefined;
      current = message === CHANGED ? { ...begin(undefined), isMixed: true } : undefined;
      return [...held, entry];
    }
    if (OF_SUPERVISOR.test(message)) {
      // The run that listened is over: the next output is that of a start.
      current ??= begin(undefined);
      return [entry];
    }
    return current === undefined ? [entry] : write(current, entry);
  }

  function write(start: Start, entry: Entry): Entry[] {
    // By lines: which of them are one entry may differ from one start to the next.
    const lines = comparable(entry);
    if (start.lines.length <= MAX_LINES) start.lines.push(...lines);
    if (start.held === undefined) return [entry];
    start.held.push(entry);
    for (const line of lines) {
      const count = start.expected.get(line) ?? 0;
      if (count === 0) return release(start);
      start.expected.set(line, count - 1);
    }
    return [];
  }

  function end(entry: Entry): Entry[] {
    const start = current ?? begin(undefined);
    const { output, ...fields } = entry.fields;
    const lines = Array.isArray(output) ? output.map(String) : [];
    const failure = { lines: start.lines, output: withoutPassing(lines.join("\n")), isMixed: start.isMixed };
    const isSame =
      last !== undefined &&
      start.held !== undefined &&
      (last.isMixed || [...start.expected.values()].every((count) => count === 0)) &&
      failure.output === last.output;
    const before = isSame ? [] : release(start);
    // None with logs.disable: then only this entry has what the app wrote.
    const isShown = lines.length === 0 || start.lines.length > 0;
    last = start.lines.length > MAX_LINES ? undefined : failure;
    current = begin(last);
    if (isSame && lines.length > 0) return [{ ...entry, fields: { ...fields, output: "the same as before" } }];
    return [...before, isShown ? { ...entry, fields } : entry];
  }
}

function begin(last: Failure | undefined): Start {
  const expected = new Map<string, number>();
  for (const line of last?.lines ?? []) expected.set(line, (expected.get(line) ?? 0) + 1);
  return { lines: [], isMixed: false, expected, held: last === undefined ? undefined : [] };
}

function release(start: Start): Entry[] {
  const held = start.held ?? [];
  start.held = undefined;
  return held;
}

function comparable({ level, message, fields }: Entry): string[] {
  const rest = JSON.stringify(fields);
  return message.split("\n").map((line) => withoutPassing(`${level} ${line} ${rest}`));
}

function withoutPassing(text: string): string {
  return text.replace(PASSING, "0");
}
