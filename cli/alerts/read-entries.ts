import type { Entry } from "../../grammar/entry.ts";
import { parseQuery, type Query, readTime } from "../../grammar/query/index.ts";
import type { Context } from "../context.ts";
import { readEntryLine } from "../logs/entry-line.ts";
import { CAUGHT_UP } from "../logs/line-blocks.ts";
import { lineScan } from "../logs/line-scan.ts";
import { InputError, openFile, readOpenFile } from "../logs/read-files.ts";
import type { EntrySource } from "../logs/source.ts";

const EVERYTHING = parseQuery("");

/** The query that selects all entries. */
export const allEntries = (): Query => {
  if (!EVERYTHING.ok) throw new Error("an empty query does not parse");
  return EVERYTHING.value;
};

/** How many entries were read: those without a time are in no interval of an alert. */
export interface EntryCounts {
  readonly timed: number;
  readonly untimed: number;
}

/**
 * Calls back for each entry of a source up to `untilMs`, in the order of its inputs. Returns how many there were. An input that
 * cannot be read to its end ends the command: an alert that is replayed over a part of the log would say nothing of the rest.
 */
export async function readEntries(
  context: Context,
  source: EntrySource,
  { untilMs, signal }: { readonly untilMs: number | undefined; readonly signal: AbortSignal },
  take: (entry: Entry) => void,
): Promise<EntryCounts> {
  const scan = lineScan({ query: allEntries(), nowMs: context.io.nowMs(), sinceMs: source.sinceMs, untilMs });
  let [timed, untimed] = [0, 0];
  try {
    for await (const input of source.inputs(signal, () => {})) {
      const opened = "path" in input ? await openFile(input, signal) : undefined;
      try {
        const blocks = "path" in input ? readOpenFile(input, opened!, () => {}) : input;
        for await (const block of blocks) {
          if (block === CAUGHT_UP) continue;
          scan(block, (bytes, start, end, line) => {
            const entry = line?.entry ?? readEntryLine(bytes.toString("utf8", start, end)).entry;
            if (readTime(entry.timestamp) === undefined) untimed++;
            else timed++;
            take(entry);
            return true;
          });
        }
      } finally {
        await opened?.handle.close();
      }
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return context.fail(error.message, error.hint);
  }
  const missing = source.missing?.();
  if (missing !== undefined) await context.say(`partial: ${missing}`);
  return { timed, untimed };
}
