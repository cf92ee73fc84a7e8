// `tool alerts export`: records of a log service as JSON that tool.json takes.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { asConfig } from "../../../schema/as-config.ts";
import { checkConfig } from "../../../schema/index.ts";
import type { Alert, Notification, Search } from "../../../schema/rpc.generated.ts";
import { tool } from "../../support/cli.ts";

const ALERT = {
  ...{ id: "a1", project_id: "shop", name: "errors", description: "", kind: "events", query: "status >= 500" },
  ...{ severity: "error", operator: ">", threshold: 10, limit: 10, interval: 90, notification_id: "n1", muted: false },
  ...{ for: 1, recover: 1, repeat: 0, triggered: false, state: "ok" },
} as unknown as Alert;
const OPS = {
  ...{ id: "n1", project_id: "shop", type: "email", name: "ops", email_addresses: ["ops@example.com"] },
} as unknown as Notification;
const PAGER = {
  ...{ id: "n2", project_id: "shop", type: "pagerduty", name: "On call", pagerduty_service_key: "********" },
} as unknown as Notification;
const CHAT = {
  ...{ id: "n3", project_id: "shop", type: "slack", name: "chat", slack_webhook_url: "****", slack_channel: "#ops" },
} as unknown as Notification;
const SEARCH = { id: "s1", project_id: "shop", name: "Slow pages!", query: "duration > 1s" } as unknown as Search;

t.test("records as logs of a tool.json", (t) => {
  const alerts = [
    ALERT,
    { ...ALERT, id: "a2", notification_id: "n2", for: 3, repeat: 60, muted: true, severity: "critical" as const },
    { ...ALERT, id: "a3", name: "disk", kind: "disk" as const },
  ];
  const { logs, secrets } = asConfig({
    alerts,
    notifications: [OPS, PAGER, CHAT],
    searches: [SEARCH, { ...SEARCH, id: "s2" }],
  });
  t.same(logs, {
    queries: { "slow-pages": "duration > 1s", "slow-pages-2": "duration > 1s" },
    alerts: {
      errors: { query: "status >= 500", operator: ">", threshold: 10, interval: "1h30m", notify: "ops" },
      "errors-2": {
        ...{ query: "status >= 500", operator: ">", threshold: 10, interval: "1h30m", notify: "On call" },
        ...{ severity: "critical", for: 3, repeat: "1h", muted: true },
      },
    },
    notifications: {
      ops: { type: "email", email_addresses: ["ops@example.com"] },
      "On call": { type: "pagerduty", pagerduty_service_key: "$ON_CALL_KEY" },
      chat: { type: "slack", slack_webhook_url: "$CHAT_WEBHOOK", slack_channel: "#ops" },
    },
  });
  t.same(
    secrets.map(({ name }) => name),
    ["ON_CALL_KEY", "CHAT_WEBHOOK"],
  );
  t.same(checkConfig(JSON.stringify({ name: "app", logs })).problems, [], "tool.json takes it");
  t.end();
});

t.test("what is of a tool.json keeps its name beside another of that name", (t) => {
  const [hand, managed] = [SEARCH, { ...SEARCH, id: "s2", query: "error", managed_by: "shop" }];
  const { queries } = asConfig({ alerts: [], notifications: [], searches: [hand, managed] }).logs;
  t.same(queries, { "slow-pages-2": "duration > 1s", "slow-pages": "error" });
  t.end();
});

t.test("a name that tool.json may have stays with its record, and others are said", (t) => {
  const search = (id: string, name: string, managed_by: string) => ({ ...SEARCH, id, name, query: id, managed_by });
  const searches = [
    search("upper", "SLOW", "shop"),
    search("managed", "slow", "shop"),
    search("hand", "slow", ""),
    search("second", "slow-2", ""),
  ];
  const { logs, renamed } = asConfig({ alerts: [], notifications: [], searches });
  t.same(logs.queries, { slow: "managed", "slow-2": "second", "slow-3": "upper", "slow-4": "hand" });
  t.same(renamed, [
    { kind: "search", before: "SLOW", after: "slow-3" },
    { kind: "search", before: "slow", after: "slow-4" },
  ]);
  t.end();
});

t.test("what a service answers, and what it refuses", async (t) => {
  const answers: Record<string, unknown> = {
    "/get_alerts": { alerts: [ALERT] },
    "/get_notifications": { notifications: [OPS, PAGER] },
    "/get_searches": { searches: [SEARCH] },
  };
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === "Bearer good";
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isKnown ? answers[request.url!] : { type: "unauthorized", message: "unknown token" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = (token: string, ...argv: string[]) =>
    tool(["alerts", "export", ...argv], { cwd: t.testdir(), env: { TOOL_LOGS_TOKEN: token, TOOL_LOGS_URL: service } });
  const { code, stdout, stderr } = await run("good", "--service", service, "--project", "shop");
  t.equal(code, 0, stderr);
  t.same(Object.keys(JSON.parse(stdout).logs.alerts), ["errors"]);
  t.match(stderr, "search Slow pages! is named slow-pages here\n");
  t.match(stderr, "On call: its secret is not exported: tool env add ON_CALL_KEY - -s _service");
  t.match(await run("bad", "--service", service, "--project", "shop"), { code: 1, stdout: "" });
  t.match(await run("good"), { code: 2, stderr: /needs a log service\n {2}name it: --service/ });

  const cwd = t.testdir({ "tool.json": JSON.stringify({ name: "Shop", logs: { service } }) });
  const env = { TOOL_LOGS_TOKEN: "good", TOOL_LOGS_URL: service };
  for (const [argv, project] of [
    [[], "shop"],
    [["--project", "cart"], "cart"],
  ] as const) {
    const named = await tool(["alerts", "export", ...argv], { cwd, env });
    t.equal(named.stdout, stdout, "that of tool.json");
    t.equal(named.stderr.split("\n")[0], `reading the project ${project} of ${service}`);
  }
  const nobody = await tool(["alerts", "export"], { cwd });
  t.match(nobody, {
    code: 1,
    stdout: "",
    stderr: `${service} is not asked, as there is no token for it: tool team login`,
  });
});
