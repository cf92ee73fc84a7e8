// Conditions as text with a `?` for each bound value, and as a pair: an upper and a lower bound of a query's answer.

export type SqlValue = string | number | bigint;

/** Text of a boolean expression that is never NULL. Its `?` stand for the values, in order. */
export interface Sql {
  readonly text: string;
  /**
   * True if `text` is, with the same values, but false or NULL otherwise. DuckDB skips row groups whose least and greatest
   * value exclude a plain comparison; it cannot do so for a comparison inside a function.
   */
  readonly where: string;
  readonly values: readonly SqlValue[];
}

/**
 * What SQL can express of a query: every selected event satisfies `upper`, and every event that satisfies `lower` is
 * selected. They are the same object if SQL expresses the query exactly; else the predicate decides about the events
 * between them.
 */
export interface Condition {
  readonly upper: Sql;
  readonly lower: Sql;
}

export const sql = (text: string, ...values: SqlValue[]): Sql => ({ text, where: text, values });

export const TRUE = sql("true");
export const FALSE = sql("false");

export const exactly = (condition: Sql): Condition => ({ upper: condition, lower: condition });

export const ALL = exactly(TRUE);
export const NONE = exactly(FALSE);
/** SQL knows nothing of it. */
export const UNKNOWN: Condition = { upper: TRUE, lower: FALSE };

/** An operand that is NULL where there is nothing to test: false. */
export const orFalse = (text: string, ...values: SqlValue[]): Sql => ({
  text: `coalesce(${text}, false)`,
  where: `(${text})`,
  values,
});

export function not({ upper, lower }: Condition): Condition {
  return pair(negated(lower), negated(upper), upper === lower);
}

export function both(terms: readonly Condition[]): Condition {
  return joinPair(terms, "and", FALSE, TRUE);
}

export function either(terms: readonly Condition[]): Condition {
  return joinPair(terms, "or", TRUE, FALSE);
}

function joinPair(terms: readonly Condition[], word: "and" | "or", decides: Sql, neutral: Sql): Condition {
  const isExact = terms.every(({ upper, lower }) => upper === lower);
  const of = (side: "upper" | "lower") =>
    joinSql(
      terms.map((term) => term[side]),
      word,
      decides,
      neutral,
    );
  return pair(of("upper"), isExact ? TRUE : of("lower"), isExact);
}

/** Both conditions at once, each as one side of a query. */
export const bothSql = (...terms: readonly Sql[]): Sql => joinSql(terms, "and", FALSE, TRUE);

/** Any of the conditions, as one side of a query. */
export const eitherSql = (terms: readonly Sql[]): Sql => joinSql(terms, "or", TRUE, FALSE);

function joinSql(terms: readonly Sql[], word: "and" | "or", decides: Sql, neutral: Sql): Sql {
  if (terms.includes(decides)) return decides;
  const rest = terms.filter((term) => term !== neutral);
  if (rest.length <= 1) return rest[0] ?? neutral;
  return {
    text: `(${rest.map(({ text }) => text).join(` ${word} `)})`,
    where: `(${rest.map(({ where }) => where).join(` ${word} `)})`,
    values: rest.flatMap(({ values }) => values),
  };
}

function negated(condition: Sql): Sql {
  if (condition === TRUE) return FALSE;
  if (condition === FALSE) return TRUE;
  return sql(`(not ${condition.text})`, ...condition.values);
}

const pair = (upper: Sql, lower: Sql, isExact: boolean): Condition =>
  isExact || upper === lower ? exactly(upper) : { upper, lower };
