import { describe } from "../../grammar/problem.ts";
import {
  conditionsOf,
  meantQueries,
  NOTHING_SEEN,
  nearQueries,
  otherTypesIn,
  type Pipeline,
  parseQuery,
  type Query,
  readFields,
  reasonsFor,
  type SeenFields,
} from "../../grammar/query/index.ts";
import type { Wanted } from "./line-scan.ts";
import type { EntrySample, EntrySource } from "./source.ts";
import { type FoundNear, nothingAmong, Survey } from "./survey.ts";

interface SelectionFacts {
  readonly source: EntrySource;
  readonly wanted: Wanted;
  readonly survey: Survey | undefined;
  readonly signal: AbortSignal;
  /** The number of selected entries. */
  readonly count: number;
}

/**
 * Explains why a query found nothing, or which of its words are no fields and which conditions can never hold; undefined if
 * there is nothing to explain.
 */
export async function explainSelection(facts: SelectionFacts): Promise<string | undefined> {
  const { source, survey, count, wanted, signal } = facts;
  if (count > 0) {
    const { query } = wanted;
    const pipeline = { source: query.source, query, pipes: [] };
    return survey === undefined ? explainTypes(source, pipeline, { hasFound: true, signal }) : survey.explainFound();
  }
  const explanation =
    survey !== undefined
      ? survey.explain(source.totalBytes)
      : ((await explainBySample(facts)) ?? (await explainByNames(facts)));
  return source.unread === undefined ? explanation : `${explanation}; ${source.unread}`;
}

/**
 * Says which conditions can never hold with the types of fields that the source knows; undefined if there are none. Only asks
 * about conditions that what was found need not satisfy.
 */
export async function explainTypes(
  { evidence }: EntrySource,
  pipeline: Pipeline,
  { hasFound, signal }: { readonly hasFound: boolean; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (typeof evidence !== "function" || !conditionsOf(pipeline).some(({ isNeeded }) => !(hasFound && isNeeded)))
    return undefined;
  // The answer is printed already; without a remark nothing is missing.
  const seen = await evidence(signal).catch(() => NOTHING_SEEN);
  const said = otherTypesIn(pipeline, seen).map(describe);
  return said.length === 0 ? undefined : said.join("\n");
}

/** The explanation if others filter the entries: by some of them, and by counts of what none of those is. */
async function explainBySample({ source, wanted, signal }: SelectionFacts): Promise<string | undefined> {
  // Everything was asked for already.
  if (source.sample === undefined || wanted.query.expr === undefined) return undefined;
  const survey = await surveyOf(source.sample(signal), new Survey(wanted));
  if (!survey.isPartial || survey.hasNear) return survey.explain(undefined);
  if (survey.isEmpty) return undefined;
  return survey.explain(undefined, await firstNear(source, wanted.query, { seen: survey.seen(), signal }));
}

async function surveyOf({ blocks, isPartial }: EntrySample, survey: Survey): Promise<Survey> {
  for await (const block of blocks) {
    survey.add(block);
    if (survey.isPartial) return survey;
  }
  if (isPartial()) survey.leaveRest();
  return survey;
}

/**
 * The remarks on a query with stages that gave nothing, if others filter the entries: by some of them; undefined if there are
 * none.
 */
export async function explainStages(
  { sample }: EntrySource,
  { pipeline, wanted, signal }: { readonly pipeline: Pipeline; readonly wanted: Wanted; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (sample === undefined) return undefined;
  return (await surveyOf(sample(signal), new Survey(wanted, pipeline))).explainPipes(undefined);
}

/** The explanation if the entries were not read here: by the fields that the source knows. */
async function explainByNames({ source, wanted, signal }: SelectionFacts): Promise<string> {
  const { query } = wanted;
  const { evidence } = source;
  const hasFields = typeof evidence === "function" && readFields(query).length > 0;
  const seen = hasFields ? await evidence(signal) : NOTHING_SEEN;
  return nothingAmong(query, { seen, near: await firstNear(source, query, { seen, signal }) }, wanted);
}

/** Each is a question to the source. */
const MOST_TRIES = 6;

/** The first similar query that finds something, by its term. */
async function firstNear(
  source: EntrySource,
  query: Query,
  { seen, signal }: { readonly seen: SeenFields; readonly signal: AbortSignal },
): Promise<FoundNear | undefined> {
  if (source.count === undefined) return undefined;
  const meant = reasonsFor(query, seen).flatMap((reason) => reason.meant ?? []);
  const tries = [...meantQueries(query, seen.names), ...meant, ...nearQueries(query)];
  for (const { term, source: text } of tries.slice(0, MOST_TRIES)) {
    const parsed = parseQuery(text);
    if (!parsed.ok) continue;
    const counted = await source.count(parsed.value, signal);
    if (counted === undefined) return undefined;
    if (counted.count > 0) return { term, ...counted };
  }
  return undefined;
}
