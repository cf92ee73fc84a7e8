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
 * The part of a query that SQL can express: every selected event satisfies `upper`, and every event that satisfies
 * `lower` is selected. They are the same object if SQL expresses the query exactly; else the predicate decides about
 * the events between them.
 */
export interface SqlCondition {
  readonly upper: Sql;
  readonly lower: Sql;
}

export const sql = (text: string, ...values: SqlValue[]): Sql => ({ text, where: text, values });

export const SQL_TRUE = sql("true");
export const SQL_FALSE = sql("false");

export const exactly = (condition: Sql): SqlCondition => ({ upper: condition, lower: condition });

export const EVERY_EVENT = exactly(SQL_TRUE);
export const NO_EVENT = exactly(SQL_FALSE);
/** SQL knows nothing of it. */
export const UNKNOWN: SqlCondition = { upper: SQL_TRUE, lower: SQL_FALSE };

/** An operand that is NULL where there is nothing to test: false. */
export const orFalse = (text: string, ...values: SqlValue[]): Sql => ({
  text: `coalesce(${text}, false)`,
  where: `(${text})`,
  values,
});

export function not({ upper, lower }: SqlCondition): SqlCondition {
  return pair(negated(lower), negated(upper), upper === lower);
}

export function both(terms: readonly SqlCondition[]): SqlCondition {
  return joinPair(terms, "and", SQL_FALSE, SQL_TRUE);
}

export function either(terms: readonly SqlCondition[]): SqlCondition {
  return joinPair(terms, "or", SQL_TRUE, SQL_FALSE);
}

function joinPair(terms: readonly SqlCondition[], word: "and" | "or", decides: Sql, neutral: Sql): SqlCondition {
  const isExact = terms.every(({ upper, lower }) => upper === lower);
  const of = (side: "upper" | "lower") =>
    joinSql(
      terms.map((term) => term[side]),
      word,
      decides,
      neutral,
    );
  return pair(of("upper"), isExact ? SQL_TRUE : of("lower"), isExact);
}

/** Both conditions at once, each as one side of a query. */
export const bothSql = (...terms: readonly Sql[]): Sql => joinSql(terms, "and", SQL_FALSE, SQL_TRUE);

/** Any of the conditions, as one side of a query. */
export const eitherSql = (terms: readonly Sql[]): Sql => joinSql(terms, "or", SQL_TRUE, SQL_FALSE);

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
  if (condition === SQL_TRUE) return SQL_FALSE;
  if (condition === SQL_FALSE) return SQL_TRUE;
  return sql(`(not ${condition.text})`, ...condition.values);
}

const pair = (upper: Sql, lower: Sql, isExact: boolean): SqlCondition =>
  isExact || upper === lower ? exactly(upper) : { upper, lower };
