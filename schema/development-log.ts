import { NOTHING_SEEN, type SeenFields, seenFields } from "../grammar/query/index.ts";
import type { Directory } from "./directory.ts";
import type { Memory } from "./memory.ts";

/** The fields, texts and levels of a project's development log. */
export interface LogFacts {
  readonly fields: SeenFields;
  /** The same for the same fields. */
  readonly key: string;
}

/** Where `tool start` writes the entries of a project. */
const DEVELOPMENT_LOG = ".tool/development.ndjson";

/** Some hundred entries: enough to have each of their kinds, and read in about a millisecond. */
const MAX_BYTES = 128 * 1024;

const NO_LOG: LogFacts = { fields: NOTHING_SEEN, key: "" };

/** The facts of the newest entries of the project's development log; none if it has no such log. */
export function developmentLogOf(directory: Directory | undefined, memory?: Memory): LogFacts {
  const text = directory?.readEnd?.(DEVELOPMENT_LOG, MAX_BYTES);
  if (text === undefined) return NO_LOG;
  return memory === undefined ? factsOf(text) : memory.ofText("development log", text, factsOf);
}

function factsOf(text: string): LogFacts {
  const seen = seenFields(text);
  const fields = { ...seen, among: () => "the newest entries of the development log" };
  // Not the counts, which grow with each request.
  const values = [...seen.values].map(([name, { count, types }]) => {
    return [name, count >= (seen.minCount ?? 1), ...[...types].sort()];
  });
  return { fields, key: JSON.stringify([values.sort(), [...seen.levels].sort()]) };
}
