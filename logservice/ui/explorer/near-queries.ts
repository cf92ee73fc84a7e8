import type { ViewRange } from "../../address/view.ts";
import { rangeTexts, timesOf } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { askLanguage } from "../language/ask.ts";
import type { NearAnswer } from "../language/messages.ts";
import { textOfValue, valueAt } from "./field-values.ts";

/** The likely meanings of a query that finds nothing. */
export interface Near {
  /** Why it may find nothing, in sentences. */
  readonly reasons: readonly string[];
  /** The words of the query that are no field. */
  readonly words: readonly string[];
  /** Its other fields that no event has. */
  readonly unknown: readonly string[];
  /** The texts that no message has. */
  readonly texts: readonly string[];
  /** Queries that find something. */
  readonly matches: readonly NearMatch[];
}

export interface NearMatch {
  /** The part of the query that is another one. */
  readonly term: string;
  readonly query: string;
  readonly range: ViewRange;
  readonly count: number;
}

const YEAR_MS = 31_536_000_000;
/** More to choose from would only be read. */
const MOST_MATCHES = 3;

interface NearRequest {
  readonly projectId: string;
  readonly query: string;
  readonly range: ViewRange;
  readonly signal: AbortSignal;
}

/** Tries what may have been meant: in the range, and if nothing is there, in the last year. */
export async function nearTo(request: NearRequest): Promise<Near> {
  const { fields } = await call("get_discovered_fields", input(request, "", { lastMs: YEAR_MS }), request);
  const texts = fields.filter(({ type }) => type === "string").map(({ name }) => name);
  // Texts are looked for in fields of texts; the names of all others may have been meant, too.
  const names = [...texts, ...fields.flatMap(({ name }) => (texts.includes(name) ? [] : [name]))];
  const answer = await askLanguage({ kind: "near", text: request.query, fields: names, types: fields });
  let matches: readonly NearMatch[] = [];
  for (const range of [request.range, { lastMs: YEAR_MS }]) {
    matches = await among(answer, { ...request, range });
    if (matches.length > 0) break;
  }
  const { reasons, words, unknown } = answer;
  return { reasons, words, unknown, texts: answer.texts.map(({ text }) => text), matches };
}

async function among({ queries, texts }: NearAnswer, request: NearRequest): Promise<readonly NearMatch[]> {
  const matches: NearMatch[] = [];
  const take = async ({ term, source }: { readonly term: string; readonly source: string }): Promise<void> => {
    const { count } = await call("get_count", input(request, source, request.range), request);
    // The same term in any case finds the same events again.
    if (count > 0 && matches.every((other) => other.count !== count))
      matches.push({ term, query: source, range: request.range, count });
  };
  for (const query of queries) if (matches.length < MOST_MATCHES) await take(query);
  for (const { text, anywhere, fields } of texts) {
    if (matches.length >= MOST_MATCHES) break;
    const { events } = await call("search", { ...input(request, anywhere, request.range), limit: 1 }, request);
    for (const { name, is, has } of fields) {
      const value = events[0] && textOfValue(valueAt(events[0], name));
      if (value === text) await take(is);
      else if (value?.includes(text)) await take(has);
    }
  }
  return matches.slice(0, MOST_MATCHES);
}

const input = ({ projectId }: NearRequest, query: string, range: ViewRange) => ({
  project_id: projectId,
  ...(query !== "" && { query }),
  ...rangeTexts(timesOf(range, serviceNow())),
});
