// Rounds of each question, in turns with the rivals, and reads beside ingest.
import { isDeepStrictEqual } from "node:util";
import type { Ask, Question } from "./questions.ts";
import type { Rival, RivalName } from "./rivals.ts";
import type { BenchService } from "./service.ts";

/** Milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

export interface Comparison {
  readonly what: string;
  readonly goalMs: number | undefined;
  readonly ours: Spread;
  readonly rivals: Readonly<Partial<Record<RivalName, Spread>>>;
}

/** A rival's scan of a second or more is not waited for as often. */
const SLOW_MS = 1_000;
const SLOW_ROUNDS = 3;

/** Asks one question `rounds` times. Throws where the answers differ. */
export async function askInRounds(
  service: BenchService,
  rivals: readonly Rival[],
  question: Question,
  rounds: number,
): Promise<Comparison> {
  const { what, goalMs, ours, sql, rows } = question;
  const times: number[] = [];
  const rivalTimes = new Map<RivalName, number[]>();
  for (let round = 0; round < rounds; round++) {
    const { ms, answer } = await ask(service, ours);
    times.push(ms);
    if (question.expected !== undefined) compare(what, answer, "the generator", question.expected);
    for (const rival of sql === undefined ? [] : rivals) {
      const rivalMs = rivalTimes.get(rival.name) ?? [];
      rivalTimes.set(rival.name, rivalMs);
      if (round >= SLOW_ROUNDS && spreadOf(rivalMs).p50 > SLOW_MS) continue;
      const result = await rival.ask(sql!(rival.name));
      rivalMs.push(result.ms);
      compare(what, answer, rival.name, rows!(result.rows));
    }
  }
  const entries = [...rivalTimes].map(([name, values]) => [name, spreadOf(values)]);
  return { what, goalMs, ours: spreadOf(times), rivals: Object.fromEntries(entries) };
}

/** Asks these in turn, one after the other, until `isOver` says so. */
export async function askUntil(service: BenchService, page: readonly Ask[], isOver: () => boolean): Promise<Spread> {
  const times: number[] = [];
  for (let at = 0; !isOver(); at++) times.push((await ask(service, page[at % page.length]!)).ms);
  return spreadOf(times);
}

async function ask(service: BenchService, { operation, input, answer }: Ask) {
  const { ms, output } = await service.ask(operation, input as never);
  return { ms, answer: answer(output as never) };
}

function compare(what: string, ours: unknown, name: string, theirs: unknown): void {
  if (isDeepStrictEqual(ours, theirs)) return;
  throw new Error(`${what}: ours ${JSON.stringify(ours)}, ${name} ${JSON.stringify(theirs)}`);
}

function spreadOf(times: readonly number[]): Spread {
  const sorted = [...times].sort((a, b) => a - b);
  const quantile = (q: number) => sorted[Math.floor(q * (sorted.length - 1))] ?? Number.NaN;
  return { p50: quantile(0.5), p99: quantile(0.99), least: quantile(0), most: quantile(1), count: sorted.length };
}
