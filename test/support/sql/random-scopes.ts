import { type Random, randomOf } from "../random.ts";

/**
 * Random queries of one column `v` whose definitions, tables and subqueries share a few names. Most names are read where
 * they are likely to be known, so that about half of the queries can run.
 */
export function* randomScopes(count: number, seed: number): Generator<string> {
  const random = randomOf(seed);
  for (let i = 0; i < count; i++) yield queryOf(random, ["events"], 3);
}

function queryOf(random: Random, tables: readonly string[], depth: number): string {
  if (depth === 0 || random.below(2) === 0) return bodyOf(random, tables, depth);
  const names = ["a", "b", "c", "events"].filter(() => random.below(2) === 0);
  if (random.below(2) === 0) names.reverse();
  let inner = tables;
  const definitions = names.map((name) => {
    const first = queryOf(random, inner, depth - 1);
    inner = [...inner, name];
    const more = random.below(3) === 0 ? ` union (${queryOf(random, inner, depth - 1)})` : "";
    return `${name}(v) as ${random.pick(["", "materialized ", "not materialized "])}((${first})${more})`;
  });
  const body = bodyOf(random, inner, depth);
  return names.length === 0 ? body : `with ${random.pick(["", "recursive "])}${definitions.join(", ")} ${body}`;
}

function bodyOf(random: Random, tables: readonly string[], depth: number): string {
  const table = () => random.pick(random.below(25) === 0 ? ANY_TABLE : tables);
  if (depth === 0) return random.pick([`select v from ${table()}`, `from ${table()}`, "select 'x' as v"]);
  const inner = () => queryOf(random, tables, depth - 1);
  switch (random.below(8)) {
    case 0:
      return `select s.v from (${inner()}) s`;
    case 1:
      return `select (select max(v) from (${inner()}) m) as v from ${table()}`;
    case 2:
      return `select v from ${table()} where v in (${inner()}) or true`;
    case 3:
      // Not UNION ALL, with which a recursive query would never end.
      return `(${inner()}) union (${inner()})`;
    case 4:
      return `select l.v from ${table()} t, lateral (${inner()}) l`;
    case 5:
      return `(${inner()}) union (${inner()}) order by v limit 5`;
    case 6:
      return `select s.v from ${table()} t join (${inner()}) s on true`;
    default:
      return `select v from ${table()}`;
  }
}

const ANY_TABLE = ["events", "a", "b", "c", "A", '"b"', "a as x", "main.a"];
