// The web UI over texts of people who mean harm: messages, names and values of fields, names of projects, searches, alerts,
// notifications and tokens, and addresses. Nothing runs, nothing hides, nothing is asked of others, and the page goes on.
// Steps that load a page for each text take each third one in Firefox and the others in Chromium, and all of them in both with
// UI_HOSTILE=all (`npm run hostile:ui`).
import t, { type Test } from "tap";
import type { NewEvent } from "../../schema/rpc.generated.ts";
import { requires } from "../support/require.ts";
import { startChromium } from "../support/ui/chromium.ts";
import type { BrowserDriver } from "../support/ui/driver.ts";
import { startFirefox } from "../support/ui/firefox.ts";
import { HOSTILE_FINDINGS, HOSTILE_TEXTS, PROTOTYPE_NAMES } from "../support/ui/hostile-texts.ts";
import type { Window } from "../support/ui/window.ts";
import { firstOwner, startWorld, TEAM, type World } from "../support/ui/world.ts";

t.jobs = 2;
const ROWS = Object.entries(HOSTILE_TEXTS).map(([name, { text, shows }]) => ({ name, text, shows }));
/** The texts of a step that loads a page for each: what the page's own code makes of them is the same in every browser. */
const loadedRows = (browser: string) =>
  [...ROWS.entries()].filter(
    ([row]) => process.env.UI_HOSTILE === "all" || (browser === "firefox-esr") === (row % 3 === 0),
  );
/** The service takes no event with more, nor a deeper one. */
const MOST_FIELDS = 250;
const MOST_DEPTH = 10;
const EVENTS = `/t/${TEAM}/p/hostile/events`;

const browsers: readonly (readonly [program: string, start: () => Promise<BrowserDriver>])[] = [
  ["chromium", startChromium],
  ["firefox-esr", startFirefox],
];
for (const [program, start] of browsers) {
  t.test(`in ${program}`, { skip: requires(program), buffered: true }, async (t) => {
    const browser = await start();
    t.teardown(() => browser.close());
    const world = await startWorld(t, browser);
    const window = await firstOwner(world);
    await fill(window);
    const steps: Readonly<Record<string, (t: Test, world: World, window: Window, browser: string) => Promise<void>>> = {
      "each message in the list, and in the event": listAndDetail,
      "each name of a field among the fields, in the completion and as a column": fieldNames,
      "names of prototypes are fields like others": prototypeNames,
      "a long message, many fields and deep ones": large,
      "each text in an address": addresses,
      "each page with names of that kind": pages,
    };
    for (const [name, step] of Object.entries(steps)) {
      await t.test(name, async (t) => {
        await step(t, world, window, program);
        t.same(world.faults(), [], "nothing ran, and nothing went elsewhere");
      });
    }
  });
}

/** An event for each text: as its message, as a value, as a name of a field and as a value in a list. */
async function fill(window: Window): Promise<void> {
  const project_id = "hostile";
  // The override is in a name that is shown in menus, titles and dialogs.
  const name = (kind: string) => `${kind}<img src=x onerror=__ran('${kind}')>\u202etxt.${kind}\u0007`;
  await window.call("add_project", {
    project: { id: project_id, name: name("project"), description: name("described") },
  });
  await window.call("add_project", { project: { id: "odd", name: "__proto__" } });
  const nowMs = Date.now();
  const events: NewEvent[] = ROWS.map(({ text }, i) => ({
    timestamp: new Date(nowMs - 60_000 - i * 1_000).toISOString(),
    level: "info" as const,
    message: text,
    fields: { text, row: i, nested: { list: [text, { text }] }, [text]: "named" },
  }));
  const deep = (depth: number): Record<string, unknown> =>
    depth === 0 ? { end: "the deepest" } : { [`level${depth}`]: deep(depth - 1) };
  // A literal would set the prototype.
  const odd = JSON.parse(`{${PROTOTYPE_NAMES.map((key) => `"${key}": {"polluted": "${key}"}`).join()}}`);
  events.push(
    { timestamp: new Date(nowMs - 3_600_000 * 3).toISOString(), level: "info", message: "odd names", fields: odd },
    {
      timestamp: new Date(nowMs - 3_600_000 * 4).toISOString(),
      level: "info",
      message: `a long line ${"<b>0123456789".repeat(80_000)}`,
      fields: {},
    },
    {
      timestamp: new Date(nowMs - 3_600_000 * 5).toISOString(),
      level: "info",
      message: "many fields",
      fields: Object.fromEntries(Array.from({ length: MOST_FIELDS }, (_, i) => [`field${i}`, `value ${i}`])),
    },
    {
      timestamp: new Date(nowMs - 3_600_000 * 6).toISOString(),
      level: "info",
      message: "deep",
      fields: deep(MOST_DEPTH - 1),
    },
  );
  // One by one, so that one that is refused is named.
  for (const event of events) {
    // A report says what was refused.
    const report = await window.call<object | undefined>("add_events", { project_id, events: [event] });
    if (report !== undefined) throw new Error(`${event.message.slice(0, 40)}: ${JSON.stringify(report)}`);
  }
  await window.call("add_search", {
    search: { project_id, name: name("search"), query: `"\u202e<script>__ran(1)</script>"` },
  });
  const { id } = await window.call<{ id: string }>("add_notification", {
    notification: { project_id, name: name("notification"), type: "email", email_addresses: ["a@example.com"] },
  });
  await window.call("add_alert", {
    alert: {
      ...{ project_id, name: name("alert"), description: name("description"), query: `text = "<script>\u202e"` },
      ...{ severity: "error", operator: ">", threshold: 5, notification_id: id },
    },
  });
  await window.call("add_token", { token: { description: name("token"), scopes: ["events:write"] } });
}

const isUnharmed = async (t: Test, window: Window, what: string) =>
  t.same(await window.evaluate(HOSTILE_FINDINGS), [], `${what}: nothing hides, nothing is of others`);

async function listAndDetail(t: Test, { service }: World, window: Window, browser: string): Promise<void> {
  await window.open(`${service.url}${EVENTS}`);
  await window.shows(`${ROWS.length} events`, ".summary");
  await isUnharmed(t, window, "the list");
  const messages: string[] = [];
  // The list draws what is visible only.
  for (let row = 0; row < ROWS.length; row++) {
    await window.keys(row === 0 ? "j" : "ArrowDown");
    if (row === 0) await window.keys("ArrowDown");
    messages.push(await window.text(`.event[data-row="${row}"] .message > .text`));
  }
  t.same(
    messages,
    ROWS.map(({ shows }) => shows),
    "every message is read as it is",
  );

  // The open event follows the keys, back to the first one.
  await window.keys("Enter");
  for (const { name, shows } of ROWS.toReversed()) {
    await window.shows(shows, ".detail h2");
    t.match(await window.text(".detail .tree"), shows, `${name}: the value in the event`);
    await isUnharmed(t, window, `${name} in the event`);
    await window.keys("ArrowUp");
  }

  // The query that the button makes of the value must find just this event again.
  await window.keys("x");
  for (const [row, { name, text, shows }] of ROWS.entries()) {
    // To load the page for each would take minutes.
    await window.fill("Query", `row = ${row}`, "combobox");
    await window.keys("Control+Enter");
    await window.isAt(new RegExp(`query=row = ${row}$`));
    await window.shows(shows, '.event[data-row="0"] .message');
    await window.pressAt('.event[data-row="0"] time');
    await window.shows(shows, ".detail h2");
    await window.pressAt('.detail .tree .leaf:nth-child(2) [title="Only this value"]');
    await window.until("the filter", () => window.address().includes(" and text = "));
    // The box is drawn a moment after the address has it.
    await window.shows("text =", ".query-mirror");
    await window.shows("1 event", ".summary");
    await window.shows(shows, '.event[data-row="0"] .message');
    await isUnharmed(t, window, `${name} as a filter in the query box`);
    // Letters that are read from the right stay so.
    if (!/\p{Script=Hebrew}|\p{Script=Arabic}/u.test(text))
      t.equal(await window.evaluate(TURNED), "", `${name}: each character of the query is after the one before it`);
  }

  // A query that is pasted, and one that a link brings, finds the same and hides nothing.
  for (const [row, { name, text, shows }] of loadedRows(browser)) {
    // A quote would end the text, and a line end cannot be in one.
    if (/["\\\r\n*]/.test(text)) continue;
    const pasted = `row = ${row} and text = "${text}"`;
    await window.open(`${service.url}${EVENTS}?query=${encodeURIComponent(pasted)}`);
    await window.shows("1 event", ".summary");
    await window.shows(shows, '.event[data-row="0"] .message');
    await isUnharmed(t, window, `${name} in a query of a link`);
    await window.fill("Query", "", "combobox");
    await window.fill("Query", pasted, "combobox");
    await isUnharmed(t, window, `${name} in a query that is pasted`);
    const [box, mirror] = await window.evaluate<[string, string]>(
      "[document.querySelector('.query-text').value, document.querySelector('.query-mirror').textContent]",
    );
    t.equal(mirror, `${box}\n`, `${name}: the colours are of the same text`);
  }
}

/** The text before the first character of the query that is drawn left of the one before it, on the same line. */
const TURNED = `(() => {
  const walker = document.createTreeWalker(document.querySelector(".query-mirror"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let last;
  let read = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let at = 0; at < node.data.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const place = range.getBoundingClientRect();
      read += node.data[at];
      if (place.width === 0) continue;
      const isSameLine = last !== undefined && Math.abs(place.bottom - last.bottom) < 10;
      if (isSameLine && place.left < last.left - 1) return read;
      last = place;
    }
  }
  return read.includes("text") ? "" : "no query is drawn";
})()`;

async function fieldNames(t: Test, { service }: World, window: Window): Promise<void> {
  await window.open(`${service.url}${EVENTS}`);
  await window.shows(`${ROWS.length} events`, ".summary");
  const names = await window.until("the fields", async () => {
    const texts = await window.texts(".facets .fold .name");
    return texts.length >= ROWS.length ? texts : undefined;
  });
  // A name that is no word is written as a query takes it, with escapes for what would not be seen.
  const quoted = names.flatMap((name) => (name.startsWith("fields[") ? [JSON.parse(name.slice(7, -1))] : []));
  t.same(quoted.sort(), ROWS.map(({ text }) => text).sort(), "each name of a field, as it is");
  // Every fold is opened, so that values are drawn as well.
  await window.evaluate(
    "document.querySelectorAll('.facets .fold[aria-expanded=false]').forEach((fold) => fold.click())",
  );
  await window.until("the values", async () => (await window.texts(".facet-values")).length >= ROWS.length);
  await isUnharmed(t, window, "the fields");

  await window.fill("Query", "", "combobox");
  await window.keys("Control+ ");
  await window.shows("path", ".completions").catch(() => {});
  await isUnharmed(t, window, "the completion of fields");
  await window.fill("Query", "text = ", "combobox");
  await window.until("values", async () => (await window.text(".completions")) !== "");
  await isUnharmed(t, window, "the completion of values");
  await window.keys("Escape");

  const columns = ROWS.map(({ text }) => text).filter((text) => !text.includes("\n"));
  await window.open(`${service.url}${EVENTS}?${new URLSearchParams({ columns: columns.join("\n") })}`);
  await window.until("the columns", async () => (await window.texts(".event-names > *")).length > columns.length);
  await isUnharmed(t, window, "the columns");
}

async function prototypeNames(t: Test, { service }: World, window: Window): Promise<void> {
  await window.open(`${service.url}${EVENTS}?last=6h&query=${encodeURIComponent('"odd names"')}`);
  await window.shows("1 event", ".summary");
  await window.pressAt('.event[data-row="0"] time');
  await window.shows("odd names", ".detail h2");
  const tree = await window.text(".detail .tree");
  for (const name of PROTOTYPE_NAMES) t.match(tree, new RegExp(`${name}[\\s\\S]*polluted[\\s\\S]*${name}`));
  await isUnharmed(t, window, "the event");
  await window.press("button", "Raw", ".detail");
  t.match(await window.text(".detail .raw"), `"__proto__"`);
}

async function large(t: Test, { service }: World, window: Window): Promise<void> {
  await window.open(`${service.url}${EVENTS}?last=1d&query=${encodeURIComponent('message contains "a long line"')}`);
  await window.shows("1 event", ".summary");
  await window.pressAt('.event[data-row="0"] time');
  await window.shows("The message was too long. Only its beginning was stored.", ".detail");
  await window.pressAt(".detail h2 button");
  await window.shows("Show less", ".detail h2");
  await window.press("button", "View options");
  await window.press("menuitemcheckbox", "Wrap long messages");
  await window.until("a part of it in the list", async () => (await window.text(".event .message")).length > 2_000);
  await window.keys("w");
  await isUnharmed(t, window, "the long line");

  await window.open(`${service.url}${EVENTS}?last=1d&query=${encodeURIComponent('"many fields"')}`);
  await window.shows("1 event", ".summary");
  await window.pressAt('.event[data-row="0"] time');
  await window.shows(`value ${MOST_FIELDS - 1}`, ".detail");

  await window.open(`${service.url}${EVENTS}?last=1d&query=${encodeURIComponent('message = "deep"')}`);
  await window.shows("1 event", ".summary");
  await window.pressAt('.event[data-row="0"] time');
  await window.shows(`level${MOST_DEPTH - 1}`, ".detail");
  for (let level = MOST_DEPTH; level > 0 && !(await window.text(".detail")).includes("the deepest"); level--)
    await window.pressAt('.detail .fold[aria-expanded="false"]');
  await window.shows("the deepest", ".detail");
}

async function addresses(t: Test, { service }: World, window: Window, browser: string): Promise<void> {
  // A query that the grammar takes may mean nothing to the service, which says so.
  window.faults.expect(/^400 POST .*\/(?:search|get_level_timeseries)$/);
  for (const [, { name, text }] of loadedRows(browser)) {
    const parameters = new URLSearchParams({
      query: text,
      event: text,
      columns: text,
      last: text,
      start: text,
      as: text,
    });
    await window.open(`${service.url}${EVENTS}?${parameters}`);
    await window.sees("combobox", "Query");
    await isUnharmed(t, window, `${name} in the query of an address`);
  }
  for (const text of [HOSTILE_TEXTS["a script"]!.text, HOSTILE_TEXTS["an override of the order"]!.text, "%00"]) {
    window.faults.expect(/^40[034] GET .*\/t\//);
    await window.open(`${service.url}/t/${encodeURIComponent(text)}/p/${encodeURIComponent(text)}/events`);
    await window.until("what it shows", async () => (await window.text("body")).length > 0);
    await isUnharmed(t, window, `${JSON.stringify(text)} in the path of an address`);
  }
}

async function pages(t: Test, { service }: World, window: Window): Promise<void> {
  const ofProject = ["searches", "alerts", "notifications", "settings", "start"].map((name) => `p/hostile/${name}`);
  for (const path of ["projects", "members", "tokens", "audit", ...ofProject]) {
    await window.open(`${service.url}/t/${TEAM}/${path}`);
    await window.until("what it shows", async () => /Loading/.test(await window.text("#content")) === false);
    await window.until("a heading", async () => (await window.text("h1")) !== "");
    await isUnharmed(t, window, path);
  }
  await window.open(`${service.url}${EVENTS}`);
  await window.shows("events", ".summary");
  await window.keys("Control+k");
  await window.shows("saved search");
  await isUnharmed(t, window, "the search over pages");
  await window.keys("Escape");
  // The page still does what it is for.
  await window.fill("Query", "row < 5", "combobox");
  await window.keys("Control+Enter");
  await window.shows("5 events", ".summary");
}
