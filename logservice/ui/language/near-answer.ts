import {
  type DiscoveredValues,
  isSeen,
  meantQueries,
  type NearQuery,
  nearQueries,
  parseQuery,
  readFields,
  reasonsFor,
  seenInService,
  soughtTexts,
} from "../../../grammar/query/index.ts";
import type { NearAnswer } from "./messages.ts";

/** So many fields are looked into for a text. */
const MOST_FIELDS = 40;
const MOST_QUERIES = 6;

/** The likely meanings of a query that finds nothing among entries with these fields, of which `types` says what they hold. */
export function nearAnswer(
  text: string,
  fields: readonly string[],
  types: readonly DiscoveredValues[] = [],
): NearAnswer {
  const parsed = parseQuery(text);
  if (!parsed.ok) return { reasons: [], words: [], unknown: [], queries: [], texts: [] };
  const query = parsed.value;
  const among = fields.slice(0, MOST_FIELDS);
  const isValid = ({ source }: NearQuery) => source !== text && parseQuery(source).ok;
  const sought = among.length === 0 ? [] : soughtTexts(query);
  const reasons = reasonsFor(query, { ...seenInService(types), names: fields });
  const meant = reasons.flatMap((reason) => reason.meant ?? []);
  const abouts = reasons.map(({ about }) => about);
  const unseen = readFields(query).filter(({ name }) => !isSeen(name, fields) && !abouts.includes(name));
  return {
    reasons: reasons.map(({ said }) => said),
    words: unseen.flatMap(({ name, isAlone }) => (isAlone ? [name] : [])),
    unknown: unseen.flatMap(({ name, isAlone }) => (isAlone ? [] : [name])),
    queries: eachOnce([...meant, ...nearQueries(query), ...meantQueries(query, fields)].filter(isValid)),
    texts: sought.flatMap((one) => {
      const anywhere = one.inAny(among);
      if (!isValid(anywhere)) return [];
      const inFields = among.map((name) => ({ name, is: one.is(name), has: one.in(name) }));
      return [{ text: one.text, anywhere: anywhere.source, fields: inFields }];
    }),
  };
}

/** The first of those that are the same query. */
const eachOnce = (queries: readonly NearQuery[]) =>
  queries.filter(({ source }, i) => queries.findIndex((other) => other.source === source) === i).slice(0, MOST_QUERIES);
