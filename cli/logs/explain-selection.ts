import { readFields } from "../../grammar/query/index.ts";
import type { Wanted } from "./line-scan.ts";
import type { EntrySource } from "./source.ts";
import { nothingAmong, type Survey } from "./survey.ts";

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
async function explainByNames({ source: { evidence }, wanted, signal }: SelectionFacts): Promise<string> {
  const { query } = wanted;
  const hasFields = typeof evidence === "function" && readFields(query).length > 0;
  return nothingAmong(query, hasFields ? await evidence(signal) : [], wanted);
}
