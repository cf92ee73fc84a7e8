import { type DiscoveredValues, seenInService, stepStart } from "../../grammar/query/index.ts";
import type { LogFacts } from "../../schema/index.ts";

/** The facts that a log has of the redirects, rewrites and stages of a tool.json. Plain data, which processes pass on. */
export interface Traffic {
  readonly source: "service" | "development";
  /** How many days of responses it is of, at most those that were asked for. */
  readonly days: number;
  /** Those that answered a request. None if the entries do not name rules. */
  readonly rules: readonly RuleTraffic[];
  readonly stages: readonly StageTraffic[];
  /** The fields of its entries, for a service. */
  readonly fields: readonly DiscoveredValues[];
  /** The address of its events in the web UI, without a query. */
  readonly page?: string;
}

export interface RuleTraffic {
  /** The pattern as it is written. */
  readonly pattern: string;
  readonly hits: number;
  /** Weeks begin on Mondays, in UTC. */
  readonly hitsThisWeek: number;
  readonly hitsLastWeek: number;
  /** How often it began to lead a client round in a circle: the entries with `rule.loop`. */
  readonly loops: number;
  /** In milliseconds since 1970, as all times here. */
  readonly lastMs: number;
}

/** The version that answered last. */
export interface StageTraffic {
  readonly stage: string;
  readonly version: string;
  readonly requests: number;
  /** Responses with a status from 500 on. */
  readonly errors: number;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/** Traffic, and when it is looked at. */
export interface TrafficNow {
  readonly traffic: Traffic;
  readonly nowMs: number;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** For how long an editor looks back. */
export const TRAFFIC_DAYS = 30;

/** One question for all rules: a row for each rule and week. */
export const RULES_QUERY =
  "exists rule.pattern | timeseries 7d count() as hits, count(rule.loop) as loops, last(timestamp) as last by rule.kind, rule.pattern";
/** Another for all stages: a row for each stage, version and status. */
export const STAGES_QUERY =
  "message = response | stats count() as requests, first(timestamp) as first, last(timestamp) as last by stage, version, status";

/** Rows of a table, each a value for each column. */
export interface TrafficRows {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** The traffic of the last `days` days, of the answers to the two queries. */
export function trafficIn(
  answers: { readonly rules: TrafficRows; readonly stages: TrafficRows; readonly fields: readonly DiscoveredValues[] },
  { days, nowMs, page }: { readonly days: number; readonly nowMs: number; readonly page: string | undefined },
): Traffic {
  const rules = new Map<string, RuleTraffic>();
  for (const row of objectsOf(answers.rules)) {
    const { time, hits, loops, last } = row;
    const pattern = row["rule.pattern"];
    // Weeks in which a rule was not hit have rows, too.
    if (typeof pattern !== "string" || typeof hits !== "number" || hits === 0) continue;
    const counts = { hits, loops: typeof loops === "number" ? loops : 0 };
    addHits(rules, pattern, { ...counts, weekMs: timeOf(time), lastMs: timeOf(last), nowMs });
  }
  const versions = new Map<string, StageTraffic>();
  let firstMs = nowMs;
  for (const { stage, version, status, requests, first, last } of objectsOf(answers.stages)) {
    if (typeof requests !== "number") continue;
    firstMs = Math.min(firstMs, timeOf(first));
    if (typeof stage !== "string" || typeof version !== "string") continue;
    const key = JSON.stringify([stage, version]);
    const before = versions.get(key);
    const errors = typeof status === "number" && status >= 500 ? requests : 0;
    versions.set(key, {
      ...{ stage, version },
      requests: (before?.requests ?? 0) + requests,
      errors: (before?.errors ?? 0) + errors,
      sinceMs: Math.min(before?.sinceMs ?? nowMs, timeOf(first)),
      lastMs: Math.max(before?.lastMs ?? 0, timeOf(last)),
    });
  }
  const stages = new Map<string, StageTraffic>();
  for (const one of versions.values()) {
    if (one.lastMs > (stages.get(one.stage)?.lastMs ?? -1)) stages.set(one.stage, one);
  }
  return {
    source: "service",
    // An app has some requests in the first hours of a period, and not at its very beginning.
    days: Math.min(days, Math.floor((nowMs - firstMs) / DAY_MS + 0.5)),
    rules: [...rules.values()],
    stages: [...stages.values()],
    fields: answers.fields,
    ...(page !== undefined && { page }),
  };
}

function* objectsOf({ columns, rows }: TrafficRows): Generator<Readonly<Record<string, unknown>>> {
  for (const row of rows) yield Object.fromEntries(columns.map(({ name }, at) => [name, row[at]]));
}

const timeOf = (value: unknown) => (typeof value === "string" ? Date.parse(value) || 0 : 0);

interface Hits {
  readonly hits: number;
  readonly loops: number;
  /** A time in the week that they are of. */
  readonly weekMs: number;
  readonly lastMs: number;
  readonly nowMs: number;
}

function addHits(rules: Map<string, RuleTraffic>, pattern: string, one: Hits): void {
  const { hits, loops, weekMs, lastMs, nowMs } = one;
  const before = rules.get(pattern) ?? { pattern, hits: 0, hitsThisWeek: 0, hitsLastWeek: 0, loops: 0, lastMs: 0 };
  const weeksAgo = (stepStart(nowMs, WEEK_MS) - stepStart(weekMs, WEEK_MS)) / WEEK_MS;
  rules.set(pattern, {
    pattern,
    hits: before.hits + hits,
    hitsThisWeek: before.hitsThisWeek + (weeksAgo <= 0 ? hits : 0),
    hitsLastWeek: before.hitsLastWeek + (weeksAgo === 1 ? hits : 0),
    loops: before.loops + loops,
    lastMs: Math.max(before.lastMs, lastMs),
  });
}

/** The rules in the lines of a development log; the first and last line may be cut off. */
export function developmentTraffic(lines: string, nowMs: number): Traffic {
  const rules = new Map<string, RuleTraffic>();
  for (const line of lines.split("\n")) {
    // Most lines are of no rule with a pattern, and not worth parsing.
    if (!line.includes('"pattern":')) continue;
    const entry = objectIn(line);
    const { pattern, loop } = entry?.fields?.rule ?? {};
    if (entry?.message !== "response" || typeof pattern !== "string") continue;
    const lastMs = timeOf(entry.timestamp);
    addHits(rules, pattern, { hits: 1, loops: loop === true ? 1 : 0, weekMs: lastMs, lastMs, nowMs });
  }
  return { source: "development", days: 0, rules: [...rules.values()], stages: [], fields: [] };
}

interface PartialEntry {
  readonly timestamp?: unknown;
  readonly message?: unknown;
  readonly fields?: { readonly rule?: { readonly pattern?: unknown; readonly loop?: unknown } };
}

function objectIn(line: string): PartialEntry | undefined {
  try {
    return JSON.parse(line) as PartialEntry;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** Made once of each traffic, as each keystroke asks for them. */
const facts = new WeakMap<Traffic, LogFacts>();
let factsCount = 0;

/** The fields of a service's events, for the checks of queries; undefined if it has told none. */
export function logFactsOf(traffic: Traffic): LogFacts | undefined {
  const { fields } = traffic;
  if (fields.length === 0) return undefined;
  const seen = facts.get(traffic) ?? { fields: seenInService(fields), key: `service ${++factsCount}` };
  facts.set(traffic, seen);
  return seen;
}

/** How often a rule was hit, in words; undefined if nothing can be said. `rule` is undefined for one that was not. */
export function hitsText(rule: RuleTraffic | undefined, { traffic, nowMs }: TrafficNow): string | undefined {
  if (rule === undefined) {
    const isKnown = traffic.source === "service" && traffic.rules.length > 0 && traffic.days > 0;
    return isKnown ? `No hit in ${counted(traffic.days, "day")}` : undefined;
  }
  const last = `last ${agoText(rule.lastMs, nowMs)}`;
  if (traffic.source === "development") return `${counted(rule.hits, "hit")} in development, ${last}`;
  if (rule.hitsThisWeek + rule.hitsLastWeek === 0) {
    return `${counted(rule.hits, "hit")} in ${counted(traffic.days, "day")}, ${last}`;
  }
  return `${counted(rule.hitsThisWeek, "hit")} this week, ${numberText(rule.hitsLastWeek)} last week, ${last}`;
}

/** How often a rule led clients in a circle, in words; undefined if it did not. */
export function loopsText(rule: RuleTraffic | undefined, { traffic }: TrafficNow): string | undefined {
  if (rule === undefined || rule.loops === 0) return undefined;
  const loops = counted(rule.loops, "loop");
  // The hits beside it are said to be of the development log.
  return traffic.source === "development" ? loops : `${loops} in ${counted(traffic.days, "day")}`;
}

/**
 * The version of a stage, how it does, and its address if it has one, in words; undefined if nothing is known of it. The address
 * may be long, and editors cut off what does not fit into a line: it comes last.
 */
export function stageText(
  stage: string,
  { traffic, nowMs }: TrafficNow,
  address: string | undefined,
): string | undefined {
  const one = traffic.stages.find((other) => other.stage === stage);
  if (one === undefined) return undefined;
  const share = (100 * one.errors) / one.requests;
  // Few errors are not none.
  const percent = one.errors === 0 ? "0" : share < 0.1 ? "less than 0.1" : share.toFixed(1).replace(/\.0$/, "");
  const place = address === undefined ? "" : `, at ${address}`;
  const requests = counted(one.requests, "request");
  return `Version ${one.version}, first seen ${agoText(one.sinceMs, nowMs)}: ${percent} % errors in ${requests}${place}`;
}

/** The queries of the events that these texts are about. */
export const queryOfRule = (pattern: string) => `rule.pattern = "${pattern.replace(/["\\*]/g, "\\$&")}"`;
export const queryOfLoops = (pattern: string) => `${queryOfRule(pattern)} and rule.loop = true`;
export const queryOfStage = (stage: string) => `message = response and stage = ${JSON.stringify(stage)}`;

/** The address of a query in the web UI, over the days that were looked at. */
export function trafficPage({ page }: Traffic, query: string): string | undefined {
  return page === undefined ? undefined : `${page}?${new URLSearchParams({ query, last: `${TRAFFIC_DAYS}d` })}`;
}

const numberText = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

export const counted = (count: number, noun: string) => `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A time before now, to one unit: `2 min ago`. */
export function agoText(timeMs: number, nowMs: number): string {
  const seconds = Math.max(0, nowMs - timeMs) / 1000;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${counted(Math.floor(seconds / 86_400), "day")} ago`;
}
