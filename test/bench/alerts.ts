// 1,000 alerts of a minute's interval over 100 projects, while events come in and people search: how long their evaluation
// takes, spread by their jitter as in a service and all at once, and what the searches wait for. The real store and records, in one process, as in a service.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Evaluator } from "../../logservice/alerts/evaluator.ts";
import { JITTER_MS, LATE_MS } from "../../logservice/alerts/slots.ts";
import { addAlert } from "../../logservice/alerts/stored-alerts.ts";
import { openEventsStore } from "../../logservice/events/open.ts";
import { FIRST_TEAM } from "../../logservice/records/accounts-migration.ts";
import { addNotification } from "../../logservice/records/notifications.ts";
import { openRecords } from "../../logservice/records/open.ts";
import { addProject } from "../../logservice/records/projects.ts";
import { clockAt } from "../support/clock-at.ts";

const PROJECTS = Number(process.env.PROJECTS ?? 100);
const ALERTS = Number(process.env.ALERTS ?? 1_000);
const EVENTS = Number(process.env.EVENTS ?? 500_000);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
/** Events a second that come in meanwhile, in batches of a hundred. */
const RATE = Number(process.env.RATE ?? 1_000);
const MINUTE_MS = 60_000;
const QUERIES = [
  "error",
  "status >= 500",
  "error and path = /a3",
  "warn | count by path",
  "| stats p99(duration) by path",
];

const directory = mkdtempSync(join(tmpdir(), "bench-alerts-"));
const clock = { nowMs: Date.parse("2026-03-01T12:00:00Z") };
const nowMs = () => clock.nowMs;
const records = await openRecords(directory);
const events = await openEventsStore({ directory: join(directory, "events"), nowMs });
const failures: string[] = [];
const failed = (message: string, error: unknown) => failures.push(`${message}: ${error}`);
const evaluator = new Evaluator({ records, events, clock: clockAt(nowMs), deliveriesAdded() {}, failed });

let made = 0;
const eventAt = (timeMs: number) => {
  const i = made++;
  const level = i % 50 === 0 ? "error" : i % 11 === 0 ? "warn" : "info";
  const fields = { path: `/a${i % 7}`, status: i % 50 === 0 ? 500 : 200, duration: (i * 37) % 900 };
  return { timestamp: new Date(timeMs).toISOString(), level, message: `request ${i} was answered`, fields };
};

const now = new Date(clock.nowMs).toISOString();
const keys: string[] = [];
const inTransaction = (run: (db: typeof records.db) => Promise<void>) => records.db.transaction().execute(run);
await inTransaction(async (db) => {
  for (let i = 0; i < PROJECTS; i++) {
    const { id: project_id, events_key } = await addProject(db, FIRST_TEAM, { name: `p${i}` }, now);
    keys.push(events_key);
    const target = { project_id, type: "email" as const, name: "n", email_addresses: ["a@b.c"] };
    const notification_id = await addNotification({ ...records, db }, FIRST_TEAM, target, now);
    for (let j = 0; j < ALERTS / PROJECTS; j++) {
      const query = QUERIES[j % QUERIES.length]!;
      const alert = { project_id, notification_id, name: `a${j}`, query, severity: "error", operator: ">" } as const;
      // Some of those with the same query never trigger, and share the reading of others that may.
      await addAlert(db, FIRST_TEAM, { ...alert, threshold: j < QUERIES.length ? 1_000 : 5, interval: 1 }, now);
    }
  }
});
for (const key of keys) {
  const batch = Array.from({ length: EVENTS / PROJECTS }, (_, i) =>
    eventAt(clock.nowMs - ((i * 60) / (EVENTS / PROJECTS)) * MINUTE_MS),
  );
  await events.append(key, batch);
}
await events.flush();

const signal = new AbortController().signal;
/** The newest events, as the page of a project asks for them. */
async function search(key: string): Promise<number> {
  const began = performance.now();
  const range = { project: key, startMs: clock.nowMs - 60 * MINUTE_MS, stopMs: clock.nowMs, query: undefined, signal };
  await events.search({ ...range, limit: 100, order: "descending" });
  return performance.now() - began;
}

interface Measured {
  readonly seconds: number[];
  readonly searches: number[];
}

/** Evaluates, with searches until that has ended; `evaluate` gives the time that it took. */
async function measure({ seconds, searches }: Measured, evaluate: () => Promise<number>): Promise<void> {
  let isDone = false;
  const searching = searchesUntil(() => isDone);
  seconds.push((await evaluate()) / 1_000);
  isDone = true;
  searches.push(...(await searching));
}

let isOver = false;
async function ingest(): Promise<void> {
  for (let at = 0; !isOver; at++) {
    const began = performance.now();
    await events.append(
      keys[at % keys.length]!,
      Array.from({ length: 100 }, () => eventAt(clock.nowMs)),
    );
    await sleep(Math.max(0, 100_000 / RATE - (performance.now() - began)));
  }
}
const ingesting = ingest();

async function searchesUntil(isDone: () => boolean): Promise<number[]> {
  const found: number[] = [];
  while (!isDone()) {
    found.push(await search(keys[found.length % keys.length]!));
    await sleep(5);
  }
  return found;
}

await evaluator.pass();
const alone: number[] = [];
const spread: Measured = { seconds: [], searches: [] };
const atOnce: Measured = { seconds: [], searches: [] };
for (let round = 0; round < ROUNDS; round++) {
  const stopMs = performance.now() + 10_000;
  alone.push(...(await searchesUntil(() => performance.now() > stopMs)));
  const dueMs = (Math.floor(clock.nowMs / MINUTE_MS) + 1) * MINUTE_MS + LATE_MS;
  await measure(spread, async () => {
    let busyMs = 0;
    for (let waitedMs = 0; waitedMs <= JITTER_MS; waitedMs += 1_000) {
      clock.nowMs = dueMs + waitedMs;
      const began = performance.now();
      await evaluator.pass();
      busyMs += performance.now() - began;
      await sleep(Math.max(0, began + 1_000 - performance.now()));
    }
    return busyMs;
  });
  clock.nowMs = dueMs + MINUTE_MS + JITTER_MS;
  await measure(atOnce, async () => {
    const began = performance.now();
    await evaluator.pass();
    return performance.now() - began;
  });
}
isOver = true;
await ingesting;
const metrics = evaluator.metrics();
await evaluator.close();
await events.close();
await records.close();
rmSync(directory, { recursive: true, force: true });

const at = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;
const shares = (values: readonly number[]) =>
  `${[0.5, 0.95, 0.99].map((share) => at(values, share).toFixed(1)).join(", ")} (${values.length})`;
const { alerts_evaluated_total, alerts_evaluations_failed_total, alerts_told_total } = metrics;
const rows = [
  [`what`, `${ALERTS} alerts, ${PROJECTS} projects, ${EVENTS} events, ${RATE} events/s meanwhile`],
  ["---", "---"],
  ["evaluating and writing, spread over 30 s, s", at(spread.seconds, 0.5).toFixed(1)],
  ["the same at once, s", at(atOnce.seconds, 0.5).toFixed(1)],
  ["a search without, ms p50, p95, p99", shares(alone)],
  ["a search while they are spread", shares(spread.searches)],
  ["a search while they are at once", shares(atOnce.searches)],
  ["evaluated, failed, told", [alerts_evaluated_total, alerts_evaluations_failed_total, alerts_told_total].join(", ")],
];
for (const row of rows) console.log(`| ${row.join(" | ")} |`);
if (failures.length > 0) throw new Error(failures[0]);
