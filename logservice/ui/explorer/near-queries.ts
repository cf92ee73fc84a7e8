import type { ViewRange } from "../../address/view.ts";
import { rangeTexts, timesOf } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { askLanguage } from "../language/ask.ts";
import type { NearAnswer } from "../language/messages.ts";
import { textOfValue, valueAt } from "./field-values.ts";

/** What may have been meant by a query that finds nothing. */
export interface Near {
  /** The words of the query that are no field. */
  readonly words: readonly string[];
  /** Its other fields that no event has. */
  readonly unknown: readonly string[];
  /** The texts that no message has. */
  readonly texts: readonly string[];
  /** Queries that find something. */
  readonly found: readonly NearFound[];
}

export interface NearFound {
  /** The part of the query that is another one. */
  readonly term: string;
  readonly query: string;
  readonly range: ViewRange;
  readonly count: number;
}

const YEAR_MS = 31_536_000_000;
/** More to choose from would only be read. */
const MOST_FOUND = 3;

interface Asked {
  readonly projectId: string;
  readonly query: string;
  readonly range: ViewRange;
  readonly signal: AbortSignal;
}

/** Tries what may have been meant: in the range, and if nothing is there, in the last year. */
export async function nearTo(asked: Asked): Promise<Near> {
  const { fields } = await call("get_discovered_fields", input(asked, "", { lastMs: YEAR_MS }), asked);
  const texts = fields.filter(({ type }) => type === "string").map(({ name }) => name);
  // Texts are looked for in fields of texts; the names of all others may have been meant, too.
  const names = [...texts, ...fields.flatMap(({ name }) => (texts.includes(name) ? [] : [name]))];
  const answer = await askLanguage({ kind: "near", text: asked.query, fields: names });
  let found: readonly NearFound[] = [];
  for (const range of [asked.range, { lastMs: YEAR_MS }]) {
    found = await among(answer, { ...asked, range });
    if (found.length > 0) break;
  }
  return { words: answer.words, unknown: answer.unknown, texts: answer.texts.map(({ text }) => text), found };
}

async function among({ queries, texts }: NearAnswer, asked: Asked): Promise<readonly NearFound[]> {
  const found: NearFound[] = [];
  const take = async ({ term, source }: { readonly term: string; readonly source: string }): Promise<void> => {
    const { count } = await call("get_count", input(asked, source, asked.range), asked);
    // The same term in any case finds the same events again.
    if (count > 0 && found.every((other) => other.count !== count))
      found.push({ term, query: source, range: asked.range, count });
  };
  for (const query of queries) if (found.length < MOST_FOUND) await take(query);
  for (const { text, anywhere, fields } of texts) {
    if (found.length >= MOST_FOUND) break;
    const { events } = await call("search", { ...input(asked, anywhere, asked.range), limit: 1 }, asked);
    for (const { name, is, has } of fields) {
      const value = events[0] && textOfValue(valueAt(events[0], name));
      if (value === text) await take(is);
      else if (value?.includes(text)) await take(has);
    }
  }
  return found.slice(0, MOST_FOUND);
}

const input = ({ projectId }: Asked, query: string, range: ViewRange) => ({
  project_id: projectId,
  ...(query !== "" && { query }),
  ...rangeTexts(timesOf(range, Date.now())),
});
