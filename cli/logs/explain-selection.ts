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
  type SoughtText,
  soughtTexts,
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

interface StagesFacts {
  readonly pipeline: Pipeline;
  readonly wanted: Wanted;
  readonly signal: AbortSignal;
  /** Whether the query before the stages surely selected nothing. */
  readonly isNothing: boolean;
}

/** The remarks on a query with stages that gave nothing, if the entries were not read here; undefined if there are none. */
export async function explainStages(
  source: EntrySource,
  { pipeline, wanted, signal, isNothing }: StagesFacts,
): Promise<string | undefined> {
  const { query } = wanted;
  if (source.sample !== undefined) {
    const survey = await surveyOf(source.sample(signal), new Survey(wanted, pipeline));
    if (!isNothing || !survey.isPartial || survey.isEmpty || query.expr === undefined)
      return survey.explainPipes(undefined);
    const near = survey.hasNear ? undefined : await firstNear(source, query, { seen: survey.seen(), signal });
    return survey.explain(undefined, near);
  }
  if (source.count === undefined || query.expr === undefined) return undefined;
  const selected = isNothing ? 0 : (await source.count(query, signal))?.count;
  return selected === 0 ? explainByNames({ source, wanted, signal }) : undefined;
}

/** The explanation if the entries were not read here: by the fields that the source knows. */
async function explainByNames({
  source,
  wanted,
  signal,
}: Pick<SelectionFacts, "source" | "wanted" | "signal">): Promise<string> {
  const { query } = wanted;
  const { evidence } = source;
  const texts = soughtTexts(query);
  const isAsked = typeof evidence === "function" && (readFields(query).length > 0 || texts.length > 0);
  const all = isAsked ? await evidence(signal) : NOTHING_SEEN;
  const seen = readFields(query).length > 0 ? all : NOTHING_SEEN;
  const near = await firstNear(source, query, { seen, signal });
  const elsewhere = near === undefined ? await fieldWith(source, texts, { names: all.names, signal }) : undefined;
  return nothingAmong(query, { seen, near, elsewhere, isCounted: source.count !== undefined }, wanted);
}

/** So many fields are looked into for a text. */
const MOST_FIELDS = 40;

/** The first field that contains a text which was searched for in messages, by counts of ever fewer fields at once. */
async function fieldWith(
  { count }: EntrySource,
  texts: readonly SoughtText[],
  { names, signal }: { readonly names: readonly string[]; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const isIn = async (query: string) => {
    const parsed = parseQuery(query);
    return parsed.ok && ((await count?.(parsed.value, signal))?.count ?? 0) > 0;
  };
  const [text] = texts;
  let among = names.slice(0, MOST_FIELDS);
  if (text === undefined || among.length === 0 || !(await isIn(text.inAny(among).source))) return undefined;
  while (among.length > 1) {
    const half = among.slice(0, among.length / 2);
    among = (await isIn(text.inAny(half).source)) ? half : among.slice(half.length);
  }
  return `${text.quoted} is in ${among[0]}: ${text.in(among[0]!).source.trim()}`;
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
    if (counted.count > 0) return { term, source: text, ...counted };
  }
  return undefined;
}
