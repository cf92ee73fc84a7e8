import {
  meantQueries,
  NOTHING_SEEN,
  nearQueries,
  parseQuery,
  type Query,
  readFields,
  reasonsFor,
} from "../../grammar/query/index.ts";
import type { Wanted } from "./line-scan.ts";
import type { EntrySource } from "./source.ts";
import { type FoundNear, nothingAmong, type Survey } from "./survey.ts";

interface SelectionFacts {
  readonly source: EntrySource;
  readonly wanted: Wanted;
  readonly survey: Survey | undefined;
  readonly signal: AbortSignal;
  /** The number of selected entries. */
  readonly count: number;
}

/** Explains why a query found nothing, or which of its words are no fields; undefined if there is nothing to explain. */
export async function explainSelection(facts: SelectionFacts): Promise<string | undefined> {
  const { source, survey, count } = facts;
  if (count > 0) return survey?.explainWords();
  const explanation = survey === undefined ? await explainByNames(facts) : survey.explain(source.totalBytes);
  return source.unread === undefined ? explanation : `${explanation}; ${source.unread}`;
}

/** The explanation if the entries were not read here: by the names of fields that the source knows. */
async function explainByNames({ source, wanted, signal }: SelectionFacts): Promise<string> {
  const { query } = wanted;
  const { evidence } = source;
  const hasFields = typeof evidence === "function" && readFields(query).length > 0;
  const names = hasFields ? await evidence(signal) : [];
  return nothingAmong(query, { names, near: await firstNear(source, query, { names, signal }) }, wanted);
}

/** Each is a question to the source. */
const MOST_TRIES = 6;

/** The first similar query that finds something, by its term. */
async function firstNear(
  source: EntrySource,
  query: Query,
  { names, signal }: { readonly names: readonly string[]; readonly signal: AbortSignal },
): Promise<FoundNear | undefined> {
  if (source.count === undefined) return undefined;
  const meant = reasonsFor(query, { ...NOTHING_SEEN, names }).flatMap((reason) => reason.meant ?? []);
  const tries = [...meantQueries(query, names), ...meant, ...nearQueries(query)];
  for (const { term, source: text } of tries.slice(0, MOST_TRIES)) {
    const parsed = parseQuery(text);
    const count = parsed.ok ? await source.count(parsed.value, signal) : 0;
    if (count === undefined) return undefined;
    if (count > 0) return { term, count };
  }
  return undefined;
}
