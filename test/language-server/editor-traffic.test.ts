// The traffic of rules, stages and fields, as a log knows it: asked late and once, by a credential of that very origin, and shown as lenses and
// as warnings of tool validate.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import t, { type Test } from "tap";
import type { CodeLens } from "vscode-languageserver-types";
import type { Context } from "../../cli/context.ts";
import { serviceTraffic, trafficWarnings } from "../../cli/rule-traffic.ts";
import type { Entry } from "../../grammar/entry.ts";
import { describe } from "../../grammar/problem.ts";
import { compilePredicate, PipesRun, parsePipeline } from "../../grammar/query/index.ts";
import { codeLens } from "../../language-server/service/code-lens.ts";
import { editingMethods } from "../../language-server/service/editing-methods.ts";
import {
  type CloudQuestion,
  DEFAULT_SETTINGS,
  diagnose,
  type EditorSettings,
  type Project,
  readSettings,
  type Traffic,
} from "../../language-server/service/index.ts";
import {
  agoText,
  developmentTraffic,
  RULES_QUERY,
  STAGES_QUERY,
  type TrafficRows,
  trafficIn,
} from "../../language-server/service/traffic.ts";
import { trafficQuestionOf } from "../../language-server/service/traffic-question.ts";
import { TrafficFacts } from "../../language-server/traffic-facts.ts";
import { pathOf } from "../../logservice/address/page.ts";
import { parseJson } from "../../schema/json.ts";
import { tool } from "../support/cli.ts";
import { CLIENT, documentOf, FILES, projectOf } from "../support/editor.ts";
import { startLsp } from "../support/lsp-client.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

const DAY = 86_400_000;
/** A Thursday: its week began on the 23rd. */
const NOW = Date.parse("2026-11-26T12:00:00Z");
const PAGE = "https://logs.example.com/t/acme/p/shop/events";

interface Response {
  readonly ago: number;
  readonly pattern?: string;
  readonly loop?: true;
  readonly status?: number;
  readonly stage?: string;
  readonly version?: string;
}

const entryOf = ({ ago, pattern, loop, status = 301, stage = "production", version = "7" }: Response): Entry => ({
  timestamp: new Date(NOW - ago).toISOString(),
  level: "info",
  message: "response",
  fields: {
    status,
    stage,
    version,
    ...(pattern !== undefined && { rule: { kind: "redirect", pattern, ...(loop && { loop }) } }),
  },
});

/** The table that the stages of a query give of the entries, as a log service answers it. */
function rowsOf(query: string, entries: readonly Entry[]): TrafficRows {
  const parsed = parsePipeline(query);
  if (!parsed.ok) throw new Error(query);
  const range = { fromMs: NOW - 30 * DAY, toMs: NOW };
  const run = new PipesRun(parsed.value, { nowMs: NOW, range });
  const selects = compilePredicate(parsed.value.query, { nowMs: NOW });
  for (const entry of entries) if (selects(entry)) run.push(entry);
  const result = run.result();
  if (result.kind !== "table") throw new Error("no table");
  return result;
}

const RESPONSES: readonly Response[] = [
  { ago: 29.9 * DAY, version: "5", status: 200 },
  { ago: 20 * DAY, pattern: "/rare/*", version: "5" },
  { ago: 9 * DAY, pattern: "/blog/*", version: "6" },
  { ago: 3 * DAY, pattern: "/blog/*" },
  { ago: 3 * DAY, status: 500 },
  { ago: 2 * 60_000, pattern: "/blog/*" },
  { ago: 60_000, stage: "staging", version: "8", status: 200 },
];

function trafficOf(responses: readonly Response[] = RESPONSES): Traffic {
  const entries = responses.map(entryOf);
  const answers = { rules: rowsOf(RULES_QUERY, entries), stages: rowsOf(STAGES_QUERY, entries), fields: [] };
  return trafficIn(answers, { days: 30, nowMs: NOW, page: PAGE });
}

const CONFIG = `{
  "name": "shop",
  "redirects": {
    "/blog/*": { "location": "/news/:splat", "status": 301 },
    "/rare/*": { "location": "/common", "status": 301 },
    "/dead": { "location": "/", "status": 301 }
  },
  "stages": { "production": { "domain": "example.com" }, "beta": {} }
}`;

/** The lenses that traffic adds, each as its line, words and command. */
function lensesOf(text: string, traffic: Traffic, nowMs = NOW) {
  const document = documentOf(text);
  const titles = new Set(codeLens(document).map(({ command }) => command!.title));
  return codeLens(document, { traffic, nowMs })
    .filter(({ command }) => !titles.has(command!.title))
    .map(
      ({ range, command }) => [range.start.line, command!.title, command!.command, command!.arguments?.[0]] as const,
    );
}

t.test("the traffic of rules and stages, above their lines", async (t) => {
  const link = (query: string) => ({
    uri: documentOf(CONFIG).uri,
    page: `${PAGE}?${new URLSearchParams({ query, last: "30d" })}`,
  });
  t.strictSame(lensesOf(CONFIG, trafficOf()), [
    [3, "2 hits this week, 1 last week, last 2 min ago", "tool.showTraffic", link('rule.pattern = "/blog/\\*"')],
    [4, "1 hit in 30 days, last 20 days ago", "tool.showTraffic", link('rule.pattern = "/rare/\\*"')],
    [5, "No hit in 30 days", "tool.showTraffic", link('rule.pattern = "/dead"')],
    [
      7,
      "Version 7, first seen 3 days ago: 33.3 % errors in 3 requests, at https://example.com",
      "tool.showTraffic",
      link('message = response and stage = "production"'),
    ],
  ]);
  t.strictSame(
    lensesOf(CONFIG, trafficOf(RESPONSES.map((one) => ({ ...one, ago: one.ago / 10 }))))[2]?.[1],
    "No hit in 3 days",
    "no more than the log knows",
  );
  const withoutRules = trafficOf(RESPONSES.filter(({ pattern }) => pattern === undefined));
  t.strictSame(
    lensesOf(CONFIG, withoutRules).map(([line]) => line),
    [7],
    "the entries may not name rules at all",
  );
  const { page, ...withoutPage } = trafficOf();
  t.strictSame(lensesOf(CONFIG, withoutPage)[0]?.[2], "", "the team is not known: words alone");
});

t.test("loops, in a lens of their own", async (t) => {
  const responses: readonly Response[] = [
    ...RESPONSES,
    { ago: 12 * DAY, pattern: "/rare/*", loop: true },
    { ago: DAY, pattern: "/blog/*", loop: true },
    { ago: 60_000, pattern: "/blog/*", loop: true },
    { ago: 120_000, pattern: "/blog/*" },
  ];
  const page = (pattern: string) =>
    `${PAGE}?${new URLSearchParams({ query: `rule.pattern = "${pattern}" and rule.loop = true`, last: "30d" })}`;
  const uri = documentOf(CONFIG).uri;
  const ofLoops = (traffic: Traffic) => lensesOf(CONFIG, traffic).filter(([, title]) => title.includes("loop"));
  t.strictSame(ofLoops(trafficOf(responses)), [
    [3, "2 loops in 30 days", "tool.showTraffic", { uri, page: page("/blog/\\*") }],
    [4, "1 loop in 30 days", "tool.showTraffic", { uri, page: page("/rare/\\*") }],
  ]);
  const lines = responses.map((one) => JSON.stringify(entryOf(one))).join("\n");
  t.strictSame(
    ofLoops(developmentTraffic(lines, NOW)).map(([line, title]) => [line, title]),
    [
      [3, "2 loops"],
      [4, "1 loop"],
    ],
  );
});

t.test("the traffic of a development log", async (t) => {
  const lines = RESPONSES.map((one) => JSON.stringify(entryOf({ ...one, stage: "development" })));
  const request = JSON.stringify({ ...entryOf({ ago: 0, pattern: "/dead" }), message: "request" });
  const traffic = developmentTraffic(`off","pattern":"/dead"}}}\n${lines.join("\n")}\n${request}\n{"pattern":`, NOW);
  const uri = documentOf(CONFIG).uri;
  t.strictSame(lensesOf(CONFIG, traffic), [
    [3, "3 hits in development, last 2 min ago", "tool.logs", { uri, query: 'rule.pattern = "/blog/\\*"' }],
    [4, "1 hit in development, last 20 days ago", "tool.logs", { uri, query: 'rule.pattern = "/rare/\\*"' }],
  ]);
});

t.test("how long ago, and which service", (t) => {
  const rows = [
    [0, "just now"],
    [-5_000, "just now"],
    [59_999, "just now"],
    [60_000, "1 min ago"],
    [3_600_000, "1 h ago"],
    [DAY, "1 day ago"],
    [1_500 * DAY, "1,500 days ago"],
  ] as const;
  for (const [ago, text] of rows) t.equal(agoText(NOW - ago, NOW), text);
  const question = (logs: object, name = "My shop") =>
    trafficQuestionOf(parseJson(JSON.stringify({ name, logs })).root);
  const service = "https://logs.example.com";
  t.strictSame(question({ service }), { service, project: "my_shop" });
  t.strictSame(question({ service: `${service}/x?y`, project: "eu" }), { service, project: "eu" });
  t.strictSame(question({ service: "http://127.0.0.1:5000" })?.service, "http://127.0.0.1:5000");
  for (const wrong of ["http://logs.example.com", "ftp://x", "logs.example.com", "", "file:///etc"])
    t.equal(question({ service: wrong }), undefined, wrong);
  t.equal(question({}), undefined);
  t.equal(readSettings({ traffic: { source: "service" } }).traffic, "service");
  t.equal(readSettings({ traffic: { source: true } }).traffic, "development");
  t.end();
});

t.test("a stage's lens has its address, of its domain or as the account knows it", (t) => {
  const URL = "https://abc123.execute-api.eu-west-1.amazonaws.com/beta/";
  const questions: CloudQuestion[] = [];
  const lenses = ({
    traffic = trafficOf([...RESPONSES, { ago: 60_000, stage: "beta", version: "9", status: 200 }]),
    settings = { ...DEFAULT_SETTINGS, traffic: "service", awsNames: true },
  }: {
    traffic?: Traffic;
    settings?: EditorSettings;
  } = {}) => {
    const project: Project = {
      ...projectOf(FILES, () => documentOf(CONFIG)),
      traffic: () => ({ traffic, nowMs: NOW }),
      cloudNames: (question) => {
        questions.push(question);
        return {
          names: [
            { name: "beta", url: URL },
            { name: "production", url: "https://other/" },
          ],
          isPending: false,
        };
      },
    };
    const client = { ...CLIENT, settings };
    const { answer } = editingMethods().find(({ method }) => method === "textDocument/codeLens")!;
    const all = answer({ document: documentOf(CONFIG), project, client, params: {} } as never) as CodeLens[];
    return all.map(({ command }) => command!.title).filter((title) => title.startsWith("Version"));
  };
  const words = "first seen 3 days ago: 33.3 % errors in 3 requests";
  const [production, beta] = lenses();
  t.equal(production, `Version 7, ${words}, at https://example.com`, "what tool.json says comes first");
  t.equal(beta, `Version 9, first seen 1 min ago: 0 % errors in 1 request, at ${URL}`);
  t.match(questions.splice(0), [{ kind: "stages", app: "shop" }], "one question for all stages");
  t.equal(
    lenses({ settings: { ...DEFAULT_SETTINGS, traffic: "service" } })[1],
    "Version 9, first seen 1 min ago: 0 % errors in 1 request",
  );
  t.same(lenses({ traffic: { ...trafficOf(), stages: [] } }), []);
  t.same(questions, [], "the account is asked with consent only, and if there is a stage to show it at");
  t.end();
});

t.test("a service is asked late, once for all rules, and again after five minutes", async (t) => {
  const clock = new TestClock(NOW);
  const projects: string[] = [];
  let changes = 0;
  let answer: () => Promise<Traffic> = async () => trafficOf();
  let reads = 0;
  const facts = new TrafficFacts({
    clock,
    onChange: () => changes++,
    ask: ({ question }) => {
      projects.push(question.project);
      return answer();
    },
  });
  const line = JSON.stringify(entryOf({ ago: 1000, pattern: "/blog/*" }));
  const directory = {
    kind: () => undefined,
    read: () => undefined,
    readEnd: () => {
      reads++;
      return line;
    },
  };
  const question = { service: "https://logs.example.com", project: "shop" };
  const get = (source: "off" | "development" | "service" = "service") =>
    facts.get({ folder: "file:///a/", directory, question, source });

  for (let keystroke = 0; keystroke < 1_000; keystroke++) t.equal(get(), undefined) || t.bailout();
  t.strictSame([projects.length, reads], [0, 0], "nothing is asked or read on a keystroke");
  await clock.advance(1_000);
  t.strictSame([projects, changes, reads], [["shop"], 1, 0]);
  t.equal(get()?.traffic.rules.length, 2);
  await clock.advance(4 * 60_000);
  t.ok(get());
  await clock.advance(2_000);
  t.equal(projects.length, 1, "kept");
  await clock.advance(60_000);
  t.ok(get(), "the older is shown while it is asked for again");
  await clock.advance(1_000);
  t.strictSame([projects.length, changes], [2, 1], "the same traffic changes nothing");

  // Nobody is signed in, the workspace is not trusted, or there is no network: the development log.
  answer = async () => {
    throw new Error("nobody is signed in");
  };
  await clock.advance(5 * 60_000);
  get();
  await clock.advance(1_000);
  t.strictSame([projects.length, changes, reads, get()?.traffic.source], [3, 2, 1, "development"]);
  answer = () => new Promise(() => {});
  await clock.advance(60_000);
  get();
  await clock.advance(21_000);
  t.strictSame([projects.length, reads], [4, 2], "one that never answers is given up");

  // Each keystroke in the address of the service is another question.
  answer = async () => trafficOf();
  projects.length = 0;
  for (const project of ["a", "ap", "app"])
    facts.get({ folder: "file:///a/", directory, question: { ...question, project }, source: "service" });
  await clock.advance(1_000);
  t.strictSame(projects, ["app"], "only the last of them is asked");

  get("development");
  await clock.advance(1_000);
  t.strictSame([projects.length, reads], [1, 3], "without consent no service is asked");
  t.equal(get("off"), undefined);
  await clock.advance(10 * 60_000);
  t.strictSame([projects.length, reads], [1, 3], "off");
});

t.test("the fields of the service decide what a query can find", (t) => {
  const config = '{ "name": "shop", "logs": { "queries": { "slow": "state = \\"5OO\\"" } } }';
  const fields = [{ name: "state", type: "number", count: 1_204_881 } as const];
  const traffic: Traffic = { ...trafficOf(), fields };
  const messages = (text: string, kind: "config" | "query", name: string, seen: Traffic | undefined) => {
    const document = documentOf(text, kind, name);
    const project = {
      ...projectOf({}, () => documentOf(config)),
      traffic: () => seen && { traffic: seen, nowMs: NOW },
    };
    const steps = diagnose(document, project, { syntax: true, settings: DEFAULT_SETTINGS });
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value.map(({ code, message }) => `${code} ${message}`);
  };
  const said = 'query/other-type state is a number in all of 1,204,881 events; "5OO" is a text\ndid you mean 500?';
  t.strictSame(messages(config, "config", "tool.json", traffic), [said]);
  t.strictSame(messages('state = "5OO"\n', "query", "slow.logq", traffic), [said]);
  t.strictSame(messages(config, "config", "tool.json", undefined), []);
  t.strictSame(messages(config, "config", "draft.tool.json", traffic), [], "a draft may be of another app");
  t.end();
});

/** A log service that counts its questions, by the token that it was sent. */
async function startService(t: Test, rules: number, days = 40) {
  const now = Date.now();
  const time = (ago: number) => new Date(now - ago).toISOString();
  const questions: string[] = [];
  const server = createServer(async (request, response) => {
    const { query = "" } = (await json(request)) as { query?: string };
    questions.push(
      `${request.url} ${query.split("|")[0]!.trim()} ${request.headers.authorization}`.replace(/ {2,}/g, " "),
    );
    const columns = (names: string) => names.split(",").map((name) => ({ name, type: "value", unit: "" }));
    const table = (names: string, rows: unknown[][]) => ({
      columns: columns(names),
      rows,
      truncated: false,
      stats: {},
    });
    const answer =
      request.url === "/get_discovered_fields"
        ? { fields: [{ name: "state", type: "number", count: 9, percent: 1 }], stats: {} }
        : query === RULES_QUERY
          ? table(
              "time,rule.kind,rule.pattern,hits,loops,last",
              Array.from({ length: rules }, (_, i) => [
                time(0),
                "redirect",
                `/r${i}`,
                4,
                i === 0 ? 3 : 0,
                time(7_200_000),
              ]),
            )
          : table("stage,version,status,requests,first,last", [["production", "7", 200, 9, time(days * DAY), time(0)]]);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credential = { team: "acme", email: "ann@example.com", url, token: "lgs_secretone" };
  const config = JSON.stringify({ team: "acme", teams: { acme: credential } });
  return { url, questions, env: { TOOL_CONFIG: config } };
}

t.test("the command asks the service of a file, by a credential of its very origin", async (t) => {
  const { url, questions, env } = await startService(t, 1_000);
  const rules = { "/r0": {}, "/r0/": {}, "/r:x": {}, "/gone": {} };
  const redirects = Object.fromEntries(Object.keys(rules).map((key) => [key, { location: "/", status: 301 }]));
  const cwd = t.testdir({ "tool.json": JSON.stringify({ name: "shop", redirects, logs: { service: url } }, null, 2) });
  const question = JSON.stringify({ kind: "traffic", service: url, project: "shop" });
  const all = [
    "/aggregate exists rule.pattern Bearer lgs_secretone",
    "/aggregate message = response Bearer lgs_secretone",
    "/get_discovered_fields Bearer lgs_secretone",
  ];

  const looked = await tool(["lsp", "--look-up"], { stdin: question, env });
  const page = `${url}${pathOf({ kind: "project", team: "acme", project: "shop", section: "events" })}`;
  t.match(JSON.parse(looked.stdout), { source: "service", days: 30, page });
  t.strictSame(questions.splice(0).sort(), all, "1,000 rules are one question");

  // A token that is not for this origin goes nowhere.
  const other = { TOOL_LOGS_TOKEN: "lgs_other", TOOL_LOGS_URL: "https://logs.example.com" };
  const refused = await tool(["lsp", "--look-up"], { stdin: question, env: other });
  t.match(refused, { code: 1, stdout: "", stderr: /there is no token|needs a token/ });
  t.strictSame(questions, []);

  const report = await tool(["validate", "--traffic", "30d", "--format", "json"], { cwd, env });
  const { problems } = JSON.parse(report.stdout) as { problems: { code: string; message: string; line: number }[] };
  const ofTraffic = problems
    .filter(({ code }) => /hit$/.test(code))
    .map(({ code, message, line }) => [code, line, message]);
  t.strictSame(ofTraffic, [
    [
      "config/loop-hit",
      4,
      "this rule led clients back to where they came from 3 times in 30 days: look for what sends them back: tool logs 'rule.pattern = \"/r0\" and rule.loop = true'",
    ],
    ["config/no-hit", 8, "no request hit this rule in 30 days: remove it if nobody needs it any more"],
    ["config/no-hit", 12, "no request hit this rule in 30 days: remove it if nobody needs it any more"],
    ["config/no-hit", 16, "no request hit this rule in 30 days: remove it if nobody needs it any more"],
  ]);
  t.strictSame(questions.splice(0).sort(), all);

  // A query that the service's fields exclude is marked, without any rule, too, and fails nothing.
  const alerts = { errors: { query: 'state = "5OO"', operator: ">", threshold: 1, notify: "ops" } };
  const notifications = { ops: { type: "email", email_addresses: ["ops@example.com"] } };
  for (const more of [{ redirects }, {}]) {
    const logs = { service: url, queries: { slow: "status = 200" }, alerts, notifications };
    const folder = t.testdir({ "tool.json": JSON.stringify({ name: "shop", ...more, logs }) });
    const words = ["validate", "--strict", "--ignore", "config/logs-service", "--traffic", "30d", "--format", "json"];
    const typed = await tool(words, { cwd: folder, env });
    const marked = (JSON.parse(typed.stdout) as { problems: typeof problems }).problems;
    t.strictSame(
      marked.filter(({ code }) => !/hit$/.test(code)).map(({ code, message }) => `${code} ${message}`),
      ['query/other-type state is a number in all of 9 events; "5OO" is a text: did you mean 500?'],
    );
    t.strictSame([typed.code, questions.splice(0).length], [0, 3]);
  }

  const unknown = await tool(["validate", "--traffic", "30d"], { cwd });
  t.match(unknown.stderr, /^the traffic is not known: the log service needs a token\n {2}sign in: tool team login/);
  t.notMatch(unknown.stdout, /no request hit/);
  t.match(await tool(["validate", "--traffic", "often"], { cwd }), { code: 2, stderr: /write --traffic 30d/ });
  t.strictSame(questions, [], "never without being asked");
});

t.test("why nothing is said of rules without a hit", async (t) => {
  for (const [rules, days, reason] of [
    [0, 40, "no entry of project shop names a rule with a pattern"],
    [2, 0.1, "the entries of project shop are not a day old yet"],
  ] as const) {
    const { url, env } = await startService(t, rules, days);
    const redirects = { "/gone": { location: "/", status: 301 } };
    const cwd = t.testdir({ "tool.json": JSON.stringify({ name: "shop", redirects, logs: { service: url } }) });
    const { stderr } = await tool(["validate", "--traffic", "30d"], { cwd, env });
    t.equal(stderr, `the traffic is not known: ${reason}\n`);
  }
});

t.test("a service of a file that answers anything, or nothing", async (t) => {
  let answer: string | undefined;
  let status = 200;
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    requests++;
    if (answer !== undefined) response.writeHead(status, { "content-type": "application/json" }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { TOOL_LOGS_TOKEN: "lgs_secretone", TOOL_LOGS_URL: service };
  const redirects = { "/r0": { location: "/", status: 301 } };
  const cwd = t.testdir({ "tool.json": JSON.stringify({ name: "shop", redirects, logs: { service } }) });
  const noService = `the traffic is not known: ${service} does not answer as a log service\n`;
  for (const garbage of ["null", "[]", '{"columns":[null],"rows":[1],"fields":[]}', '{"columns":[],"rows":{}}']) {
    answer = garbage;
    const { stderr } = await tool(["validate", "--traffic", "30d"], { cwd, env });
    t.equal(stderr, noService, garbage);
  }
  [status, answer] = [500, '{"type":"internal","message":"\\u001b[2Jgone"}'];
  const { stderr } = await tool(["validate", "--traffic", "30d"], { cwd, env });
  t.match(stderr, /^the traffic is not known: .*gone/);
  t.notMatch(stderr, "\u001b", "nothing that a terminal obeys");

  const clock = new TestClock();
  const context = { io: { env, clock, nowMs: () => clock.nowMs() } } as unknown as Context;
  const { signal } = new AbortController();
  const ask = () => serviceTraffic(context, { service, project: "shop" }, { days: 30, signal });
  status = 200;
  const message = `${service} does not answer as a log service`;
  for (const field of ["null", "1", '{"name":1,"type":"string","count":1}', '{"name":"a"}']) {
    answer = `{"columns":[],"rows":[],"fields":[${field}]}`;
    await t.rejects(ask(), { message }, answer);
  }

  [answer, requests] = [undefined, 0];
  const silent = ask();
  const given = t.rejects(silent, { name: "TimeoutError" });
  await until("it is asked", () => requests === 3);
  await clock.advance(45_000);
  await given;
});

t.test("the command and the development log", async (t) => {
  const hit = (pattern: string, ago: number) =>
    JSON.stringify({ ...entryOf({ ago: 0, pattern }), timestamp: new Date(Date.now() - ago).toISOString() });
  const redirects = { "/old": { location: "/", status: 301 }, "/new": { location: "/", status: 301 } };
  const cwd = t.testdir({
    "tool.json": JSON.stringify({ name: "shop", redirects }),
    "server.js": "",
    "package.json": '{ "scripts": { "start": "node server.js" } }',
    ".tool": { "development.ndjson": `${hit("/old", 9 * DAY)}\n${hit("/new", DAY)}\n` },
  });
  const { code, stdout, stderr } = await tool(["validate", "--strict", "--traffic", "7d"], { cwd });
  t.equal(stderr, "reading .tool/development.ndjson, as tool.json names no log service\n");
  t.match(stdout, /warning: no request hit this rule in the development log/);
  t.match(stdout, "0 errors, 1 warning in tool.json".replace("0 errors, ", ""));
  t.equal(code, 0, "never an error, with --strict neither");
});

t.test("a rule that was hit and is never reached now", async (t) => {
  const redirects = { "/p/:a": { location: "/" }, "/p/:b": { location: "/" }, "/q": { location: "/" } };
  const text = JSON.stringify({ name: "shop", redirects });
  const hits = ["/p/:a", "/p/:b", "/q"].map((pattern) => JSON.stringify(entryOf({ ago: DAY, pattern }))).join("\n");
  const directory = { kind: () => undefined, read: () => undefined, readEnd: () => hits };
  const context = { io: { nowMs: () => NOW }, say: async () => {} } as unknown as Context;
  const problems = await trafficWarnings(context, { root: parseJson(text).root, directory, days: 7 });
  t.strictSame(
    problems.map((problem) => [text.slice(problem.span.start, problem.span.end), describe(problem)]),
    [
      [
        '"/p/:b"',
        'this rule had 1 hit in the development log, the last 1 day ago, and is never reached now: "/p/:a" matches the same paths and wins',
      ],
    ],
  );
  const none = JSON.stringify({ name: "shop", redirects: {} });
  t.strictSame(await trafficWarnings(context, { root: parseJson(none).root, directory, days: 7 }), []);
});

t.test("an editor shows the lenses of the development log, those of the service by consent, and a page", async (t) => {
  const { url, questions, env } = await startService(t, 2);
  const config = CONFIG.replace('"name": "shop",', `"name": "shop", "logs": { "service": "${url}" },`);
  const lines = RESPONSES.map((one) => JSON.stringify(entryOf(one))).join("\n");
  const folder = t.testdir({ "tool.json": config, ".tool": { "development.ndjson": `${lines}\n` } });
  const client = startLsp({ env, answers: { "window/showDocument": { success: true } } });
  try {
    await client.initialize({
      capabilities: {
        window: { showDocument: { support: true } },
        workspace: { codeLens: { refreshSupport: true } },
      },
    });
    const uri = `file://${folder}/tool.json`;
    client.open(uri, config);
    const titles = async () => {
      const { result } = await client.request("textDocument/codeLens", { textDocument: { uri } });
      return (result as { command: { title: string } }[]).map(({ command }) => command.title);
    };
    t.notOk(
      (await titles()).some((title) => / hits? /.test(title)),
      "nothing waits",
    );
    await client.receive("workspace/codeLens/refresh");
    await until("the hits", async () => (await titles()).some((title) => /^3 hits in development/.test(title)));
    t.strictSame(questions, [], "without the setting no service is asked");
    client.notify("workspace/didChangeConfiguration", { settings: { tool: { traffic: { source: "service" } } } });
    await until("the hits of the service", async () => (await titles()).includes("No hit in 30 days"));
    t.equal(questions.length, 3, "asked once");
    const show = (page: string) =>
      client.request("workspace/executeCommand", { command: "tool.showTraffic", arguments: [{ page }] });
    t.equal((await show(PAGE)).result, null);
    t.match((await client.receive("window/showDocument")).params, { uri: PAGE, external: true });
    t.match((await show("file:///etc/passwd")).error?.message, "there is no page to show");
    await client.stop();
  } finally {
    client.child.kill();
  }
});
