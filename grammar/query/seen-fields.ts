import type { Entry } from "../entry.ts";
import { levelOf } from "./levels.ts";
import { readLoggerLine } from "./loggers.ts";
import { printField } from "./print.ts";

/** The fields, texts and levels that the entries of a log have, as far as they were read. */
export interface SeenFields {
  /** The names of their fields, as a query writes them. */
  readonly names: readonly string[];
  /** Those whose value is a text in some entry. */
  readonly ofText: ReadonlySet<string>;
  /** The levels that are none of ours. */
  readonly levels: ReadonlySet<string>;
}

export const NOTHING_SEEN: SeenFields = { names: [], ofText: new Set(), levels: new Set() };

/** Depth of nested fields such as user.email. */
const MAX_DEPTH = 4;
const MAX_NAMES = 1_000;

/** The fields of the lines of a log. The first and last line may be cut off; what is no object of JSON is passed over. */
export function seenFields(lines: string): SeenFields {
  const names = new Set<string>();
  const ofText = new Set<string>();
  const levels = new Set<string>();
  for (const line of lines.split("\n")) {
    const entry = entryOf(line);
    if (entry === undefined) continue;
    addNames(entry.fields ?? {}, [], names, ofText);
    if (typeof entry.level === "string" && levelOf(entry.level) === undefined) levels.add(entry.level);
  }
  return { names: [...names], ofText, levels };
}

function entryOf(line: string): Partial<Entry> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const object = JSON.parse(line);
    if (typeof object.fields === "object" && object.fields !== null) return object;
    const { level, others } = readLoggerLine(object) ?? { level: undefined, others: object };
    return { ...(level !== undefined && { level }), fields: others };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** Adds the names of the fields below `path`, and to `ofText` the names of those that are texts. */
export function addNames(value: object, path: readonly string[], names: Set<string>, ofText?: Set<string>): void {
  for (const [key, element] of Object.entries(value)) {
    if (names.size >= MAX_NAMES) return;
    const at = [...path, key];
    if (typeof element === "object" && element !== null && !Array.isArray(element) && at.length < MAX_DEPTH) {
      addNames(element, at, names, ofText);
    } else {
      const name = nameInQuery(at);
      names.add(name);
      if (typeof element === "string") ofText?.add(name);
    }
  }
}

/** The name of a field in the syntax of a query. */
export function nameInQuery(path: readonly string[]): string {
  const span = { start: 0, end: 0 };
  const [first = ""] = path;
  const isPlain = FIRST_NAME.test(first) && !KEYWORD.test(first) && !(path.length === 1 && isWord(first));
  const whole = isPlain ? path : ["fields", ...path];
  return printField({ path: whole.map((key) => ({ kind: "key", key, span })), span });
}

const FIRST_NAME = /^[\p{L}_@$][\p{L}\p{M}0-9_@$-]*$/u;
/** Keywords, which are not names, and the object of all fields. */
const KEYWORD = /^(?:and|or|not|in|contains|exists|fields)$/i;
/** Names that by themselves mean a part of the entry, or are a term. */
const isWord = (name: string) =>
  name === "level" || name === "message" || name === "timestamp" || levelOf(name) !== undefined;
