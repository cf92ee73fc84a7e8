import {
  isSeen,
  meantQueries,
  type NearQuery,
  nearQueries,
  parseQuery,
  readFields,
  soughtTexts,
} from "../../../grammar/query/index.ts";
import type { NearAnswer } from "./messages.ts";

/** So many fields are looked into for a text. */
const MOST_FIELDS = 40;
const MOST_QUERIES = 6;

/** The likely meanings of a query that finds nothing among entries with these fields. */
export function nearAnswer(text: string, fields: readonly string[]): NearAnswer {
  const parsed = parseQuery(text);
  if (!parsed.ok) return { words: [], unknown: [], queries: [], texts: [] };
  const query = parsed.value;
  const among = fields.slice(0, MOST_FIELDS);
  const isValid = ({ source }: NearQuery) => source !== text && parseQuery(source).ok;
  const sought = among.length === 0 ? [] : soughtTexts(query);
  const unseen = readFields(query).filter(({ name }) => !isSeen(name, fields));
  return {
    words: unseen.flatMap(({ name, isAlone }) => (isAlone ? [name] : [])),
    unknown: unseen.flatMap(({ name, isAlone }) => (isAlone ? [] : [name])),
    queries: [...nearQueries(query), ...meantQueries(query, fields)].filter(isValid).slice(0, MOST_QUERIES),
    texts: sought.flatMap((one) => {
      const anywhere = one.inAny(among);
      if (!isValid(anywhere)) return [];
      const inFields = among.map((name) => ({ name, is: one.is(name), has: one.in(name) }));
      return [{ text: one.text, anywhere: anywhere.source, fields: inFields }];
    }),
  };
}
