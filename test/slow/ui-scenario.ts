// What people do with the web UI, from the first sign-in to an alert that is told, in thirty steps: in Chromium and in
// Firefox, with everything real: the command in a process of its own, a mail server, a receiver of webhooks, curl.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { rpcClient } from "../../schema/rpc-client.ts";
import { requires } from "../support/require.ts";
import { startChromium } from "../support/ui/chromium.ts";
import type { BrowserDriver } from "../support/ui/driver.ts";
import { startFirefox } from "../support/ui/firefox.ts";
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
  await ann.sees("heading", "First team");
}

async function makeProject(t: Test, { ann }: Scenario): Promise<void> {
  await ann.shows("No projects yet");
  await ann.press("button", "Make a project");
  await ann.fill("Name", "Web shop");
  await ann.shows("it is made from the name: web_shop");
  await ann.fill("Id", "shop");
  await ann.press("button", "Make the project");
  await ann.isAt("/t/owner/p/shop/start");
  await ann.sees("heading", "Send events");
  t.equal(await ann.evaluate("document.title"), "Web shop · Logs");
}

async function sendFirst(t: Test, scenario: Scenario): Promise<void> {
  const { ann, service } = scenario;
  await ann.press("button", "Make a token for sending");
  await ann.shows("It may send events and nothing else.");
  const [token = "", command = ""] = await ann.texts(".code pre");
  t.match(command, `Bearer ${token}`);
  await ann.shows("Waiting for the first event");
  const { stdout } = await run("bash", ["-c", command]);
  t.equal(stdout, "", "curl has no error to show");
  await ann.shows("An event has arrived.");
  t.match(await ann.text(".arrived"), /info hello$/);
  scenario.token = token;
  scenario.nowMs = Date.now();
  const client = rpcClient({ url: service.url, token });
  await client.call("add_events", { project_id: "shop", events: shopEvents(scenario.nowMs) });
}

/** Twenty minutes of a shop: an event each ten seconds, of which each twelfth is an error. */
function shopEvents(nowMs: number) {
  return Array.from({ length: 120 }, (_, i) => {
    const isBad = i % 12 === 0;
    const path = ["/cart", "/checkout", "/orders"][i % 3]!;
    return {
      timestamp: new Date(nowMs - (120 - i) * 10_000).toISOString(),
      level: isBad ? ("error" as const) : ("info" as const),
      message: isBad ? `POST ${path} 503: upstream did not answer` : `GET ${path} 200`,
      fields: {
        id: `req_${i >> 1}`,
        path,
        status: isBad ? 503 : 200,
        duration: 5 + ((i * 37) % 400),
        stage: i % 4 === 3 ? "staging" : "production",
      },
    };
  });
}

async function explore(t: Test, { ann }: Scenario): Promise<void> {
  await ann.press("link", "Explore them");
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
  await ann.write(">= 50");
  await ann.write("0");
  await ann.keys("Control+Enter");
  await ann.isAt("/t/owner/p/shop/events?query=status >= 500");
  await ann.shows("10 events", ".summary");
}

async function mend(t: Test, { ann }: Scenario): Promise<void> {
  await ann.fill("Query", "status => 500", "combobox");
  await ann.shows("=>", ".query-problem");
  t.equal(ann.address(), "/t/owner/p/shop/events?query=status >= 500", "a wrong query is not run");
  await ann.press("button", "status >= 500", ".query-problem");
  await ann.until("no problem", async () => (await ann.text(".query-problem")) === "");
}

async function facets(_: Test, { ann }: Scenario): Promise<void> {
  await ann.fill("Query", "", "combobox");
  await ann.keys("Control+Enter");
  await ann.shows("121 events", ".summary");
  await ann.press("button", "production", ".facets");
  await ann.shows("90 events", ".summary");
  await ann.press("button", "Not /cart", ".facets");
  await ann.isAt(/query=stage = production and path != \/cart$/);
  await ann.shows("60 events", ".summary");
}

async function zoom(t: Test, { ann }: Scenario): Promise<void> {
  await ann.driver.drag(await ann.place(".histogram .bars", 0.7), await ann.place(".histogram .bars", 0.9));
  await ann.isAt(/&start=.*&stop=/);
  await ann.shows(/^(?:[1-9]|[1-5]\d) events?/m, ".summary");
  await ann.driver.back();
  await ann.isAt(/path != \/cart$/);
  await ann.shows("60 events", ".summary");
  t.pass();
}
