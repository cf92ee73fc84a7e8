// Searches, alerts and notifications of tool.json in its log service: `tool stack plan` and `tool stack apply`, with the stand-in
// of the cloud and the real service.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import t, { type Test } from "tap";
import { applyPlan, sayApplied, sayProblem } from "../../../cli/alerts/apply-plan.ts";
import { type ApplyProgress, applyRecords } from "../../../cli/alerts/apply-records.ts";
import { judgeSecrets } from "../../../cli/alerts/judge-secrets.ts";
import { planRecords, type WantedRecords } from "../../../cli/alerts/plan-records.ts";
import { hashSecret, isHashOf } from "../../../cli/alerts/secret-hash.ts";
import { renderServicePlan } from "../../../cli/alerts/service-plan-text.ts";
import type { Context } from "../../../cli/context.ts";
import { SandboxFolder } from "../../../cli/sandbox/folder.ts";
import type { AccountClient } from "../../../cli/team/account-client.ts";
import { TeamError } from "../../../cli/team/error.ts";
import { asConfig, type LogRecords } from "../../../schema/as-config.ts";
import { RpcFailure } from "../../../schema/rpc-client.ts";
import { startAws } from "../../support/aws/index.ts";
import { root, tool } from "../../support/cli.ts";
import { appFolder, appSource } from "../../support/deployed-app.ts";
import { testSandbox } from "../../support/sandbox.ts";
import { startTestService } from "../../support/service.ts";
import { signedIn } from "../../support/signed-in.ts";
import { slow } from "../../support/slow.ts";

const EMPTY: LogRecords = { alerts: [], notifications: [], searches: [] };
const MANAGED = { project_id: "shop", managed_by: "shop" };
const OPS = { ...MANAGED, id: "n1", name: "ops", type: "email", email_addresses: ["ops@example.com"] };
const ERRORS = {
  ...{ ...MANAGED, id: "a1", name: "errors", kind: "events", query: "status >= 500", operator: ">", threshold: 10 },
  ...{ severity: "error", limit: 10, interval: 90, notification_id: "n1", muted: false, for: 1, recover: 1, repeat: 0 },
  description: "",
};
const SLOW = { ...MANAGED, id: "s1", name: "slow", query: "duration > 1s" };
const FULL = { alerts: [ERRORS], notifications: [OPS], searches: [SLOW] } as unknown as LogRecords;

const wanted = (logs: object): WantedRecords => {
  const { queries = {}, alerts = {}, notifications = {} } = logs as Record<string, object>;
  const maps = { queries, alerts, notifications };
  const read = Object.entries(maps).map(([name, value]) => [name, new Map(Object.entries(value))]);
  return { app: "shop", project: "shop", ...Object.fromEntries(read) };
};

t.test("what is planned", (t) => {
  const config = asConfig(FULL).logs;
  const plan = (logs: object, there: LogRecords, isSame = true) => planRecords(wanted(logs), there, () => isSame);
  const steps = (logs: object, there: LogRecords) =>
    plan(logs, there).changes.map(({ action, kind, name, properties }) =>
      [action, kind, name, ...properties.map(({ path, before, after }) => `${path} ${before}:${after}`)].join(" "),
    );
  t.same(steps(config, FULL), [], "what a service exports is what it has");
  t.same(steps(config, EMPTY), [
    'add notification ops type undefined:"email" email_addresses undefined:["ops@example.com"]',
    'add search slow query undefined:"duration > 1s"',
    'add alert errors query undefined:"status >= 500" operator undefined:">" notify undefined:"ops" threshold undefined:10 interval undefined:"1h30m"',
  ]);
  t.same(steps({}, FULL), ["remove alert errors", "remove search slow", "remove notification ops"]);
  for (const managed_by of ["", "cart"]) {
    const theirs = { ...ERRORS, id: "a2", name: "by hand", managed_by };
    const held = plan({}, { ...FULL, alerts: [ERRORS, theirs] } as unknown as LogRecords);
    t.match(held.changes, [{ name: "errors" }, { name: "slow" }], "the service would not remove it");
    t.equal(held.changes.length, 2);
    t.match(held.remarks, [
      /^notification ops stays: alert by hand, which is not of this tool\.json, names it: change/,
    ]);
  }
  const { errors } = config.alerts;
  t.same(
    steps({ ...config, alerts: { errors: { ...errors, interval: "5m", severity: "critical", muted: true } } }, FULL),
    ['change alert errors severity undefined:"critical" muted undefined:true interval "1h30m":undefined'],
    "defaults are not in the file",
  );
  const hook = { ...OPS, type: "webhook", webhook_url: "https://h.example.com/****" };
  const hooked = { ...EMPTY, notifications: [hook] } as unknown as LogRecords;
  const notifications = { ops: { type: "webhook", webhook_url: "$OPS_HOOK" } };
  t.same(plan({ notifications }, hooked).changes, [], "the same secret");
  t.match(plan({ notifications }, hooked, false).changes, [
    { action: "change", properties: [{ path: "webhook_url", before: undefined, after: undefined, isSecret: true }] },
  ]);
  const others = (managed_by: string) => ({ ...EMPTY, searches: [{ ...SLOW, managed_by }] }) as unknown as LogRecords;
  const queries = { slow: "duration > 2s" };
  t.match(plan({ queries }, others("cart")), {
    clashes: ["search slow is in tool.json of cart, and cannot be in that of shop, too"],
  });
  t.match(plan({ queries }, others("")), {
    changes: [{ action: "add", name: "slow" }],
    clashes: [],
    remarks: [/^search slow is there already, made by people: theirs stays as it is; remove or rename it/],
  });
  t.match(plan({ queries: { all: "", blank: " " } }, FULL), {
    changes: [{ action: "remove" }, { action: "remove" }, { action: "remove" }],
    remarks: [/^search all is empty and finds everything/, /^search blank is empty/],
  });
  // Released, or another app's, by the name of the file: the alert is still its, and notifies that.
  for (const [managed_by, more] of [
    ["", ["add notification ops"]],
    ["cart", ["add notification ops"]],
    ["shop", []],
  ] as const) {
    const there = { ...FULL, notifications: [{ ...OPS, managed_by }] } as unknown as LogRecords;
    const changes = managed_by === "shop" ? [] : ['change alert errors notify "ops (not of this tool.json)":"ops"'];
    t.same(
      steps(config, there).map((step) => step.replace(/ type .*/, "")),
      [...more, ...changes],
      managed_by,
    );
  }
  const released = { ...OPS, managed_by: "" };
  const twins = { ...FULL, notifications: [released, { ...OPS, id: "n2" }] } as unknown as LogRecords;
  t.same(
    steps(config, twins),
    ['change alert errors notify "ops (not of this tool.json)":"ops"'],
    "also after an apply that did not",
  );
  // Another name alone: the thing stays what it is.
  const renamed = {
    queries: { slower: config.queries.slow },
    notifications: { oncall: config.notifications.ops },
    alerts: { failures: { ...errors, notify: "oncall" } },
  };
  const rename = (kind: string, from: string, to: string) => `change ${kind} ${to} name "${from}":"${to}"`;
  const [toOncall, toSlower] = [rename("notification", "ops", "oncall"), rename("search", "slow", "slower")];
  t.same(steps(renamed, FULL), [toOncall, toSlower, rename("alert", "errors", "failures")]);
  t.same(
    plan(renamed, FULL).changes.map(({ id }) => id),
    ["n1", "s1", "a1"],
  );
  t.same(
    steps({ ...renamed, alerts: { errors: { ...errors, notify: "oncall", threshold: 11 } } }, FULL),
    [toOncall, toSlower, "change alert errors threshold 10:11"],
    "an alert that names what was renamed has not changed by that",
  );
  t.same(
    steps({ ...renamed, queries: { slower: "duration > 2s" }, alerts: {} }, FULL),
    [toOncall, 'add search slower query undefined:"duration > 2s"', "remove alert errors", "remove search slow"],
    "another name and another content is another thing",
  );
  const twice = { a: config.queries.slow, b: config.queries.slow };
  t.same(
    steps({ queries: twice }, { ...EMPTY, searches: [SLOW] } as unknown as LogRecords),
    [rename("search", "slow", "a"), 'add search b query undefined:"duration > 1s"'],
    "one of two",
  );
  const byOthers = { ...FULL, alerts: [{ ...ERRORS, managed_by: "" }] } as unknown as LogRecords;
  t.match(
    plan({ ...renamed, alerts: {} }, byOthers),
    { remarks: [], held: [], changes: [{ name: "oncall" }, { name: "slower" }] },
    "what others name may have another name",
  );
  const moved = { notifications: { pager: notifications.ops } };
  t.match(plan(moved, hooked).changes, [{ action: "change", name: "pager", id: hook.id }]);
  t.match(plan(moved, hooked, false).changes, [{ action: "add" }, { action: "remove" }], "of another secret");
  t.match(
    plan({ queries: { slower: SLOW.query } }, {
      ...FULL,
      searches: [SLOW, { ...SLOW, name: "slower", managed_by: "cart" }],
    } as unknown as LogRecords),
    { clashes: ["search slower is in tool.json of cart, and cannot be in that of shop, too"] },
  );
  t.same(plan({}, others("")).changes, [], "only what the app manages is removed");
  t.same(plan({}, others("cart")).changes, []);
  t.end();
});

t.test("of several of one content, the one that the same alerts name has another name", (t) => {
  const both = ["x", "y"].map((name) => ({ ...OPS, id: name, name }));
  const named = (name: string, by: string) => ({ ...ERRORS, id: `of ${name}`, name, notification_id: by });
  const { ops } = asConfig(FULL).logs.notifications;
  const { errors } = asConfig(FULL).logs.alerts;
  const stored = {
    ...EMPTY,
    notifications: both,
    alerts: [named("p", "x"), { ...named("q", "y"), threshold: 20 }],
  } as unknown as LogRecords;
  /** `p2 x2 10`: an alert, whom it notifies, its threshold. */
  const alertsOf = (texts: readonly string[]) =>
    Object.fromEntries(
      texts.map((text) => {
        const [name = "", notify, threshold] = text.split(" ");
        return [name, { ...errors, notify, threshold: Number(threshold) }];
      }),
    );
  const swapped = ["change notification y2 of y", "change notification x2 of x"];
  const gone = ["remove alert p of of p", "remove notification x of x"];
  const rows: readonly [name: string, names: string, alerts: readonly string[], steps: readonly string[]][] = [
    [
      "in another order, with their alerts",
      "y2 x2",
      ["p2 x2 10", "q2 y2 20"],
      [...swapped, "change alert p2 of of p", "change alert q2 of of q"],
    ],
    ["the second alone", "y2", ["q2 y2 20"], [swapped[0]!, "change alert q2 of of q", ...gone]],
    [
      "alerts that keep their names, and have another threshold",
      "y2 x2",
      ["p x2 11", "q y2 21"],
      [...swapped, "change alert p of of p", "change alert q of of q"],
    ],
  ];
  for (const [name, names, alerts, steps] of rows) {
    const notifications = Object.fromEntries(names.split(" ").map((one) => [one, ops]));
    const { changes } = planRecords(wanted({ notifications, alerts: alertsOf(alerts) }), stored, () => true);
    t.same(
      changes.map((one) => `${one.action} ${one.kind} ${one.name} of ${one.id}`),
      steps,
      name,
    );
    const paths = changes.flatMap(({ properties }) => properties.map(({ path }) => path));
    t.notOk(paths.includes("notify"), `${name}: whom an alert notifies has not changed`);
  }
  t.end();
});

t.test("secrets of many notifications that are renamed", async (t) => {
  const names = Array.from({ length: 12 }, (_, i) => `n${i}`);
  const secrets = new Map(names.map((name, i) => [`SECRET_${i}`, `https://hooks.example.com/${name}`]));
  const stored = await Promise.all(
    names.map(async (name, i) => ({
      ...{ ...OPS, type: "webhook", id: name, name, webhook_url: "" },
      secret_hash: await hashSecret(secrets.get(`SECRET_${i}`)!),
    })),
  );
  const there = { ...EMPTY, notifications: stored } as unknown as LogRecords;
  // The two at the ends change places, too.
  const order = names.map((_, i) => (i === 0 ? 11 : i === 11 ? 0 : i));
  const notifications = Object.fromEntries(
    order.map((i) => [`renamed ${i}`, { type: "webhook", webhook_url: `$SECRET_${i}` }]),
  );
  const one = wanted({ notifications });
  const { changes } = planRecords(one, there, await judgeSecrets(one, there, secrets));
  t.same(
    changes.map(({ action, name, id }) => [action, name, id]),
    order.map((i) => ["change", `renamed ${i}`, `n${i}`]),
  );
});

t.test("a plan is read on a terminal, and elsewhere", (t) => {
  const query = { path: "query", isSecret: false, before: '"status >= 500 | count by path"', after: '"status >= 400"' };
  const change = { action: "change", kind: "alert", name: "errors", id: "a1", properties: [query] } as const;
  const plan = { service: "https://logs.example.com", project: "shop", changes: [change], remarks: [], held: [] };
  const lines = (columns: number, isTerminal: boolean) =>
    renderServicePlan({ ...plan, problem: undefined, apply: async () => {} }, { color: false, columns, isTerminal })
      .split("\n")
      .slice(2, -2);
  const [from, to] = ['      query: "status >= 500 | count by path"', '-> "status >= 400"'];
  t.same(lines(80, true), [`${from} ${to}`]);
  const two = [from, `${" ".repeat(11)}${to}`];
  t.same(lines(50, true), two, "what it gets is seen, too");
  t.same(lines(20, true), two, "whole, as queries may differ at their ends alone");
  t.same(lines(20, false), [`${from} ${to}`], "whole in a file or the log of a build");
  t.end();
});

t.test("a plan shows both values of a change, however long they are", (t) => {
  const end = (path: string) => `status >= 500 and method in (GET, POST) and path = /orders* | count by ${path}`;
  const lines = (before: string, after: string) => {
    const stored = { ...EMPTY, searches: [{ ...SLOW, query: before }] } as unknown as LogRecords;
    const { changes, remarks, held } = planRecords(wanted({ queries: { slow: after } }), stored, () => true);
    const service = { service: "https://logs.example.com", project: "shop", problem: undefined, apply: async () => {} };
    return renderServicePlan({ ...service, changes, remarks, held }, { columns: 80, color: false }).split("\n");
  };
  t.ok(lines("error", "warn").includes('      query: "error" -> "warn"'));
  const [before, after] = [end("method"), end("path")];
  t.strictSame(lines(before, after).slice(2, 4), [`      query: "${before}"`, `           -> "${after}"`]);
  t.end();
});

t.test("the hash of a secret", async (t) => {
  const hash = await hashSecret("s3cret");
  t.ok(await isHashOf(hash, "s3cret"));
  t.notOk(await isHashOf(hash, "S3cret"));
  for (const other of ["", "scrypt", "scrypt:a:b", "md5:a:b"]) t.notOk(await isHashOf(other, "s3cret"), other);
  t.not(await hashSecret("s3cret"), hash, "salted");
  t.ok(hash.length <= 255);
});

const HOOK = "https://hooks.example.com/s3cret-of-the-hook";
const KEY = "s3cretkeyofthepager";
const LOGS = {
  queries: { slow: "duration > 1s", failed: "status >= 500" },
  notifications: {
    hook: { type: "webhook", webhook_url: "$OPS_HOOK" },
    pager: { type: "pagerduty", pagerduty_service_key: "$PAGER_KEY" },
  },
  alerts: {
    errors: { query: "status >= 500 | count by path", operator: ">", threshold: 10, interval: "5m", notify: "hook" },
    quiet: { query: "status < 400", operator: "<", threshold: 1, interval: "1h30m", notify: "pager", severity: "info" },
    slow: { query: "duration > 5s", operator: ">=", threshold: 3, notify: "hook", repeat: "1h", limit: 5 },
  },
};

t.test("a project that somebody else makes meanwhile, and masks in what a service refuses", async (t) => {
  const refusal = (status: number, message: string) =>
    new TeamError(message, "write it in another way", { cause: new RpcFailure(status, "x", message) });
  const notifications = { hook: { type: "webhook", webhook_url: "$OPS_HOOK" } };
  const one = wanted({ notifications });
  const apply = async (secret: string, answers: Readonly<Record<string, Error>>) => {
    const calls: string[] = [];
    const call = async (name: string) => {
      calls.push(name);
      if (answers[name] !== undefined) throw answers[name];
      return name === "get_notifications" ? { notifications: [] } : { id: "n1" };
    };
    const { changes } = planRecords(one, EMPTY, () => false);
    const secrets = new Map([["OPS_HOOK", secret]]);
    const request = {
      client: { call } as unknown as AccountClient,
      wanted: one,
      there: EMPTY,
      isNewProject: true,
      secrets,
    };
    const error = await applyRecords(changes, { ...request, onDone() {} }).catch((reason: TeamError) => reason);
    return { calls, message: error?.message };
  };
  const taken = refusal(409, 'project.id: "shop" is taken: send another, or none');
  t.same(await apply(HOOK, { add_project: taken }), {
    calls: ["add_project", "add_notification", "get_notifications"],
    message: undefined,
  });
  t.match(await apply(HOOK, { add_project: refusal(429, "too many") }), {
    calls: ["add_project"],
    message: "too many",
  });
  for (const [secret, said, message] of [
    [HOOK, `${HOOK} is not right, nor is hooks.example.com`, "$OPS_HOOK is not right, nor is $OPS_HOOK"],
    ["s", "must be an address", "must be an address"],
    ["add", "must be an address", "must be an address"],
    ["addr", "addr is no address", "$OPS_HOOK is no $OPS_HOOKess"],
  ] as const) {
    t.equal((await apply(secret, { add_notification: refusal(400, said) })).message, message);
  }
});

t.test("that nothing was changed is said only if it is so, and once", async (t) => {
  const refusal = (status: number) => new TeamError("no", "mend it", { cause: new RpcFailure(status, "x", "no") });
  const lost = new TeamError("http://l does not answer: it was closed", "run it again", { cause: new TypeError("") });
  const nothing = "nothing of the log service was changed: ";
  const rows: readonly (readonly [answers: Readonly<Record<string, Error>>, isNewProject: boolean, said: string])[] = [
    [{ add_search: refusal(400) }, false, `${nothing}search slow: no`],
    [{ add_project: refusal(403) }, true, `${nothing}search slow: no`],
    [{ add_search: refusal(400) }, true, "search slow: no"],
    [{ add_search: refusal(500) }, false, "search slow: no"],
    [{ add_search: lost }, false, "search slow: http://l does not answer: it was closed"],
    [{ get_searches: refusal(429) }, false, "search slow: no"],
    [{ get_searches: refusal(500) }, false, "search slow: no"],
  ];
  const one = wanted({ queries: { slow: "duration > 1s", slower: "duration > 9s" } });
  const { changes } = planRecords(one, EMPTY, () => false);
  for (const [answers, isNewProject, said] of rows) {
    const call = async (name: string) => {
      if (answers[name] !== undefined) throw answers[name];
      return { id: "s1" };
    };
    const client = { call } as unknown as AccountClient;
    const request = { client, wanted: one, there: EMPTY, isNewProject, secrets: new Map() };
    const plan = {
      ...{ service: "http://l", project: "shop", changes, problem: undefined, remarks: [], held: [] },
      apply: (progress: ApplyProgress) => applyRecords(changes, { ...request, ...progress }),
    };
    const errors: string[] = [];
    const context = {
      ...{ format: "text", print: async () => {}, say: async () => {} },
      error: async (message: string) => void errors.push(message),
    } as unknown as Context;
    const { signal } = new AbortController();
    t.equal(await sayApplied(context, await applyPlan(plan, signal, () => {})), 1);
    t.same(errors, [said], `${Object.keys(answers)}, ${isNewProject ? "a new project" : "a project"}`);
  }
  const errors: (string | undefined)[][] = [];
  const context = { error: async (...line: string[]) => void errors.push(line) } as unknown as Context;
  t.equal(await sayProblem(context, { message: "a\nb", hint: "mend it" }, nothing), 1);
  t.same(errors, [
    [`${nothing}a`, undefined],
    ["b", "mend it"],
  ]);
});

const schemas = new Ajv({ allErrors: true, allowUnionTypes: true });
const validate = (name: string, document: unknown) => {
  const schema = JSON.parse(readFileSync(join(root, `cli/output/schemas/${name}.schema.json`), "utf8"));
  if (!schemas.validate({ ...schema, $id: undefined }, document)) throw new Error(`${name}: ${schemas.errorsText()}`);
};

/** An app, its cloud and its log service, with two people who deploy it. */
async function open(t: Test) {
  const [aws, service] = [await startAws(t), await startTestService(t)];
  const [ann, bob] = [
    await signedIn(t, service, "admin", "ann@example.com"),
    await signedIn(t, service, "member", "bob@example.com"),
  ];
  const text = (name: string, logs: object) => ({
    "tool.json": JSON.stringify({ name, logs: { service: service.running.url, project: "shop", ...logs } }),
  });
  const folder = t.testdir();
  const app = appFolder(aws, join(folder, "shop"), { ...text("shop", LOGS), "app.js": appSource("one") });
  let printed = "";
  /** Runs a command, in text if no format is named. */
  const run = async (env: Readonly<Record<string, string>>, ...argv: string[]) => {
    const outcome = await app.tool(argv, env);
    printed += outcome.stdout + outcome.stderr;
    return outcome;
  };
  const ofProject = async (table: string) => {
    const { json } = await service.call(`get_${table}`, { project_id: "shop" });
    return json[table] as Record<string, unknown>[];
  };
  return {
    ...{ aws, service, app, ann, bob, run, ofProject, folder },
    configure: (logs: object, name = "shop") => app.write(text(name, logs)),
    printed: () => printed,
    names: async (owner: string) =>
      (
        await Promise.all(
          ["notifications", "searches", "alerts"].map(async (table) =>
            (await ofProject(table)).filter((one) => one.managed_by === owner).map(({ name }) => `${table} ${name}`),
          ),
        )
      ).flat(),
    /** The plan as text and as JSON, which say the same: `add alert errors`. */
    async plan(env: Readonly<Record<string, string>>) {
      const printedPlan = await run(env, "stack", "plan");
      const { stdout, code } = await run(env, "stack", "plan", "--format", "json");
      const document = JSON.parse(stdout);
      validate("stack-plan", document);
      t.equal(code, printedPlan.code);
      const marks = { add: "+", change: "~", remove: "-" } as const;
      const steps = (document.logs?.changes ?? []).map(
        ({ action, kind, name }: { action: keyof typeof marks; kind: string; name: string }) => {
          t.ok(printedPlan.stdout.includes(`\n  ${marks[action]} ${kind} ${name}`), `${action} ${kind} ${name}`);
          return `${action} ${kind} ${name}`;
        },
      );
      return { ...printedPlan, steps };
    },
  };
}

const ALL = ["notifications hook", "notifications pager", "searches failed", "searches slow", "alerts errors"].concat(
  ...["alerts quiet", "alerts slow"],
);

t.test("applied, changed, partly removed, by two people", slow(), async (t) => {
  const { service, app, ann, bob, run, ofProject, configure, plan, names, printed, folder } = await open(t);
  const early = await run(ann, "stack", "plan");
  t.match(
    early.stderr,
    /tool stack apply changes the stack, but nothing of the log service:\nerror: there is no secret /,
  );
  const first = await run(ann, "deploy");
  t.equal(first.code, 0, first.stderr);
  t.match(
    first.stderr,
    "3 alerts, 2 searches and 2 notifications of tool.json are not in the log service yet: tool stack apply\n",
  );
  t.same(await names("shop"), [], "a deploy applies nothing");

  // Made by hand, with names of the file.
  const hand = { project_id: "shop", name: "slow" };
  await service.call("add_search", { search: { ...hand, query: "error" } });
  const { id } = (
    await service.call("add_notification", { notification: { ...hand, type: "email", email_addresses: ["a@b.c"] } })
  ).json;
  const byHand = { ...hand, severity: "error", operator: ">", notification_id: id };
  await service.call("add_alert", { alert: { ...byHand, query: "error" } });
  const before = await names("");
  t.same(before, ["notifications slow", "searches slow", "alerts slow"]);

  const missing = await plan(ann);
  t.equal(missing.code, 1);
  t.match(
    missing.stderr,
    "error: there is no secret OPS_HOOK, PAGER_KEY, which notifications name\n  tool env add OPS_HOOK - -s _service\n  tool env add PAGER_KEY - -s _service\n",
  );
  const refused = await run(ann, "stack", "apply", "--yes");
  t.equal(refused.code, 1);
  t.match(refused.stderr, "error: nothing of the log service was changed: there is no secret OPS_HOOK, PAGER_KEY");
  t.match(refused.stdout, "nothing to do: the stack matches tool.json", "the stack is applied all the same");
  t.same(await names("shop"), []);
  for (const secret of [`OPS_HOOK=${HOOK}`, `PAGER_KEY=${KEY}`]) {
    const set = await app.tool(["env", "set", secret, "-s", "_service"]);
    t.equal(set.code, 0, set.stderr);
  }

  const nobody = await run({ XDG_CONFIG_HOME: "/nonexistent" }, "stack", "apply");
  t.match(nobody, { code: 1, stderr: /nothing of the log service was changed: the log service needs a token/ });
  const planned = await plan(ann);
  t.same([planned.code, planned.steps.length], [0, 7], planned.stderr);
  t.match(planned.stdout, `Changes to the log service ${service.running.url}, project shop\n  + notification hook\n`);
  t.match(planned.stdout, "      webhook_url: a secret\n");
  t.match(planned.stdout, '      interval: "1h30m"\n');
  t.match(planned.stdout, "search slow is there already, made by people: theirs stays as it is");
  t.match(planned.stdout, "7 to add\n");
  t.match(planned.stdout, /^no changes to the stack\n/);
  t.same(await names("shop"), [], "a plan changes nothing");
  const applied = await run(ann, "stack", "apply", "--format", "json");
  t.equal(applied.code, 0, applied.stderr);
  validate("stack-apply", JSON.parse(applied.stdout));
  t.match(JSON.parse(applied.stdout), { outcome: "updated", logs: { done: 7, problem: null } });
  t.same(await names("shop"), ALL);
  t.same(await names(""), before, "what people made is as it was");
  const alerts = await ofProject("alerts");
  const hook = (await ofProject("notifications")).find(({ name }) => name === "hook");
  t.match(
    alerts.find((one) => one.name === "slow" && one.managed_by === "shop"),
    { query: "duration > 5s", threshold: 3, interval: 5, repeat: 60, limit: 5, notification_id: hook!.id },
  );

  t.same((await plan(bob)).steps, [], "the other person sees no difference");
  const nothing = await run(bob, "stack", "apply");
  t.match(nothing.stdout, /^nothing to do: the stack matches tool\.json\n/);
  t.match(nothing.stdout, /nothing to do: the log service \S+, project shop, matches tool\.json\n/);

  // A rename is a change of one thing: each keeps its id, and the secret goes with it.
  const { hook: theHook, pager: thePager } = LOGS.notifications;
  const { quiet: quietOne, ...rest } = LOGS.alerts;
  configure({
    ...LOGS,
    notifications: { web: theHook, pager: thePager },
    alerts: { errors: { ...rest.errors, notify: "web" }, slow: { ...rest.slow, notify: "web" }, calm: quietOne },
  });
  const renaming = await plan(ann);
  t.same(renaming.steps, ["change notification web", "change alert calm"], renaming.stderr);
  t.match(renaming.stdout, '      name: "hook" -> "web"\n');
  const alertIds = async () => (await ofProject("alerts")).map((one) => one.id).sort();
  const idsBefore = await alertIds();
  t.equal((await run(ann, "stack", "apply", "--yes")).code, 0);
  t.same((await plan(bob)).steps, []);
  t.equal((await ofProject("notifications")).find(({ name }) => name === "web")!.id, hook!.id);
  t.same(await alertIds(), idsBefore);
  configure(LOGS);
  t.equal((await run(ann, "stack", "apply", "--yes")).code, 0);
  t.same([await names("shop"), await names("")], [ALL, before], "and back");

  const { quiet: _, ...some } = LOGS.alerts;
  const errors = { ...some.errors, threshold: 20, interval: "10m" };
  configure({
    ...{ ...LOGS, queries: { slow: "duration > 2s", failed: "status >= 500" } },
    ...{ alerts: { ...some, errors }, notifications: { hook: LOGS.notifications.hook } },
  });
  await app.tool(["env", "set", `OPS_HOOK=${HOOK}-2`, "-s", "_service"]);
  const changed = await plan(bob);
  t.same(changed.steps, [
    ...["change notification hook", "change search slow", "change alert errors"],
    ...["remove alert quiet", "remove notification pager"],
  ]);
  t.match(changed.stdout, '      threshold: 10 -> 20\n      interval: the default -> "10m"\n');
  t.match(changed.stdout, "      webhook_url: a secret, which has changed\n");
  t.match(changed.stdout, "  - alert quiet  REMOVED\n");
  const unconfirmed = await run(bob, "stack", "apply");
  t.equal(unconfirmed.code, 2);
  t.match(
    unconfirmed.stderr,
    "this removes alert quiet, notification pager from the log service, and there is no terminal",
  );
  t.match(await ofProject("searches"), [{ query: /./ }, { query: /./ }, { query: /./ }]);
  t.same(await names("shop"), ALL, "nothing was begun");
  const again = await run(bob, "stack", "apply", "--yes");
  t.equal(again.code, 0, again.stderr);
  t.match(again.stdout, /^no changes to the stack\n/);
  t.match(again.stdout, "changed in the log service: notification hook, search slow, alert errors\n");
  t.match(again.stdout, "removed in the log service: alert quiet, notification pager\n");
  t.same((await plan(ann)).steps, []);
  t.same(await names(""), before);

  const same = await run(bob, "deploy");
  t.equal(same.code, 0, same.stderr);
  t.notMatch(same.stderr, /stack apply/, "what is applied is not mentioned");
  configure({ ...LOGS, notifications: { hook: LOGS.notifications.hook }, alerts: { errors } });
  const differs = await run(bob, "deploy");
  t.match(differs.stderr, "the log service differs from tool.json (1 alert and 1 search): tool stack apply\n");
  const untouched = await names("shop");
  const back = await run(ann, "rollback");
  t.equal(back.code, 0, back.stderr);
  t.same(await names("shop"), untouched, "nor does a rollback apply anything");
  t.equal((await run({ XDG_CONFIG_HOME: "/nonexistent" }, "deploy")).code, 0);
  configure({});
  t.match((await plan(ann)).steps.length, 5, "what the file no longer has is removed");
  t.equal((await run(ann, "stack", "apply", "--yes")).code, 0);
  t.same([await names("shop"), await names("")], [[], before]);

  t.notMatch(printed(), /s3cret/, "no secret in any output");
  for (const where of [folder, service.directory]) {
    for (const name of readdirSync(where, { recursive: true, encoding: "utf8" })) {
      const path = join(where, name);
      if (statSync(path).isFile()) t.notOk(readFileSync(path, "latin1").includes("s3cret"), `no secret in ${name}`);
    }
  }
  t.notMatch(service.logged.join("\n"), /s3cret/);
});

t.test("two apps, a failure in the middle, and a service that is away", slow(), async (t) => {
  const { service, app, ann, bob, run, configure, plan, names } = await open(t);
  const { queries } = LOGS;
  const notifications = { hook: LOGS.notifications.hook };
  configure({ queries });
  t.equal((await run(ann, "stack", "apply")).code, 0);
  t.same(await names("shop"), ["searches failed", "searches slow"], "the project is made");

  configure({ queries: { slow: "duration > 9s" } }, "cart");
  const two = await run(bob, "stack", "apply", "--yes");
  t.equal(two.code, 1);
  t.match(
    two.stderr,
    "error: nothing of the log service was changed: search slow is in tool.json of shop, and cannot be in that of cart, too\n  give one of the two another name\n",
  );
  t.same(await names("cart"), []);

  // An address that the service refuses: the notification fails, and says nothing of its secret.
  configure({ queries: { ...queries, more: "error" }, notifications });
  await app.tool(["env", "set", "OPS_HOOK=https://127.0.0.1/s3cret", "-s", "_service"]);
  const failed = await run(bob, "stack", "apply");
  t.equal(failed.code, 1);
  t.match(
    failed.stderr,
    "error: nothing of the log service was changed: notification hook: notification.webhook_url: ",
  );
  t.notMatch(failed.stdout + failed.stderr, /s3cret|127\.0\.0\.1\/|lgs_/);
  await app.tool(["env", "set", `OPS_HOOK=${HOOK}`, "-s", "_service"]);
  t.equal((await run(bob, "stack", "apply")).code, 0);
  t.same(await names("shop"), ["notifications hook", "searches failed", "searches more", "searches slow"]);

  await service.call("add_alert", {
    alert: {
      ...{ project_id: "shop", name: "by hand", query: "error", severity: "error", operator: ">" },
      notification_id: (await service.call("get_notifications", { project_id: "shop" })).json.notifications[0].id,
    },
  });
  configure({ queries });
  const held = await run(bob, "stack", "apply", "--yes");
  t.equal(held.code, 0);
  t.match(held.stdout, "removed in the log service: search more\n");
  t.match(held.stderr, "notification hook stays: alert by hand, which is not of this tool.json, names it");
  t.same((await plan(ann)).steps, []);

  // One of two notifications is refused: the plan says so, and nothing is begun.
  const pair = { first: notifications.hook, second: { ...notifications.hook, webhook_url: "$SECOND" } };
  configure({ queries, notifications: { ...notifications, ...pair } });
  await app.tool(["env", "add", "SECOND=https://127.0.0.1/s3cret", "-s", "_service"]);
  const part = await run(bob, "stack", "apply");
  t.equal(part.code, 1);
  t.match(
    part.stderr,
    "error: nothing of the log service was changed: notification second: notification.webhook_url: ",
  );
  t.match(part.stderr, "change it in tool.json, or its secret with tool env set");
  const refused = await plan(ann);
  t.same([refused.code, refused.steps], [1, ["add notification first", "add notification second"]]);
  t.match(refused.stderr, "error: notification second: notification.webhook_url: ");
  t.same(await names("shop"), ["notifications hook", "searches failed", "searches slow"]);

  await service.stop();
  const away = await run(ann, "stack", "apply", "--yes");
  t.equal(away.code, 1);
  t.match(away.stderr, /nothing of the log service was changed: http\S+ does not answer/);
  t.match(away.stdout, "nothing to do: the stack matches tool.json");
});

t.test("what was applied goes with the stack", slow(), async (t) => {
  const { service, app, ann, run, configure, names } = await open(t);
  const { queries } = LOGS;
  const notifications = { hook: LOGS.notifications.hook };
  configure({ queries, notifications });
  await app.tool(["env", "set", `OPS_HOOK=${HOOK}`, "-s", "_service"]);
  t.equal((await run(ann, "deploy")).code, 0);
  t.equal((await run(ann, "stack", "apply")).code, 0);
  const all = ["notifications hook", "searches failed", "searches slow"];
  t.same(await names("shop"), all);

  const { code, stdout } = await run(
    { XDG_CONFIG_HOME: "/nonexistent" },
    "stack",
    "delete",
    "--yes",
    "--format",
    "json",
  );
  t.equal(code, 0);
  const document = JSON.parse(stdout);
  validate("stack-delete", document);
  t.match(document.left.at(-1), { kind: "log service", name: service.running.url, reason: /token.*tool team login/s });
  t.same(await names("shop"), all, "nobody was signed in");

  const [hook] = (await service.call("get_notifications", { project_id: "shop" })).json.notifications;
  const byHand = { project_id: "shop", name: "mine", query: "error", severity: "error", operator: ">" };
  const mine = await service.call("add_alert", { alert: { ...byHand, notification_id: hook.id } });
  const held = JSON.parse((await run(ann, "stack", "delete", "--yes", "--format", "json")).stdout);
  validate("stack-delete", held);
  const reason = "alert mine, which is not of this tool.json, names it: change or remove that first";
  t.match(
    held.left.find(({ kind }: { kind: string }) => kind.startsWith("log service")),
    { kind: "log service notification", name: "hook", reason },
  );
  t.same(await names("shop"), ["notifications hook"]);
  await service.call("remove_alert", { project_id: "shop", alert_id: mine.json.id });

  const removed = await run(ann, "stack", "delete", "--yes");
  t.equal(removed.code, 0, removed.stderr);
  t.match(removed.stdout, "removed: log service notification hook\n");
  t.same(await names("shop"), []);
  t.match((await run(ann, "stack", "delete", "--yes")).stdout, "removed: nothing\n");
});

t.test("a token of CI applies if it was made for that", slow(), async (t) => {
  const { service, run, configure, names } = await open(t);
  configure({ queries: LOGS.queries });
  const admin = await service.person("ci@example.com", "admin");
  await service.call("add_project", { project: { id: "shop", name: "shop" } });
  const ci = async (more: object) => {
    const { token } = (await service.call("add_ci_token", { name: "build", ...more }, admin)).json;
    const teams = { owner: { team: "owner", email: "ci@example.com", url: service.running.url, token } };
    return { TOOL_CONFIG: JSON.stringify({ team: "owner", teams }), XDG_CONFIG_HOME: "/nonexistent" };
  };
  const plain = await run(await ci({}), "stack", "apply");
  t.equal(plain.code, 1);
  t.match(
    plain.stderr,
    /nothing of the log service was changed: this token lacks [^\n]+\n {2}a token of CI that may is made by: tool team ci --apply\n/,
  );
  t.same(await names("shop"), []);
  const applied = await run(await ci({ applies: true }), "stack", "apply");
  t.equal(applied.code, 0, applied.stderr);
  t.same(await names("shop"), ["searches failed", "searches slow"]);
  const { tokens } = (await service.call("get_ci_tokens", {}, admin)).json;
  t.same(
    tokens.map(({ applies }: { applies: boolean }) => applies),
    [false, true],
  );
});

t.test("a log service alone needs no credentials of a cloud", slow(), async (t) => {
  const service = await startTestService(t);
  const ann = await signedIn(t, service, "admin", "ann@example.com");
  const { queries } = LOGS;
  const notifications = { ops: { type: "email", email_addresses: ["ops@example.com"] } };
  const cwd = t.testdir({});
  const configure = (logs: object, more: object = {}) => {
    const config = { name: "shop", logs: { service: service.running.url, project: "shop", ...logs }, ...more };
    writeFileSync(join(cwd, "tool.json"), JSON.stringify(config));
  };
  const run = (...argv: string[]) => tool(["stack", ...argv], { cwd, env: ann });
  const unseen = /there are no cloud credentials: what is deployed of shop, if anything, was not looked at and stays/;
  configure({ queries, notifications });
  const planned = await run("plan");
  t.equal(planned.code, 0, planned.stderr);
  t.match(planned.stdout, /^Changes to the log service \S+, project shop\n {2}\+ notification ops\n/);
  t.match(planned.stderr, /tool stack apply makes these changes\n/);
  t.match(planned.stderr, unseen);
  const document = JSON.parse((await run("plan", "--format", "json")).stdout);
  validate("stack-plan", document);
  t.match(document, { isNew: null, changes: null, certificates: null, logs: { problem: null } });
  const applied = await run("apply", "--format", "json");
  t.equal(applied.code, 0, applied.stderr);
  validate("stack-apply", JSON.parse(applied.stdout));
  t.match(JSON.parse(applied.stdout), { outcome: "updated", plan: null, status: null, logs: { done: 3 } });
  const again = await run("apply");
  t.same([again.code, again.stdout.startsWith("nothing to do: the log service ")], [0, true], again.stdout);
  t.match(again.stderr, unseen);

  // An app that is in the cloud: the service's part is done, and the other is said to be missing.
  configure({ queries }, { stages: { production: { domain: "shop.example.com" } } });
  const removing = await run("apply");
  t.equal(removing.code, 2, "removals are confirmed");
  const half = await run("apply", "--yes");
  t.equal(half.code, 1);
  t.match(half.stdout, "removed in the log service: notification ops\n");
  t.match(half.stderr, /error: the stack was not looked at, and stays as it is: there are no cloud credentials\n/);
  configure({ queries }, { profile: "work" });
  t.match(await run("plan"), { code: 1, stderr: /not looked at, and stays as it is: there is no credentials profile/ });

  configure({ notifications: { hook: LOGS.notifications.hook } });
  const secret = await run("plan");
  t.equal(secret.code, 1);
  t.match(secret.stderr, "error: OPS_HOOK cannot be read, which tool env keeps in the account: there are no cloud");
  t.match(await run("delete", "--yes"), { code: 1, stderr: /^error: there are no cloud credentials\n/m });
  const none = { cwd, env: { XDG_CONFIG_HOME: "/nonexistent" } };
  configure({});
  t.match(await tool(["stack", "plan"], none), { code: 1, stderr: /^error: there are no cloud credentials\n/m });
});

t.test("a removal from the sandbox lists what it leaves in a log service that is away", slow(), async (t) => {
  const [sandbox, service] = [testSandbox(t), await startTestService(t)];
  const { queries } = LOGS;
  const notifications = { ops: { type: "email", email_addresses: ["ops@example.com"] } };
  const directory = t.testdir({
    "tool.json": JSON.stringify({ name: "my-app", logs: { queries, notifications } }),
    "index.html": "<p>hello</p>",
  });
  const folder = new SandboxFolder(sandbox.folder);
  const here = { url: service.running.url, token: service.owner, pageUrl: service.running.url };
  folder.writeLogService(here);
  t.equal((await sandbox.tool(directory, "stack", "apply")).code, 0);
  await service.stop();
  const said =
    /it does not run, and could not be asked for the app's alerts, searches and notifications, which stay there: run tool stack delete --sandbox again/;
  const killed = await sandbox.tool(directory, "stack", "delete", "--yes", "--format", "json");
  t.equal(killed.code, 0, killed.stderr);
  const document = JSON.parse(killed.stdout);
  validate("stack-delete", document);
  t.match(document.left.at(-1), { kind: "log service", name: here.url, reason: said });
  folder.removeLogService(here.url);
  const ended = await sandbox.tool(directory, "stack", "delete", "--yes");
  t.match(ended.stdout, new RegExp(`left: log service of npm start: ${said.source}`));
});

t.test("a removal from the sandbox ends the tokens of its stages, or lists them", slow(), async (t) => {
  const [sandbox, service] = [testSandbox(t), await startTestService(t)];
  const directory = t.testdir({ "tool.json": JSON.stringify({ name: "my-app" }), "index.html": "<p>hello</p>" });
  const folder = new SandboxFolder(sandbox.folder);
  const here = { url: service.running.url, token: service.owner, pageUrl: service.running.url };
  const tokens = async () =>
    (await service.call("get_tokens")).json.tokens
      .map(({ description }: { description: string }) => description)
      .filter((description: string) => description.startsWith("my-app, "));
  folder.writeLogService(here);
  t.equal((await sandbox.tool(directory, "deploy")).code, 0);
  t.same(await tokens(), ["my-app, staging"]);
  folder.removeLogService(here.url);
  const away = await sandbox.tool(directory, "stack", "delete", "--yes", "--logs");
  t.equal(away.code, 0, away.stderr);
  t.match(
    away.stdout,
    /left: log service token of staging: .* run tool stack delete --sandbox again while npm start runs/,
  );
  folder.writeLogService(here);
  const again = await sandbox.tool(directory, "stack", "delete", "--yes", "--logs");
  t.same([again.code, again.stdout], [0, "there is nothing of my-app in the sandbox\n"], again.stderr);
  t.same(await tokens(), []);
  t.same(folder.tokensOf("my-app"), []);
});

t.test("a mail that the service cannot send is said by the plan", slow(), async (t) => {
  const sandbox = testSandbox(t);
  const service = await startTestService(t, {
    notify: { mailer: undefined, sms: undefined, pagerdutyUrl: "http://127.0.0.1:9/", allowsPrivate: false },
  });
  const notifications = {
    ops: { type: "email", email_addresses: ["ops@example.com"] },
    night: { type: "sms", sms_numbers: ["+15550100"] },
    hook: LOGS.notifications.hook,
  };
  const alerts = { slow: { query: "duration > 1s", operator: ">", threshold: 3, notify: "ops" } };
  const directory = t.testdir({
    "tool.json": JSON.stringify({ name: "my-app", logs: { notifications, alerts } }),
    "index.html": "<p>hello</p>",
  });
  const folder = new SandboxFolder(sandbox.folder);
  folder.writeLogService({ url: service.running.url, token: service.owner, pageUrl: service.running.url });
  t.equal((await sandbox.tool(directory, "env", "set", `OPS_HOOK=${HOOK}`, "-s", "_service")).code, 0);
  const said = [
    "notification ops: notification.type: this service sends no mails: have its operator start it with --smtp",
    "notification night: notification.type: this service sends no text messages: have its operator start it with --sms",
  ];
  for (const command of ["plan", "apply"]) {
    const { code, stdout, stderr } = await sandbox.tool(directory, "stack", command);
    t.equal(code, 1, command);
    for (const line of said) t.ok(stderr.includes(line), `${command}: ${line}`);
    t.notMatch(stderr, /notification hook/);
    const restart = `TOOL_SMTP_URL=smtp://127.0.0.1:2525 TOOL_PUBLIC_URL=${service.running.url} npm start`;
    t.ok(stderr.includes(`here npm start is its operator: ${restart}\n`), stderr);
    if (command === "plan") t.match(stdout, /\+ alert slow/);
  }
  const { status } = await service.call("get_notifications", { project_id: "my_app" });
  t.equal(status, 404, "nothing was begun");
});

t.test("the sandbox applies to the log service that runs here", slow(), async (t) => {
  const [sandbox, service] = [testSandbox(t), await startTestService(t)];
  const logs = { service: "https://logs.example.com", ...LOGS };
  const directory = t.testdir({
    "tool.json": JSON.stringify({ name: "my-app", logs }),
    "index.html": "<p>hello</p>",
  });
  const none = await sandbox.tool(directory, "stack", "apply");
  t.equal(none.code, 0, none.stderr);
  t.match(none.stdout + none.stderr, 'of "logs" are left out: the sandbox has no log service (npm start,');
  const folder = new SandboxFolder(sandbox.folder);
  folder.writeLogService({ url: service.running.url, token: service.owner, pageUrl: service.running.url });
  for (const secret of [`OPS_HOOK=${HOOK}`, `PAGER_KEY=${KEY}`])
    t.equal((await sandbox.tool(directory, "env", "set", secret, "-s", "_service")).code, 0);
  const applied = await sandbox.tool(directory, "stack", "apply");
  t.equal(applied.code, 0, applied.stderr);
  t.match(applied.stderr, "the project my_app was not there yet: it was made first");
  const { alerts } = (await service.call("get_alerts", { project_id: "my_app" })).json;
  t.same(
    alerts.map(({ name, managed_by }: { name: string; managed_by: string }) => [name, managed_by]),
    ["errors", "quiet", "slow"].map((name) => [name, "my-app"]),
  );
});
