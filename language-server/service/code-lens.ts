import type { CodeLens, Command } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { compareRoutes, compileRoutes, parseRoute, type Route, sameShape } from "../../grammar/route/index.ts";
import { memberOf, type Node } from "../../schema/json.ts";
import type { SectionEntry, ToolDocument } from "./document.ts";
import { queryOfFile } from "./query-file.ts";
import { sampleOf } from "./routes.ts";
import { SHOW_TRAFFIC } from "./show-traffic.ts";
import {
  hitsText,
  loopsText,
  queryOfLoops,
  queryOfRule,
  queryOfStage,
  stageText,
  type TrafficNow,
  trafficPage,
} from "./traffic.ts";

/** The commands of a client; each takes one object. */
export const CLIENT_COMMANDS = {
  start: "tool.start",
  deploy: "tool.deploy",
  open: "tool.open",
  logs: "tool.logs",
  run: "tool.run",
} as const;

/** The address of each stage by its name. */
export type StageUrls = ReadonlyMap<string, string>;
const NO_URLS: StageUrls = new Map();

/**
 * The lenses above lines. Commands: `start`, or `deploy` and `open`, and `logs` of a stage; `run` of a hook; `logs` of
 * a saved query and of a query file. And the certain facts of a redirect or rewrite: which rules win over it, or that it is never reached.
 *
 * `seen` is the traffic of rules and stages: how often a rule was hit, and how a stage does. Such a lens shows the events, in the
 * web UI of the service or by `logs`. `urls` are the addresses of stages as the AWS account knows them.
 *
 * Arguments are `{ uri }` of the document and, by command, `stage`, `hook` or `query` (as `tool logs` takes it).
 */
export function codeLens(document: ToolDocument, seen?: TrafficNow, urls: StageUrls = NO_URLS): CodeLens[] {
  const { uri } = document;
  const lenses: CodeLens[] = [];
  const add = (span: Span, title: string, command: string, args?: object) => {
    const action: Command = { title, command, ...(args && { arguments: [{ uri, ...args }] }) };
    lenses.push({ range: document.rangeOf(span), command: action });
  };
  const { start, deploy, open, logs, run } = CLIENT_COMMANDS;
  const addHooks = (hooks: Node | undefined, stage?: string) => {
    for (const { key, value } of hooks?.type === "object" ? hooks.members : []) {
      const commands = value?.type === "array" ? value.items.length : value?.type === "string" ? 1 : 0;
      if (!HOOKS.has(key.value) || commands === 0) continue;
      const title = `Run ${key.value}${stage === undefined ? "" : ` of ${stage}`}`;
      add(key.span, title, run, { hook: key.value, ...(stage !== undefined && { stage }) });
    }
  };

  const stages = document.stages();
  const name = document.section("name");
  // An app without settings of its own for development is started from its first line.
  if (name !== undefined && !stages.some(({ key }) => key.value === "development")) {
    add(name.key.span, "Start", start, {});
  }
  addHooks(document.section("hooks")?.value);
  for (const { key, value } of stages) {
    if (key.value === "development") add(key.span, "Start", start, {});
    else {
      add(key.span, `Deploy ${key.value}`, deploy, { stage: key.value });
      add(key.span, `Open ${key.value}`, open, { stage: key.value });
    }
    add(key.span, `Logs of ${key.value}`, logs, { stage: key.value, query: `stage = ${JSON.stringify(key.value)}` });
    addHooks(memberOf(value, "hooks")?.value, key.value);
  }
  if (document.kind === "query") {
    const start = document.query.search(/\S/);
    if (start >= 0) add({ start, end: start + 1 }, "Logs", logs, { query: queryOfFile(document.text) });
  }
  for (const { key } of document.queries()) add(key.span, "Logs", logs, { query: `@${key.value}` });
  // An empty command: a client shows the words and does nothing.
  for (const { entry, fact } of routeFacts(document.routes())) add(entry.key.span, fact, "");
  for (const { key, text, query } of seen === undefined ? [] : trafficLenses(document, seen, urls)) {
    const page = trafficPage(seen!.traffic, query);
    if (page !== undefined) add(key.span, text, SHOW_TRAFFIC, { page });
    else if (seen!.traffic.source === "development") add(key.span, text, logs, { query });
    else add(key.span, text, "");
  }
  return lenses.sort(
    (a, b) => a.range.start.line - b.range.start.line || a.range.start.character - b.range.start.character,
  );
}

/** The words of traffic about each rule and stage, and the query of the events that it is of. */
function trafficLenses(document: ToolDocument, seen: TrafficNow, urls: StageUrls) {
  const byPattern = new Map(seen.traffic.rules.map((rule) => [rule.pattern, rule]));
  const rules = document
    .routes()
    .slice(0, MAX_RULES)
    .flatMap(({ key }) => {
      const rule = byPattern.get(key.value);
      const lenses = [
        { key, text: hitsText(rule, seen), query: queryOfRule(key.value) },
        { key, text: loopsText(rule, seen), query: queryOfLoops(key.value) },
      ];
      return lenses.flatMap(({ text, ...lens }) => (text === undefined ? [] : [{ ...lens, text }]));
    });
  const stages = document.stages().flatMap(({ key, value }) => {
    const text = stageText(key.value, seen, addressOf(value) ?? urls.get(key.value));
    return text === undefined ? [] : [{ key, text, query: queryOfStage(key.value) }];
  });
  return [...rules, ...stages];
}

/** The address of a stage with a domain of its own. */
function addressOf(stage: Node | undefined): string | undefined {
  const domain = memberOf(stage, "domain")?.value;
  const path = memberOf(stage, "path")?.value;
  if (domain?.type !== "string" || domain.value === "") return undefined;
  return `https://${domain.value}${path?.type === "string" ? `/${path.value.replace(/^\/+/, "")}` : ""}`;
}

const HOOKS: ReadonlySet<string> = new Set(["prebuild", "build", "postbuild", "predeploy", "postdeploy", "clean"]);

// Facts compare rules with one another; hand-written files have far fewer.
const MAX_RULES = 2000;

// This many names fit on the line of a lens.
const MAX_NAMES = 3;

function routeFacts(entries: readonly SectionEntry[]): { entry: SectionEntry; fact: string }[] {
  if (entries.length > MAX_RULES) return [];
  const facts: { entry: SectionEntry; fact: string }[] = [];
  // If a key is written twice, the last one counts.
  const last = new Map(entries.map((entry) => [entry.key.value, entry]));
  const rules: { entry: SectionEntry; route: Route }[] = [];
  for (const entry of entries) {
    const route = parseRoute(entry.key.value);
    if (!route.ok || entry.value?.type !== "object") continue;
    if (last.get(entry.key.value) !== entry) {
      facts.push({ entry, fact: "Never reached: the same pattern follows, which counts" });
    } else rules.push({ entry, route: route.value });
  }

  const sorted = [...rules].sort((a, b) => compareRoutes(a.route, b.route));
  const winners = sorted.filter(({ route, entry }, i) => {
    const before = sorted[i - 1];
    if (before === undefined || !sameShape(before.route, route)) return true;
    facts.push({ entry, fact: `Never reached: ${before.entry.key.value} matches the same paths` });
    return false;
  });

  // A path that one pattern was made for, and that another matches too, is one that the more specific takes away.
  const table = compileRoutes(
    winners.map((rule) => ({ route: rule.route, value: rule })),
    { trailingSlash: "optional" },
  );
  const above = new Map<SectionEntry, { count: number; names: string[] }>();
  for (const rule of winners) {
    const path = sampleOf(rule.route);
    const matches = path === undefined ? [] : table.all(path);
    const own = matches.findIndex(({ value }) => value === rule);
    for (const { value } of own < 0 ? [] : matches.slice(own + 1)) {
      const winning = above.get(value.entry) ?? { count: 0, names: [] };
      above.set(value.entry, winning);
      winning.count++;
      if (winning.names.length < MAX_NAMES) winning.names.push(rule.entry.key.value);
    }
  }
  for (const [entry, { count, names }] of above) {
    const list = count <= MAX_NAMES ? names : [...names, "\u2026"];
    const what = count === 1 ? "1 more specific route wins" : `${count} more specific routes win`;
    facts.push({ entry, fact: `${what}: ${list.join(", ")}` });
  }
  return facts;
}
