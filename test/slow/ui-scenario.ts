// What people do with the web UI, from the first sign-in to an alert that is told, in thirty steps: in Chromium and in
// Firefox, with everything real: the command in a process of its own, a mail server, a receiver of webhooks, curl.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import type { AddEventsRequest } from "../../schema/rpc.generated.ts";
import { rpcClient } from "../../schema/rpc-client.ts";
import { requires } from "../support/require.ts";
import { startChromium } from "../support/ui/chromium.ts";
import type { BrowserDriver } from "../support/ui/driver.ts";
import { startFirefox } from "../support/ui/firefox.ts";
import { shopEvents } from "../support/ui/shop.ts";
import type { Window } from "../support/ui/window.ts";
import { ANN, signInByMail, startWorld, type World } from "../support/ui/world.ts";

const run = promisify(execFile);

const TIMEOUT_MS = 420_000;

/** What each step leaves for those that follow. */
interface Scenario extends World {
  readonly ann: Window;
  /** The token that the page made for sending. */
  token: string;
  /** When the events of the shop were sent. */
  nowMs: number;
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
};

t.jobs = 2;
t.setTimeout(TIMEOUT_MS);

const browsers: readonly (readonly [program: string, start: () => Promise<BrowserDriver>])[] = [
  ["chromium", startChromium],
  ["firefox-esr", startFirefox],
];
for (const [program, start] of browsers) {
  t.test(`in ${program}`, { skip: requires(program), timeout: TIMEOUT_MS, buffered: true }, async (t) => {
    const browser = await start();
    t.teardown(() => browser.close());
    const world = await startWorld(t, browser);
    const scenario: Scenario = { ...world, ann: await world.newPerson(), token: "", nowMs: 0 };
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
  t.equal(await ann.evaluate("document.title"), "Web shop · Logs");
}

async function sendFirst(t: Test, scenario: Scenario): Promise<void> {
  const { ann } = scenario;
  await ann.press("button", "Create a token for sending");
  await ann.shows("It may send events and nothing else.");
  const [token = "", command = ""] = await ann.texts(".code pre");
  t.match(command, `Bearer ${token}`);
  await ann.shows("Waiting for the first event");
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
  t.match(await ann.text("#events"), "hello");
}

async function complete(_: Test, { ann }: Scenario): Promise<void> {
  await ann.keys("/");
  await ann.write("stat");
  await ann.shows(/^status/m, ".completions");
  await ann.keys("ArrowDown", "Enter");
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
}

async function facets(_: Test, { ann }: Scenario): Promise<void> {
  await ann.fill("Query", "", "combobox");
  await ann.keys("Control+Enter");
  await ann.shows("121 events", ".summary");
  await ann.press("button", "production", ".facets");
  await ann.shows("90 events", ".summary");
  await ann.press("button", "Not /cart", ".facets");
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
  await ann.keys("j", "j", "j", "Enter");
  await ann.shows("upstream did not answer", ".detail");
  // The first key goes to the list, and the others from event to event: the second of the errors.
  t.match(await ann.text(".detail"), /^error\n[\s\S]*POST \/cart 503[\s\S]*req_48/);
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
    (await ann.texts(".event-head > span")).map((text) => text.replace(/\s*✕$/, "")),
    ["time", "level", "path", "duration", "message"],
  );
  t.same(await ann.texts('.event[data-row="1"] .column'), ["/checkout", "371"]);
  await ann.press("button", "Remove the column duration");
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
  await ann.until("the list is scrolled", async () => (await ann.evaluate<number>(TOP_ROW)) > 3);
  const top = await ann.text(`.event[data-row="${await ann.evaluate<number>(TOP_ROW)}"] .message`);
  await send("second of the live ones");
  await send("third of the live ones");
  await ann.sees("button", "2 new");
  t.equal(await ann.text(`.event[data-row="${await ann.evaluate<number>(TOP_ROW)}"] .message`), top, "nothing moved");
  await ann.press("button", "2 new");
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

/** The address of the explorer with this query of an address. */
function shopUrl(ann: Window, search: string): string {
  return new URL(`/t/owner/p/shop/events${search}`, ann.driver.url()).href;
}

async function sendTo({ service, token }: Scenario, events: AddEventsRequest["events"]): Promise<void> {
  await rpcClient({ url: service.url, token }).call("add_events", { project_id: "shop", events });
}
