// The work of people with the web UI, from the first sign-in to an alert that is told, in thirty steps: in Chromium and
// in Firefox, with everything real: the command in a process of its own, a mail server, a receiver of webhooks, curl.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import type { AddEventsRequest, Operations } from "../../schema/rpc.generated.ts";
import { rpcClient } from "../../schema/rpc-client.ts";
import { type Receiver, startReceiver } from "../support/notify/receiver.ts";
import { requires } from "../support/require.ts";
import { startChromium } from "../support/ui/chromium.ts";
import type { BrowserDriver } from "../support/ui/driver.ts";
import { startFirefox } from "../support/ui/firefox.ts";
import { shopEvents } from "../support/ui/shop.ts";
import type { Window } from "../support/ui/window.ts";
import { ANN, BOB, confirmByMail, signInByMail, startWorld, type World } from "../support/ui/world.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);

/** The results that each step leaves for those that follow. */
interface Scenario extends World {
  readonly ann: Window;
  /** The token that the page made for sending. */
  token: string;
  /** When the events of the shop were sent. */
  nowMs: number;
  /** Takes webhooks. */
  readonly receiver: Receiver;
  readonly bob: Window;
  /** Ends what sends events for the alert. */
  stop: () => void;
}

type Step = (t: Test, scenario: Scenario) => Promise<void>;

const STEPS: Readonly<Record<string, Step>> = {
  "ann signs in by a mail and the code": signIn,
  "she makes the first project": makeProject,
  "one press makes a token, and curl as the page shows it sends the first event": sendFirst,
  "the explorer shows it, and what comes after": explore,
  "a query is completed by keys": complete,
  "a problem is mended by pressing its fix": mend,
  "a value of a facet is included, another one excluded": facets,
  "a drag over the histogram zooms in": zoom,
  "keys open an event": detail,
  "a filter is made from a value of the event": filterIn,
  "a field becomes a column": column,
  "what happened around the event": around,
  "the events of the same request": sameRequest,
  "back and forward go through all of it": backAndForward,
  "live events arrive, wait while the list is scrolled, and are let in": live,
  "a query with stages is a table, bars and lines": stages,
  "events are counted by a field": groupBy,
  "a webhook is told of by a test that really is sent": webhook,
  "the search on screen becomes an alert, which is previewed and tells by mail": makeAlert,
  "a colleague is invited, and accepts": invite,
  "the link to an event shows it to the colleague": eventLink,
  "a search is saved, and found by Ctrl-K": savedSearch,
  "what matches is exported as NDJSON and as CSV": exported,
  "what a spreadsheet would run is text in the CSV": exportedFormulas,
  "a message that is JSON is read as a tree": jsonMessage,
  "the range is typed, shifted and widened": ranges,
  "the list begins with the oldest": oldestFirst,
  "an API token is added, works, and is removed": apiToken,
  "the colleague becomes an admin": changeRole,
  "the audit shows all of it": audit,
  "the alert is triggered, and its mail leads to that search": triggered,
  "ann signs out": signOut,
};

t.jobs = 2;
const browsers: readonly (readonly [program: string, start: () => Promise<BrowserDriver>])[] = [
  ["chromium", startChromium],
  ["firefox-esr", startFirefox],
];
for (const [program, start] of browsers) {
  t.test(`in ${program}`, { skip: requires(program), buffered: true }, async (t) => {
    const browser = await start();
    t.teardown(() => browser.close());
    const world = await startWorld(t, browser);
    const [ann, bob] = [await world.newPerson(), await world.newPerson()];
    const receiver = await startReceiver(t);
    const scenario: Scenario = { ...world, ann, bob, receiver, token: "", nowMs: 0, stop: () => {} };
    t.teardown(() => scenario.stop());
    for (const [name, step] of Object.entries(STEPS)) {
      // Each step begins with what the one before it left.
      if (!t.passing()) break;
      await t.test(name, async (t) => {
        await step(t, scenario);
        t.same(scenario.faults(), [], "nothing went wrong unseen");
      });
    }
  });
}

async function signIn(t: Test, scenario: Scenario): Promise<void> {
  const { ann, service } = scenario;
  await ann.open(service.url);
  t.equal(ann.address(), "/sign-in");
  await signInByMail(scenario, ann, ANN);
  await ann.isAt("/t/owner/projects");
  await ann.sees("heading", "Projects");
}

async function makeProject(t: Test, { ann }: Scenario): Promise<void> {
  await ann.shows("No projects yet");
  await ann.press("button", "New project");
  await ann.fill("Name", "Web shop");
  await ann.shows("it is derived from the name: web_shop");
  await ann.fill("Id", "shop");
  await ann.press("button", "Create project");
  await ann.isAt("/t/owner/p/shop/start");
  await ann.sees("heading", "Send events");
  t.equal(await ann.evaluate("document.title"), "Send events · Web shop · Logs");
}

async function sendFirst(t: Test, scenario: Scenario): Promise<void> {
  const { ann } = scenario;
  await ann.press("button", "Create a token for sending");
  await ann.shows("It may send events to every project of the team, and nothing else.");
  const [token = "", command = ""] = await ann.texts(".code pre");
  t.match(command, `Bearer ${token}`);
  await ann.shows("Waiting for an event");
  const { stdout } = await run("bash", ["-c", command]);
  t.equal(stdout, "", "curl has no error to show");
  await ann.shows("Your first event has arrived.");
  t.match(await ann.text(".arrived"), /info hello$/);
  scenario.token = token;
  scenario.nowMs = Date.now();
  await sendTo(scenario, shopEvents(scenario.nowMs));
}

async function explore(t: Test, { ann }: Scenario): Promise<void> {
  await ann.press("link", "Explore events");
  await ann.isAt("/t/owner/p/shop/events");
  await ann.shows("121 events", ".summary");
  await ann.shows("10 errors", ".summary");
  t.ok(await ann.shows("hello", "#events"));
}

const CHOSEN = ".completions [aria-selected=true]";

async function complete(_: Test, { ann }: Scenario): Promise<void> {
  await ann.keys("/");
  await ann.write("stat");
  await ann.shows(/^status/m, ".completions");
  // An answer to what was typed before may still come.
  await ann.until("it is chosen", async () => {
    if ((await ann.text(CHOSEN)) === "") await ann.keys("ArrowDown");
    await new Promise((resolve) => setTimeout(resolve, 200));
    return (await ann.text(CHOSEN)).startsWith("status");
  });
  await ann.keys("Enter");
  await ann.write(" >= 50");
  await ann.write("0");
  await ann.keys("Control+Enter");
  await ann.isAt("/t/owner/p/shop/events?query=status >= 500");
  await ann.shows("10 events", ".summary");
}

async function mend(t: Test, { ann }: Scenario): Promise<void> {
  await ann.fill("Query", "status => 500", "combobox");
  await ann.shows("=>", ".query-problem");
  t.equal(ann.address(), "/t/owner/p/shop/events?query=status >= 500", "a wrong query is not run");
  await ann.press("button", "Use status >= 500", ".query-problem");
  await ann.until("no problem", async () => (await ann.text(".query-problem")) === "");

  // A condition that can never hold is doubted, and runs beside others all the same.
  await ann.fill("Query", 'status >= 500 or status = "5OO"', "combobox");
  await ann.keys("Control+Enter");
  await ann.shows("10 events", ".summary");
  await ann.shows(/^Status is a number in all of \d+ events; "5OO" is a text\./m, ".query-problem.is-doubt");
  await ann.press("button", "Use status >= 500 or status = 500", ".query-problem");
  await ann.until("no doubt", async () => (await ann.text(".query-problem")) === "");
  await ann.shows("10 events", ".summary");
}

async function facets(_: Test, { ann }: Scenario): Promise<void> {
  await ann.fill("Query", "", "combobox");
  await ann.keys("Control+Enter");
  await ann.shows("121 events", ".summary");
  await ann.press("button", "production", ".facets");
  await ann.shows("90 events", ".summary");
  await ann.press("button", "Not path /cart", ".facets");
  await ann.isAt(/query=stage = "production" and not path = "\/cart"$/);
  await ann.shows("60 events", ".summary");
}

async function zoom(t: Test, { ann }: Scenario): Promise<void> {
  await ann.driver.drag(await ann.place(".histogram .bars", 0.7), await ann.place(".histogram .bars", 0.9));
  await ann.isAt(/&start=.*&stop=/);
  await ann.shows(/^(?:[1-9]|[1-5]\d) events?/m, ".summary");
  await ann.driver.back();
  await ann.isAt(/not path = "\/cart"$/);
  await ann.shows("60 events", ".summary");
  t.pass();
}

async function detail(t: Test, { ann }: Scenario): Promise<void> {
  await ann.driver.open(shopUrl(ann, "?query=level >= error"));
  await ann.shows("10 events", ".summary");
  await ann.shows("upstream did not answer", "#events");
  for (const row of [0, 1, 2]) {
    await ann.keys("j");
    await ann.until("the next row", () =>
      ann.evaluate(`document.querySelector("#events-${row}[aria-selected=true]") !== null`),
    );
  }
  await ann.keys("Enter");
  await ann.shows("upstream did not answer", ".detail");
  // The third of the errors, from the newest.
  t.match(await ann.text(".detail"), /^error\n[\s\S]*POST \/cart 503[\s\S]*req_42/);
  await ann.isAt(/&event=/);
  await ann.keys("x");
  await ann.until("no detail", async () => (await ann.text(".detail")) === "");
  await ann.isAt("/t/owner/p/shop/events?query=level >= error");
}

async function filterIn(_: Test, { ann }: Scenario): Promise<void> {
  await ann.pressAt('.event[data-row="0"] .message');
  await ann.press("button", "Only events with path = /cart", ".detail");
  await ann.isAt(/\?query=level >= error and path = "\/cart"/);
  await ann.shows("10 events", ".summary");
  await ann.press("button", "No events with status = 503", ".detail");
  await ann.shows("No events match in this range");
  // The last change; the message of the one before may still be there.
  await ann.pressAt(".toast:last-child button");
  await ann.shows("10 events", ".summary");
}

async function column(t: Test, { ann }: Scenario): Promise<void> {
  await ann.driver.open(shopUrl(ann, "?query=status = 200"));
  await ann.shows("110 events", ".summary");
  await ann.pressAt('.event[data-row="1"] .message');
  await ann.menu("More for path", "Show as a column");
  await ann.isAt(/&columns=path/);
  await ann.menu("More for duration", "Show as a column");
  await ann.isAt(/&columns=path\nduration/);
  t.same(
    (await ann.texts(".event-names > *")).map((text) => text.replace(/\s*▾$/, "")),
    ["time", "level", "path", "duration", "message"],
  );
  t.same(await ann.texts('.event[data-row="1"] .column'), ["/checkout", "371"]);
  await ann.menu("Column duration", "Remove the column");
  await ann.isAt(/&columns=path&/);
}

async function around(t: Test, { ann }: Scenario): Promise<void> {
  await ann.press("button", "Context", ".detail");
  await ann.isAt(/\?start=.*&stop=.*&event=/);
  // Thirty seconds before it, what came after it, and the first event of all: no query leaves one of them out.
  await ann.shows("6 events", ".summary");
  t.match(await ann.text(".detail"), "GET /checkout 200", "the event stays open");
}

async function sameRequest(t: Test, { ann }: Scenario): Promise<void> {
  await ann.press("button", "Same request", ".detail");
  await ann.isAt(/query=fields\.id = "req_\d+"/);
  await ann.shows("2 events", ".summary");
  t.same((await ann.texts(".event .column")).sort(), ["/checkout", "/orders"]);
}

async function backAndForward(_: Test, { ann }: Scenario): Promise<void> {
  await ann.driver.back();
  await ann.shows("6 events", ".summary");
  await ann.driver.back();
  await ann.shows("110 events", ".summary");
  await ann.driver.forward();
  await ann.driver.forward();
  await ann.shows("2 events", ".summary");
  await ann.isAt(/query=fields\.id = "req_\d+"/);
}

async function live(t: Test, scenario: Scenario): Promise<void> {
  const { ann } = scenario;
  const send = (message: string) => sendTo(scenario, [{ level: "info" as const, message }]);
  await ann.driver.open(shopUrl(ann, ""));
  await ann.shows("events", ".summary");
  await ann.press("button", "Live");
  await ann.isAt("/t/owner/p/shop/events?live=1");
  await ann.shows("Live", ".live-line");
  await send("first of the live ones");
  await ann.shows("first of the live ones", '.event[data-row="0"]');
  await ann.driver.wheel(await ann.place("#events"), 400);
  await ann.until("the list is scrolled", async () => (await ann.evaluate<number>(TOP_ROW)) > 0);
  const top = await ann.text(`.event[data-row="${await ann.evaluate<number>(TOP_ROW)}"] .message`);
  await send("second of the live ones");
  await send("third of the live ones");
  await ann.sees("button", "↑ 2 new");
  t.equal(await ann.text(`.event[data-row="${await ann.evaluate<number>(TOP_ROW)}"] .message`), top, "nothing moved");
  await ann.press("button", "↑ 2 new");
  await ann.shows("third of the live ones", '.event[data-row="0"]');
  await ann.shows("second of the live ones", '.event[data-row="1"]');
  await ann.press("button", "Live");
  await ann.isAt("/t/owner/p/shop/events");
}

/** The row at the upper edge of the list. */
const TOP_ROW = 'Number(document.querySelector(".event")?.dataset.row)';

async function stages(t: Test, { ann }: Scenario): Promise<void> {
  await ann.fill("Query", "| timeseries 5m count() by path", "combobox");
  await ann.keys("Control+Enter");
  await ann.sees("button", "Table", ".result");
  await ann.until("the lines", () => ann.evaluate("document.querySelector('.chart-lines canvas') !== null"));
  t.match(await ann.text(".chart-lines"), "/checkout", "the legend names the groups");
  await ann.press("button", "Table", ".result");
  await ann.isAt(/&as=table$/);
  t.ok((await ann.texts(".result-table tbody tr")).length >= 12);
  await ann.fill("Query", "| count by path", "combobox");
  await ann.keys("Control+Enter");
  await ann.press("button", "Bars", ".result");
  await ann.isAt(/count by path&as=bars$/);
  await ann.shows("/checkout", ".result");
  t.match(await ann.text(".result"), /\/checkout[\s\S]*40/);
}

async function groupBy(t: Test, { ann }: Scenario): Promise<void> {
  await ann.driver.open(shopUrl(ann, "?query=status >= 200"));
  await ann.shows("120 events", ".summary");
  await ann.pressAt('.event[data-row="0"] .message');
  await ann.menu("More for stage", "Count by this field");
  await ann.isAt(/query=status >= 200 \| count by stage/);
  await ann.shows("2 rows", ".result");
  await ann.press("button", "Table", ".result");
  await ann.shows("production", ".result-table");
  t.same(
    (await ann.texts(".result-table tbody tr")).map((row) => row.trim().split(/\s+/)),
    [
      ["production", "90"],
      ["staging", "30"],
    ],
  );
  await ann.press("button", "staging", ".result-table");
  await ann.shows("30 events", ".summary");
}

async function webhook(t: Test, { ann, service, receiver }: Scenario): Promise<void> {
  await ann.open(`${service.url}/t/owner/p/shop/notifications`);
  await ann.press("link", "New notification");
  await ann.choose("Kind", "webhook");
  await ann.fill("Name", "Program of ours");
  await ann.fill("Webhook address", receiver.url);
  await ann.press("button", "Create notification");
  await ann.shows("whsec_", "dialog");
  await ann.press("button", "Done", "dialog");
  await ann.sees("heading", "Program of ours");
  await ann.press("button", "Send a test");
  await ann.shows("The test was delivered.");
  t.equal(receiver.requests.length, 1);
  t.match(receiver.requests[0], { path: "/hook", body: /TEST/i });
}

async function makeAlert(t: Test, scenario: Scenario): Promise<void> {
  const { ann } = scenario;
  await ann.open(shopUrl(ann, "?query=status >= 500"));
  await ann.shows("10 events", ".summary");
  await ann.menu("Save or share", "Alert on this search");
  await ann.isAt(/\/alerts\/new\?query=status >= 500/);
  await ann.choose("Condition", ">=");
  await ann.fill("Threshold", "1", "spinbutton");
  await ann.fill("Interval in minutes", "1", "spinbutton");
  // Ten errors, each two minutes after the one before.
  await ann.shows(/would have triggered 10 times/, ".preview");
  await ann.fill("Name", "Orders fail");
  await ann.choose("Severity", "critical");
  await ann.press("button", "New notification");
  await ann.choose("Kind", "email", "dialog");
  await ann.fill("Name", "On call", "textbox", "dialog");
  await ann.fill("Email addresses", "oncall@example.com", "textbox", "dialog");
  await ann.press("button", "Create notification");
  await ann.until("the dialog is closed", async () => (await ann.texts("dialog")).length === 0);
  await ann.press("button", "Create alert");
  await ann.isAt(/\/alerts\/(?!new)\w+$/);
  await ann.sees("heading", "Orders fail");
  t.notOk((await ann.text("#content")).includes("triggered now"));
  // From now on each minute has errors, while other steps go on.
  const send = () => void sendTo(scenario, [failure()]).catch(() => {});
  send();
  const timer = setInterval(send, 5_000);
  scenario.stop = () => clearInterval(timer);
}

const failure = () => ({
  level: "error" as const,
  message: "POST /pay 502: the bank does not answer",
  fields: { path: "/pay", status: 502, stage: "production" },
});

async function invite(t: Test, scenario: Scenario): Promise<void> {
  const { ann, bob, mailbox, service } = scenario;
  await ann.open(`${service.url}/t/owner/members`);
  await ann.press("button", "Invite member");
  await ann.fill("Address", BOB);
  await ann.press("button", "Send invite");
  await ann.shows(`${BOB} gets a mail with the invite`);
  const { link } = await mailbox.next(BOB);
  await bob.open(link);
  await bob.press("button", `Sign in as ${BOB} to join`);
  await bob.sees("heading", "Check your mail");
  await confirmByMail(mailbox, bob, BOB);
  await bob.press("button", "Join owner");
  await bob.sees("button", `${BOB}, you and the team`);
  await ann.driver.reload();
  await ann.shows("2 members");
  t.pass();
}

async function eventLink(t: Test, { ann, bob }: Scenario): Promise<void> {
  await ann.open(shopUrl(ann, '?query=fields.id = "req_24"'));
  await ann.shows("2 events", ".summary");
  await ann.pressAt('.event[data-row="1"] time');
  await ann.press("button", "Copy link", ".detail");
  await ann.shows("Link copied");
  // The copied text is read as a person does: by pasting it.
  await ann.keys("Control+k");
  await ann.sees("combobox", "Page, project or saved search");
  await ann.keys("Control+v");
  const link = await ann.until("the link", () => ann.evaluate<string>("document.querySelector('dialog input').value"));
  await ann.keys("Escape");
  await bob.open(link);
  await bob.shows("Context", ".detail");
  t.equal(await bob.text(".detail .tree"), await ann.text(".detail .tree"), "bob sees the same event");
  t.match(await bob.text(".detail"), "req_24");
}

async function savedSearch(_: Test, { ann }: Scenario): Promise<void> {
  await ann.open(shopUrl(ann, "?query=duration > 300"));
  await ann.shows("events", ".summary");
  await ann.menu("Save or share", "Save this search");
  await ann.fill("Name", "Slow requests", "textbox", "dialog");
  await ann.press("button", "Save", "dialog");
  await ann.shows("Saved Slow requests");
  await ann.keys("Control+k");
  await ann.sees("combobox", "Page, project or saved search");
  await ann.write("slow req");
  await ann.shows("saved search", "dialog");
  await ann.keys("Enter");
  await ann.isAt("/t/owner/p/shop/events?query=duration > 300");
}

async function exported(t: Test, { ann, service }: Scenario): Promise<void> {
  const query = 'path = "/orders"';
  await ann.open(shopUrl(ann, `?query=${query}&columns=path%0Astatus`));
  await ann.shows("40 events", ".summary");
  const { id: token } = await ann.call<{ id: string }>("add_token", { token: { scopes: ["events:read"] } });
  const body = {
    ...{ project_id: "shop", query, limit: 100 },
    ...{ start: new Date(Date.now() - 3_600_000).toISOString(), stop: new Date().toISOString() },
  };
  const headers = ["-H", `Authorization: Bearer ${token}`, "-H", "Content-Type: application/json"];
  const response = await run("curl", ["-sS", `${service.url}/search`, ...headers, "-d", JSON.stringify(body)]);
  const result: Operations["search"]["output"] = JSON.parse(response.stdout);
  const lines = await download(ann, "ndjson");
  t.match(lines.name, /^shop-.*\.ndjson$/);
  const events = lines.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  t.strictSame(events, result.events, "each event, as curl finds it");

  const table = await download(ann, "csv");
  t.match(table.name, /^shop-.*\.csv$/);
  const rows = rowsOf(table.text);
  t.match(rows[0], /^time,level,message,/);
  t.same(
    rows.slice(1).map((row) => row.split(",").slice(0, 3)),
    result.events.map(({ timestamp, level, message }) => [timestamp, level, message]),
  );
  t.equal(new URL(service.url).origin, new URL(ann.driver.url()).origin, "the page stayed");
}

async function download(
  ann: Window,
  format: "csv" | "ndjson",
): Promise<{ readonly name: string; readonly text: string }> {
  await ann.menu("Save or share", "Export");
  await ann.pressAt(`dialog label.check:has(input[name=format]):nth-child(${format === "csv" ? 1 : 2})`);
  return ann.downloaded(() => ann.press("button", "Download", "dialog"));
}

const rowsOf = (text: string) =>
  text
    .replace(/^\ufeff/, "")
    .trimEnd()
    .split("\r\n");

async function exportedFormulas(t: Test, scenario: Scenario): Promise<void> {
  const { ann } = scenario;
  const messages = ["=1+1", "+1", "-1 degree", "@SUM(A1)"];
  const nowMs = Date.now();
  const timestamp = (i: number) => new Date(nowMs - i).toISOString();
  const fields = { kind: "formula", cell: "=2+2", number: -7 };
  await sendTo(
    scenario,
    messages.map((message, i) => ({ level: "info" as const, message, fields, timestamp: timestamp(i) })),
  );
  await ann.open(shopUrl(ann, '?query=kind = "formula"&columns=cell%0Anumber'));
  await ann.shows("4 events", ".summary");
  const rows = rowsOf((await download(ann, "csv")).text).slice(1);
  t.same(
    rows.map((row) => row.split(",").slice(2)),
    messages.map((message) => [`'${message}`, "'=2+2", "-7"]),
    "the texts begin with an apostrophe, and the number is one",
  );
}

async function jsonMessage(t: Test, scenario: Scenario): Promise<void> {
  const { ann } = scenario;
  const deep = Array.from({ length: 20 }).reduce<unknown>(
    (inner, _, i) => ({ [`level_${20 - i}`]: inner }),
    "the deepest",
  );
  await sendTo(scenario, [{ level: "debug", message: JSON.stringify(deep) }]);
  await ann.open(shopUrl(ann, '?query=message contains "level_20"'));
  await ann.shows("1 event", ".summary");
  await ann.pressAt('.event[data-row="0"] .message');
  await ann.shows("the deepest", ".detail .in-message");
  t.equal((await ann.texts(".detail .in-message .fold")).length, 20, "each of the twenty is there");
  await ann.pressAt(".detail .in-message .leaf [aria-haspopup]");
  await ann.press("menuitem", "Copy the path");
  await ann.shows("Path copied");
  await ann.press("button", "Message as JSON", ".detail");
  await ann.until("the text alone", async () => (await ann.texts(".detail .in-message")).length === 0);
  t.match(await ann.text(".detail h2"), /"level_20":"the deepest"/);
  await ann.press("button", "Message as JSON", ".detail");
  await ann.shows("the deepest", ".detail .in-message");
}

async function ranges(t: Test, { ann }: Scenario): Promise<void> {
  await ann.open(shopUrl(ann, "?query=status = 200"));
  await ann.shows("110 events", ".summary");
  await ann.pressAt("button.range");
  await ann.fill("Custom range", "last 2h");
  await ann.keys("Enter");
  await ann.isAt(/query=status = 200&last=2h$/);
  await ann.shows("110 events", ".summary");
  await ann.press("button", "Earlier range");
  await ann.isAt(/&start=.*&stop=/);
  const spanOf = (): number => {
    const { searchParams } = new URL(ann.driver.url());
    return Date.parse(searchParams.get("stop")!) - Date.parse(searchParams.get("start")!);
  };
  t.equal(Math.round(spanOf() / 60_000), 120, "as long as before");
  const before = ann.address();
  await ann.press("button", "Wider range");
  await ann.until("another range", () => ann.address() !== before);
  t.ok(spanOf() > 3_600_000 * 2.5, "it is wider");
  await ann.driver.back();
  await ann.driver.back();
  await ann.isAt(/&last=2h$/);
  await ann.shows("110 events", ".summary");
}

async function oldestFirst(t: Test, { ann }: Scenario): Promise<void> {
  await ann.open(shopUrl(ann, "?query=status = 200"));
  await ann.shows("110 events", ".summary");
  const timeOf = (row: number) => ann.evaluate<string>(`document.querySelector("[data-row='${row}'] time").dateTime`);
  const newest = await timeOf(0);
  await ann.press("button", "View options");
  await ann.press("menuitemcheckbox", "Oldest first");
  await ann.isAt(/query=status = 200&order=oldest$/);
  await ann.until("the oldest in the first row", async () => (await timeOf(0)) < newest);
  t.ok((await timeOf(0)) <= (await timeOf(1)), "the next one is newer");
  await ann.pressAt('.event[data-row="0"] .message');
  await ann.isAt(/&order=oldest&event=/);
  const first = await ann.text(".detail time");
  await ann.press("button", "Newer event", ".detail");
  await ann.until("the next event", async () => (await ann.text(".detail time")) > first);
  await ann.driver.reload();
  await ann.until("its row again", () =>
    ann.evaluate("document.querySelector('#events-1[aria-selected=true]') !== null"),
  );
  await ann.driver.open(shopUrl(ann, "?query=status = 200&order=oldest"));
  await ann.shows("110 events", ".summary");
  await ann.evaluate("document.getElementById('events').focus()");
  await ann.keys("End");
  await ann.until("the newest in the last row", async () => (await timeOf(109)) === newest);
}

async function apiToken(t: Test, { ann, service }: Scenario): Promise<void> {
  await ann.open(`${service.url}/t/owner/projects`);
  await ann.menu(`${ANN}, you and the team`, "API tokens");
  await ann.isAt("/t/owner/tokens");
  await ann.press("button", "New token");
  await ann.fill("Description", "Reads for a report", "textbox", "dialog");
  await ann.press("checkbox", "events:read", "dialog");
  await ann.press("button", "Create token", "dialog");
  await ann.shows("it will not be shown again");
  const token = (await ann.text("dialog .code pre")).trim();
  await ann.press("button", "Done");
  await ann.shows("Reads for a report", "table");
  const count = () =>
    rpcClient({ url: service.url, token }).call("get_count", {
      ...{ project_id: "shop", query: "hello" },
      ...{ start: new Date(Date.now() - 3_600_000).toISOString(), stop: new Date().toISOString() },
    });
  t.match(await count(), { count: Number });
  await ann.press("button", "Remove Reads for a report");
  await ann.press("button", "Remove token", "dialog");
  await ann.until("it is gone", async () => !(await ann.text("table")).includes("Reads for a report"));
  t.equal(await count().catch(({ status }) => status), 401);
}

async function changeRole(_: Test, { ann, bob, service }: Scenario): Promise<void> {
  await ann.open(`${service.url}/t/owner/members`);
  await ann.choose(`Role of ${BOB}`, "admin");
  await ann.shows(`${BOB} is an admin now`);
  await bob.open(`${service.url}/t/owner/projects`);
  await bob.sees("button", "New project");
}

async function audit(t: Test, { ann, service }: Scenario): Promise<void> {
  await ann.open(`${service.url}/t/owner/projects`);
  await ann.menu(`${ANN}, you and the team`, "Audit");
  await ann.isAt("/t/owner/audit");
  const entryText = (await ann.shows(`changed the role of ${BOB} to admin`)).replace(/\s+/g, " ");
  for (const sentence of [
    `invited ${BOB} as member`,
    "accepted the invite to the team as member",
    "created the project Web shop",
    "created the API token Reads for a report",
    "removed the API token Reads for a report",
    "created the alert Orders fail",
    "created the notification On call",
    "created the search Slow requests",
    "tested the alert",
    "signed in",
  ])
    t.match(entryText, sentence);
}

/** An interval of a minute, and the jitter between alerts: by then its first evaluation that may trigger it is due. */
const DUE_MS = 120_000;

async function triggered(t: Test, scenario: Scenario): Promise<void> {
  const { ann, mailbox, service, stop } = scenario;
  const mailOf = () => mailbox.mails.find(({ to }) => to === "oncall@example.com");
  // The alert runs by the clock of the machine, as the service is one that people use.
  const dueMs = Date.now() + DUE_MS;
  await until(
    "the evaluation of the alert",
    () => mailOf() ?? Date.now() > dueMs,
    () => Math.round(Date.now() / 1_000),
  );
  const mail = await ann.until("the mail of the alert", mailOf);
  stop();
  t.match(mail.subject, "Orders fail");
  t.match(mail.text, "the bank does not answer", "with a sample");
  await ann.open(mail.link);
  await ann.isAt(/^\/t\/owner\/p\/shop\/events\?/);
  t.match(ann.address(), /[?&]query=status >= 500/);
  await ann.shows("the bank does not answer", "#events");
  await ann.open(`${service.url}/t/owner/p/shop/alerts`);
  await ann.press("link", "Orders fail");
  await ann.shows("delivered");
  t.match(await ann.text("#content"), /triggered/);
}

async function signOut(t: Test, { ann, service }: Scenario): Promise<void> {
  // The page may still be loading what she leaves.
  ann.faults.expect(/^401 POST .*\/(?:search|get_\w+)$/);
  await ann.menu(`${ANN}, you and the team`, "Sign out");
  await ann.isAt("/sign-in");
  await ann.shows("Email address");
  t.notMatch(await ann.text(), "Your session has ended", "whoever signs out knows why");
  await ann.open(`${service.url}/t/owner/p/shop/events`);
  t.match(ann.address(), /^\/sign-in\?next=/);
}

/** The address of the explorer with this query of an address. */
function shopUrl(ann: Window, search: string): string {
  return new URL(`/t/owner/p/shop/events${search}`, ann.driver.url()).href;
}

async function sendTo({ service, token }: Scenario, events: AddEventsRequest["events"]): Promise<void> {
  await rpcClient({ url: service.url, token }).call("add_events", { project_id: "shop", events });
}
