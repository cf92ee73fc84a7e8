// Asks the log of an app for the traffic of its redirects and rewrites: for editors, and for tool validate --traffic.
import type { Problem } from "../grammar/problem.ts";
import { compareRoutes, parseRoute, type Route, sameShape } from "../grammar/route/index.ts";
import { visible } from "../grammar/visible-text.ts";
import {
  agoText,
  counted,
  developmentTraffic,
  logFactsOf,
  queryOfLoops,
  RULES_QUERY,
  type RuleTraffic,
  STAGES_QUERY,
  type Traffic,
  trafficIn,
} from "../language-server/service/traffic.ts";
import { type TrafficQuestion, trafficQuestionOf } from "../language-server/service/traffic-question.ts";
import type { Directory, LogFacts } from "../schema/index.ts";
import { memberOf, type Node, type StringNode } from "../schema/json.ts";
import { rpcClient } from "../schema/rpc-client.ts";
import type { Context } from "./context.ts";
import { shellWord } from "./shell-word.ts";
import type { TeamError } from "./team/error.ts";
import { tokenForFile } from "./team/token-for-service.ts";
import { userAgent } from "./user-agent.ts";
import { withinTime } from "./within-time.ts";

const DAY_MS = 86_400_000;

/** A service may take half a minute for a query. */
const ANSWER_MS = 45_000;

/**
 * The traffic of the last `days` days, as the log service knows it: one question for all rules, one for all stages, and one for
 * the fields. Rejects if nobody is signed in at that very origin, and if it does not answer.
 */
export async function serviceTraffic(
  context: Context,
  { service, project }: TrafficQuestion,
  { days, signal }: { readonly days: number; readonly signal: AbortSignal },
): Promise<Traffic> {
  const { token, team } = tokenForFile(context, service);
  const client = rpcClient({ url: service, token, userAgent: userAgent() });
  const nowMs = context.io.nowMs();
  const period = { start: new Date(nowMs - days * DAY_MS).toISOString(), stop: new Date(nowMs).toISOString() };
  const input = { project_id: project, ...period };
  const noService = () => new Error(`${service} does not answer as a log service`);
  const aggregate = async (query: string, stop: AbortSignal) => {
    const answer = await client.call("aggregate", { ...input, query }, { signal: stop });
    if (!isTable(answer)) throw noService();
    // A part says nothing about the rest.
    if (answer.truncated) throw new Error("there are more rules than the log service answers");
    return answer;
  };
  const [rules, stages, discovered] = await withinTime(
    (stop) =>
      Promise.all([
        aggregate(RULES_QUERY, stop),
        aggregate(STAGES_QUERY, stop),
        client.call("get_discovered_fields", input, { signal: stop }),
      ]),
    { limitMs: ANSWER_MS, signal, clock: context.io.clock },
  );
  // As logservice/address/page.ts has it; a test compares them.
  const path = `/t/${encodeURIComponent(team ?? "")}/p/${encodeURIComponent(project)}/events`;
  const page = team === undefined ? undefined : `${new URL(service).origin}${path}`;
  if (!areFields(discovered?.fields)) throw noService();
  return trafficIn({ rules, stages, fields: discovered.fields }, { days, nowMs, page });
}

/** Whatever is at an address that a file names may answer anything. */
function isTable(answer: { readonly columns: readonly unknown[]; readonly rows: readonly unknown[] } | null): boolean {
  const { columns, rows } = answer ?? {};
  return (
    Array.isArray(columns) &&
    columns.every((column) => typeof column?.name === "string") &&
    Array.isArray(rows) &&
    rows.every(Array.isArray)
  );
}

function areFields(fields: unknown): boolean {
  return (
    Array.isArray(fields) &&
    fields.every(
      (one) => typeof one?.name === "string" && typeof one.type === "string" && typeof one.count === "number",
    )
  );
}

interface WarningsRequest {
  readonly root: Node | undefined;
  readonly directory: Directory | undefined;
  readonly days: number;
  /** The warnings of queries by the fields that a log service has; nobody asks for those of other logs. */
  readonly ofFields?: (log: LogFacts) => readonly Problem[];
}

/** How much of the end of a development log is read. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

/**
 * Warnings about the redirects and rewrites of a tool.json by their traffic: those that no request hit, and those that were hit
 * and can never be reached now; and about its queries by the fields of the log service. If the traffic is not known, says so on
 * stderr and warns of nothing.
 */
export async function trafficWarnings(
  context: Context,
  { root, directory, days, ofFields }: WarningsRequest,
): Promise<readonly Problem[]> {
  const keys = ruleKeys(root);
  const question = trafficQuestionOf(root);
  // The fields of a development log are known without being asked for.
  const asksFields = ofFields !== undefined && question !== undefined && hasQueries(root);
  if (keys.length === 0 && !asksFields) return [];
  if (question === undefined) {
    const text = directory?.readEnd?.(".tool/development.ndjson", MAX_LOG_BYTES);
    if (text === undefined) {
      const hint = "name a log service in tool.json as logs.service, or run tool start: its log is read then";
      return context.misuse("there is no log that could know the traffic", hint);
    }
    await context.say("reading .tool/development.ndjson, as tool.json names no log service");
    const nowMs = context.io.nowMs();
    const inPeriod = ({ lastMs }: RuleTraffic) => lastMs >= nowMs - days * DAY_MS;
    const traffic = developmentTraffic(text, nowMs);
    return warnings(keys, { ...traffic, rules: traffic.rules.filter(inPeriod) }, nowMs, "in the development log");
  }
  let traffic: Traffic;
  try {
    traffic = await serviceTraffic(context, question, { days, signal: new AbortController().signal });
  } catch (error) {
    const { message, hint } = error as TeamError;
    // A service may answer anything.
    await context.say(
      `the traffic is not known: ${visible(message)}${hint === undefined ? "" : `\n  ${hint.split("\n").map(visible).join("\n  ")}`}`,
    );
    return [];
  }
  const log = asksFields ? logFactsOf(traffic) : undefined;
  const ofQueries = log === undefined ? [] : ofFields!(log);
  if (keys.length === 0) return ofQueries;
  const reason = reasonOfNoWarnings(traffic, question.project);
  if (reason !== undefined) {
    await context.say(`the traffic is not known: ${reason}`);
    return ofQueries;
  }
  return [...warnings(keys, traffic, context.io.nowMs(), `in ${counted(traffic.days, "day")}`), ...ofQueries];
}

function hasQueries(root: Node | undefined): boolean {
  const logs = memberOf(root, "logs")?.value;
  return ["queries", "alerts"].some((section) => memberOf(logs, section) !== undefined);
}

/** Why nothing can be said of rules that were not hit; undefined if it can. */
function reasonOfNoWarnings({ rules, days }: Traffic, project: string): string | undefined {
  if (rules.length === 0) return `no entry of project ${project} names a rule with a pattern`;
  return days === 0 ? `the entries of project ${project} are not a day old yet` : undefined;
}

/** The keys of the redirects and rewrites; of one that is written twice, the last, which counts. */
function ruleKeys(root: Node | undefined): readonly StringNode[] {
  const redirects = memberOf(root, "redirects")?.value;
  if (redirects?.type !== "object") return [];
  return [...new Map(redirects.members.map(({ key }) => [key.value, key])).values()];
}

function warnings(keys: readonly StringNode[], { rules }: Traffic, nowMs: number, period: string): Problem[] {
  const hits = new Map(rules.map((rule) => [rule.pattern, rule]));
  const winners = winnersOf(keys);
  return keys.flatMap((key): Problem[] => {
    const rule = hits.get(key.value);
    const winner = winners.get(key);
    const { span } = key;
    if (rule === undefined) {
      const hint = "remove it if nobody needs it any more";
      return [
        { code: "config/no-hit", severity: "warning", message: `no request hit this rule ${period}`, hint, span },
      ];
    }
    if (winner === undefined) return loopWarnings(rule, { key, period });
    const message = `this rule had ${counted(rule.hits, "hit")} ${period}, the last ${agoText(rule.lastMs, nowMs)}, and is never reached now`;
    const hint = `${JSON.stringify(winner.value)} matches the same paths and wins`;
    return [{ code: "config/shadowed-hit", severity: "warning", message, hint, span }];
  });
}

function loopWarnings(
  { pattern, loops }: RuleTraffic,
  { key: { span }, period }: { readonly key: StringNode; readonly period: string },
): Problem[] {
  if (loops === 0) return [];
  const message = `this rule led clients back to where they came from ${counted(loops, "time")} ${period}`;
  const hint = `look for what sends them back: tool logs ${shellWord(queryOfLoops(pattern))}`;
  return [{ code: "config/loop-hit", severity: "warning", message, hint, span }];
}

/** For each rule that is never reached, the one that matches the same paths and wins. */
function winnersOf(keys: readonly StringNode[]): Map<StringNode, StringNode> {
  const routes = keys.flatMap((key): { key: StringNode; route: Route }[] => {
    const route = parseRoute(key.value);
    return route.ok ? [{ key, route: route.value }] : [];
  });
  const winners = new Map<StringNode, StringNode>();
  const sorted = routes.sort((a, b) => compareRoutes(a.route, b.route));
  for (const [i, { key, route }] of sorted.entries()) {
    const before = sorted[i - 1];
    if (before !== undefined && sameShape(before.route, route)) winners.set(key, winners.get(before.key) ?? before.key);
  }
  return winners;
}
