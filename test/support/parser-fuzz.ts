import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { actions as queryActions } from "../../grammar/query/actions.ts";
import { PIPE_WORDS } from "../../grammar/query/pipe-words.ts";
import { loadGrammar as loadQuery } from "../../grammar/query/query.generated.ts";
import { NO_MATCH as NO_QUERY, parsers as queryParsers } from "../../grammar/query/query-parser.generated.ts";
import { actions as routeActions } from "../../grammar/route/actions.ts";
import { loadGrammar as loadRoute } from "../../grammar/route/route.generated.ts";
import { NO_MATCH as NO_ROUTE, parsers as routeParsers } from "../../grammar/route/route-parser.generated.ts";
import { actions as templateActions } from "../../grammar/template/actions.ts";
import { loadGrammar as loadTemplate } from "../../grammar/template/template.generated.ts";
import {
  NO_MATCH as NO_TEMPLATE,
  parsers as templateParsers,
} from "../../grammar/template/template-parser.generated.ts";
import { root } from "./cli.ts";
import { byOhm } from "./ohm-actions.ts";

export interface Subject {
  readonly name: string;
  /** The answer of each of the two: a value, or undefined for a text that it does not accept. */
  readonly generated: (text: string) => { readonly value: unknown } | undefined;
  readonly ohm: (text: string) => { readonly value: unknown } | undefined;
  readonly seeds: readonly string[];
  /** Where texts near the seeds are seldom accepted: another generator. */
  readonly texts?: typeof textsNear;
}

const vectors = (name: string) => JSON.parse(readFileSync(join(root, `test/vectors/${name}.json`), "utf8"));

/** Every string of a vector file that is short enough to be a seed. */
function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return value.length <= 200 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}

/** The queries of the rows, and what their fixes lead to: two of three begin with stages that are right. */
function pipelines(): string[] {
  const { valid, invalid, foreign, withoutBar } = vectors("query-pipes");
  const fixed = [...foreign, ...withoutBar].map((row: { fixed: string }) => row.fixed);
  return stringsOf([valid, invalid].flat().map(({ query }) => query)).concat(fixed);
}

export function subjects(): Subject[] {
  const { valid, invalid } = vectors("query");
  const queries = stringsOf([...valid, ...invalid].map(({ query }) => query));
  const made = (name: string, generated: Subject["generated"], ohm: Subject["ohm"], seeds: string[]) => ({
    name,
    generated,
    ohm,
    seeds: [...new Set(seeds)],
  });
  const wrap = (parse: (text: string) => unknown, none: unknown) => (text: string) => {
    const value = parse(text);
    return value === none ? undefined : { value };
  };
  const routes = stringsOf(vectors("route"));
  const braces = stringsOf(vectors("template")).flatMap((text) => {
    const at = text.indexOf("{{");
    return at < 0 ? [] : [text.slice(at), ...(text.slice(at).match(/\{\{.*?\}\}/g) ?? [])];
  });
  return [
    made("query", wrap(queryParsers.Query, NO_QUERY), byOhm(loadQuery(), queryActions, "Query"), queries),
    made("route", wrap(routeParsers.route, NO_ROUTE), byOhm(loadRoute(), routeActions, "route"), routes),
    made("location", wrap(routeParsers.location, NO_ROUTE), byOhm(loadRoute(), routeActions, "location"), routes),
    made("template", wrap(templateParsers.part, NO_TEMPLATE), byOhm(loadTemplate(), templateActions, "part"), braces),
    {
      ...made(
        "pipeline",
        wrap(queryParsers.Pipeline, NO_QUERY),
        byOhm(loadQuery(), queryActions, "Pipeline"),
        pipelines(),
      ),
      texts: pipelinesNear,
    },
  ];
}

/** A small generator of random numbers whose runs can be repeated (mulberry32). */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

/** Texts near the language: seeds with parts put in, taken out and doubled, and tokens of the seeds in any order. */
export function* textsNear(seeds: readonly string[], next: (below: number) => number): Generator<string, never> {
  const tokens = [...new Set(seeds.flatMap((seed) => seed.match(/"[^"]*"|[\p{L}\d_]+|\s+|[^\p{L}\d_\s]/gu) ?? []))];
  tokens.push("\u{1f600}", "\ud800", "é", "\u0301", "\n", "\u00a0");
  const pick = <T>(list: readonly T[]) => list[next(list.length)]!;
  for (;;) {
    if (next(2) === 0) {
      let text = "";
      for (let count = 1 + next(8); count > 0; count--) text += pick(tokens);
      yield text;
    } else {
      let text = pick(seeds);
      for (let edits = 1 + next(3); edits > 0; edits--) {
        const at = next(text.length + 1);
        text = text.slice(0, at) + (next(3) === 0 ? "" : pick(tokens)) + text.slice(at + next(4));
      }
      yield text;
    }
  }
}

/** Stages of the seeds one after another, with other names in them; a third has slips as well, a third is any text near. */
function* pipelinesNear(seeds: readonly string[], next: (below: number) => number): Generator<string, never> {
  const pick = <T>(list: readonly T[]) => list[next(list.length)]!;
  const parts = seeds.map((seed) => seed.split("|"));
  const queries = [...new Set(parts.map(([query]) => query!))];
  const stages = [...new Set(parts.flatMap(([, ...rest]) => rest))];
  const right = stages.filter((stage) => queryParsers.Pipe(stage, 0, stage.length) !== NO_QUERY);
  const near = textsNear(seeds, next);
  for (;;) {
    let text = next(3) === 0 ? pick(queries) : "";
    for (let count = 1 + next(4); count > 0; count--) text += `${pick(BARS)}${pick(next(12) === 0 ? stages : right)}`;
    text = text.replace(/(?<=by |, |\(|as )[a-z]+(?![\w(])/g, (name) => (next(2) === 0 ? pick(NAMES) : name));
    yield text;
    const at = next(text.length + 1);
    yield `${text.slice(0, at)}${pick(NAMES)}${text.slice(at + next(3))}`;
    yield near.next().value;
  }
}

const BARS = ["|", " | ", "\n| ", "|\t", "| "];
const NAMES = [
  "by",
  "as",
  "asc",
  "desc",
  ...PIPE_WORDS,
  "p99",
  "p99.9(d)",
  "count()",
  "é\u0301",
  'a["b c"][0].d',
  "5m",
  "10",
  "",
  " ",
  "(",
  ",",
  "||",
  '"|"',
];

/** Runs `count` texts through both; answers how many were accepted and the texts on which the two differ. */
export function compare(subject: Subject, count: number, seed: number): { accepted: number; differ: string[] } {
  const differ: string[] = [];
  let accepted = 0;
  const texts = (subject.texts ?? textsNear)(subject.seeds, random(seed));
  for (let done = 0; done < count; done++) {
    const text = texts.next().value;
    const [expected, actual] = [subject.ohm(text), subject.generated(text)];
    if (expected !== undefined) accepted++;
    if (!isDeepStrictEqual(actual, expected)) differ.push(text);
  }
  return { accepted, differ };
}
