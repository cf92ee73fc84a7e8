// Every page of the web UI as people with other eyes and hands meet it: axe-core in both colours, wide and on a telephone,
// what the accessibility tree says, and the whole way from signing in to an alert by the keyboard alone. With PICTURES=DIR
// it keeps a picture of each page at each width in both colours.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import t, { type Test } from "tap";
import { root } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { type ChromiumPage, startChromium } from "../support/ui/chromium.ts";
import { startFirefox } from "../support/ui/firefox.ts";
import { fillShop, type Shop } from "../support/ui/shop.ts";
import { stopsOfTab } from "../support/ui/tab-stops.ts";
import type { Window } from "../support/ui/window.ts";
import { ANN, firstOwner, startWorld, TEAM, type World } from "../support/ui/world.ts";
import { until } from "../support/until.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface PageRow {
  readonly path: (shop: Shop) => string;
  /** The text that is shown when the page is whole. */
  readonly shows: string | RegExp;
  /** The title of the window; the usual one unless told otherwise. */
  readonly title?: RegExp;
  /** Opens what is not open at first. */
  readonly open?: (window: Window) => Promise<void>;
}

const P = `/t/${TEAM}/p/shop`;

const TOP_ROW = 'Number(document.querySelector(".event")?.dataset.row)';

/** Each page, and what can be opened on it. */
const PAGES: Readonly<Record<string, PageRow>> = {
  projects: { path: () => `/t/${TEAM}/projects`, shows: "Web shop" },
  "new project": {
    path: () => `/t/${TEAM}/projects`,
    shows: "Days to keep events",
    open: (window) => window.press("button", "New project"),
  },
  explorer: { path: () => `${P}/events`, shows: /events[\s\S]*checkout/ },
  "an open event": {
    path: () => `${P}/events?query=level >= error`,
    shows: "Same request",
    open: (window) => window.pressAt('.event[data-row="0"] .message'),
  },
  "held live events": {
    path: () => `${P}/events?live=1`,
    shows: "1 new",
    async open(window) {
      await window.shows("Live", ".live-line");
      await window.driver.wheel(await window.place("#events"), 400);
      await window.until("the list is scrolled", async () => (await window.evaluate<number>(TOP_ROW)) > 0);
      const event = { level: "info" as const, message: "one more" };
      await window.call("add_events", { project_id: "shop", events: [event] });
    },
  },
  "range menu": {
    path: () => `${P}/events`,
    shows: "Local time",
    open: (window) => window.pressAt("button.range"),
  },
  "texts of all kinds": {
    path: () => `/t/${TEAM}/p/odd/events`,
    shows: "שגיאה",
    open: (window) => window.pressAt('.event[data-row="1"] .message'),
  },
  "JSON 20 levels deep": {
    path: () => `/t/${TEAM}/p/odd/events?query=${encodeURIComponent('message contains "level_1"')}`,
    shows: "the deepest",
    open: (window) => window.pressAt('.event[data-row="0"] .message'),
  },
  "a wrong query": { path: () => `${P}/events?query=${encodeURIComponent("status => 500")}`, shows: "=>" },
  "nothing found": { path: () => `${P}/events?query=nothinghasthis`, shows: "Show every event of this range" },
  table: { path: () => `${P}/events?query=${encodeURIComponent("| count by path")}&as=table`, shows: "/checkout" },
  bars: { path: () => `${P}/events?query=${encodeURIComponent("| count by path")}&as=bars`, shows: "/checkout" },
  lines: {
    path: () => `${P}/events?query=${encodeURIComponent("| timeseries 5m count() by path")}&as=lines`,
    shows: "/checkout",
  },
  "send events": { path: () => `${P}/start`, shows: "Waiting for an event" },
  settings: { path: () => `${P}/settings`, shows: "Remove project" },
  tokens: { path: () => `/t/${TEAM}/tokens`, shows: "Sends events to the shop" },
  "new token": {
    path: () => `/t/${TEAM}/tokens`,
    shows: "notifications",
    open: (window) => window.press("button", "New token"),
  },
  searches: { path: () => `${P}/searches`, shows: "Failed orders" },
  alerts: { path: () => `${P}/alerts`, shows: "Orders fail" },
  "new alert": { path: () => `${P}/alerts/new?query=status`, shows: "The last 7 days" },
  alert: { path: ({ alertId }) => `${P}/alerts/${alertId}`, shows: "History" },
  notifications: { path: () => `${P}/notifications`, shows: "On call" },
  "new notification": { path: () => `${P}/notifications/new`, shows: "Create notification" },
  notification: { path: ({ notificationId }) => `${P}/notifications/${notificationId}`, shows: "Send a test" },
  // The address is in the bar, before the page is there.
  members: { path: () => `/t/${TEAM}/members`, shows: "Invite member" },
  "invite a member": {
    path: () => `/t/${TEAM}/members`,
    shows: "Role",
    open: (window) => window.press("button", "Invite member"),
  },
  usage: { path: () => `/t/${TEAM}/usage`, shows: "used on the disk" },
  audit: { path: () => `/t/${TEAM}/audit`, shows: "created the project" },
  "the query language": { path: () => "/help/language", shows: "status" },
  find: { path: () => `${P}/events`, shows: "Query language", open: (window) => window.keys("Control+k") },
  keys: { path: () => `${P}/events`, shows: "Wrap long messages", open: (window) => window.keys("?") },
  "the person's menu": {
    path: () => `${P}/events`,
    shows: "Sign out",
    open: (window) => window.press("button", `${ANN}, you and the team`),
  },
  "a project that is not": { path: () => `/t/${TEAM}/p/gone/settings`, shows: "There is no such project" },
  "a team of others": { path: () => "/t/others/projects", shows: "You are not in the team" },
};

t.test("every page in Chromium", { skip: requires("chromium") }, async (t) => {
  const { world, window, shop } = await openShop(t);
  await fillOdd(window);
  for (const [name, row] of Object.entries(PAGES)) {
    await t.test(name, async (t) => {
      await window.driver.size(...WIDE);
      await window.open(world.service.url + row.path(shop));
      await window.until("the page", async () => (await window.text("h1")) !== "");
      await row.open?.(window);
      await window.shows(row.shows);
      await looksRight(t, window, name, row);
      t.same(world.faults(), [], "nothing went wrong unseen");
    });
  }
});

/** A service with a project of events, and Chromium signed in to it. */
interface OpenShop {
  readonly world: World;
  readonly window: Window;
  readonly shop: Shop;
}

async function openShop(t: Test, options: Parameters<typeof startChromium>[0] = {}): Promise<OpenShop> {
  const browser = await startChromium(options);
  t.teardown(() => browser.close());
  const world = await startWorld(t, browser);
  const window = await firstOwner(world);
  return { world, window, shop: await fillShop(window) };
}

/** Longer than the fields of a live view stay as they are. */
const FOLLOW_MS = 11_000;
const WIDE = [1280, 800] as const;
const NARROW = [390, 844] as const;
const VAST = [2560, 1440] as const;

/** A project whose events are hard to show. */
async function fillOdd(window: Window): Promise<void> {
  const nested = (levels: number, inner: unknown): unknown => {
    let value = inner;
    for (let level = levels; level > 0; level--) value = { [`level_${level}`]: value, size: level * 1_000 };
    return value;
  };
  const project_id = "odd";
  await window.call("add_project", {
    project: { id: project_id, name: "A project with a rather long name, in Osnabrück" },
  });
  const timestamp = (ago: number) => new Date(Date.now() - ago * 1_000).toISOString();
  const events = [
    {
      level: "error",
      message: JSON.stringify(nested(20, "the deepest")),
      fields: { from: "a program that writes JSON" },
    },
    { level: "warning", message: "שגיאה בהזמנה 17 خطأ في الطلب", fields: { customer: "محمد עברית", ключ: "значение" } },
    { level: "info", message: "👩‍👩‍👧‍👦 paid 🏳️‍🌈 ❤️", fields: { emoji: "🧑🏽‍🚀".repeat(30) } },
    {
      level: "debug",
      message: `${"Donaudampfschifffahrtsgesellschaft".repeat(20)}`,
      fields: { word: "x".repeat(600) },
    },
    {
      level: "critical",
      message: "ten levels",
      fields: nested(6, { list: [1, [2, { three: true }], null], text: "a\nb\n\tc" }),
    },
    {
      level: "notice",
      message: "漢字かな交じり文 한국어 ไทย Ελληνικά",
      fields: { "a name of a field that goes on and on and on": 1 },
    },
  ];
  await window.call("add_events", {
    project_id,
    events: events.map((event, i) => ({ ...event, timestamp: timestamp(i) })) as never,
  });
}

async function looksRight(t: Test, window: Window, name: string, row: PageRow): Promise<void> {
  const { page } = window.driver as ChromiumPage;
  t.equal(await window.evaluate("document.querySelectorAll('h1').length"), 1, "one h1");
  t.match(await window.evaluate("document.title"), row.title ?? / · Logs$/);
  const none = { missing: [], disordered: [], unseen: [], hidden: [] };
  let problems = await tabProblems(window);
  // An element that is still read may have come in between.
  if (JSON.stringify(problems) !== JSON.stringify(none)) problems = await tabProblems(window);
  t.same(problems, none, "the key Tab");
  // A window may have been left by the keys.
  if (row.open !== undefined) {
    await window.driver.reload();
    await window.until("the page", async () => (await window.text("h1")) !== "");
    await row.open(window);
    await window.shows(row.shows);
  }
  await page.evaluate(AXE);
  for (const [width, height] of [VAST, WIDE, NARROW]) {
    await window.driver.size(width, height);
    // The elements that are measured are drawn anew after the window has changed.
    await window.until("the new width", async () => (await tooWide(window, width)).length === 0).catch(() => {});
    t.same(await tooWide(window, width), [], `nothing is wider than ${width} pixels`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await keepPicture(page, `${name} ${width} ${colorScheme}`);
      // Between the wide and the very wide nothing differs but the room.
      if (width === VAST[0]) continue;
      if (width === WIDE[0])
        t.same(await window.evaluate(ODD_WIDTHS), [], "forms have 720 pixels, tables all of the page");
      // Only colours differ in the dark.
      t.same(await axeFindings(window, colorScheme === "dark"), [], `axe finds nothing, ${colorScheme}, ${width}`);
    }
  }
}

/** The widths of cards of forms and of tables that are not as all others. */
const ODD_WIDTHS = `[[".page:is(.narrow, .alert) > .card", 720], [".page:not(.help) > .table-wrap, .page:not(.help) > section > .table-wrap", 1040]]
  .flatMap(([selector, width]) => [...document.querySelectorAll(selector)]
    .filter((element) => element.offsetWidth !== width)
    .map((element) => selector + " has " + element.offsetWidth))`;

async function keepPicture(page: ChromiumPage["page"], name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(folder, `${name.replaceAll(" ", "-")}.png`) });
}

async function tabProblems(window: Window) {
  const { missing, disordered, unseen, hidden } = await stopsOfTab(window.driver as ChromiumPage);
  return { missing, disordered, unseen, hidden };
}

/** The elements that stick out of the window to the right, if that can be scrolled. */
function tooWide(window: Window, width: number): Promise<string[]> {
  return window.evaluate(`document.documentElement.scrollWidth <= ${width} ? [] :
    [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > ${width + 1})
      .map((element) => element.tagName + "." + element.className + " " + element.textContent.slice(0, 30))
      .slice(0, 5)`);
}

/**
 * Findings that are none, as a rule and a selector. A text of several lines that completes what is typed is a combobox to
 * people who do not see it, and a textarea is the only text of several lines that HTML has.
 */
const ALLOWED: readonly (readonly [rule: string, selector: string])[] = [["aria-allowed-role", "textarea.query-text"]];

/** The findings of axe: the rule, and up to three places. */
function axeFindings(window: Window, isOfColours: boolean): Promise<string[]> {
  const options = isOfColours ? { runOnly: ["color-contrast"] } : {};
  return window.evaluate(`axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...options })})
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => {
      const allowed = ${JSON.stringify(ALLOWED)}.filter(([rule]) => rule === id);
      const places = nodes.filter(({ target }) =>
        !allowed.some(([, selector]) => document.querySelector(target[0])?.matches(selector)));
      return places.length === 0 ? [] : [id + " at " + places.length + " places: " + places.slice(0, 3).map(
        ({ html, failureSummary, any }) => html.slice(0, 200) + " " + (any[0]?.message ?? failureSummary)).join("; ")];
    }))`);
}

/** Leaves out the parts that differ from run to run: times, how long reading took, where links lead to. */
const withoutTimes = (tree: string): string =>
  tree
    .replace(/^ *- \/url: .*\n/gm, "")
    .replace(/\d{1,2} \w{3} \d{4}, /g, "")
    .replace(/\d\d:\d\d:\d\d(?:\.\d+)?/g, "TIME")
    // With its day in a range that midnight is in.
    .replace(/\d{1,2} \w{3} TIME/g, "TIME")
    .replace(/[\d.]+ \wm?s, [\d.]+ \wB read/g, "WHAT IT TOOK")
    .replace(/code: [0-9a-z]+/g, "code: ID")
    .trim();

t.test("what the explorer says to who does not see it", { skip: requires("chromium") }, async (t) => {
  const { world, window } = await openShop(t);
  await window.open(`${world.service.url}${P}/events?query=level >= error and path = "/cart" and duration < 60`);
  await window.shows("2 events", ".summary");
  await window.pressAt('.event[data-row="0"] time');
  await window.shows("Context", ".detail");
  const { page } = window.driver as ChromiumPage;
  const expected = readFileSync(join(root, "test/fixtures/explorer-tree.txt"), "utf8").trim();
  let said = "";
  // Values of fields come one after the other.
  const isExpected = async () => {
    said = withoutTimes(await page.locator("body").ariaSnapshot());
    return said === expected;
  };
  // The difference is shown below.
  await until("what is expected", isExpected).catch(() => {});
  t.equal(said, expected);
});

t.test("the next key is for what a key opened", { skip: requires("chromium") }, async (t) => {
  const { world, window } = await openShop(t);
  const opened: readonly (readonly [what: string, open: string, focused: string])[] = [
    ["Ctrl-K", `dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }))`, "dialog input"],
    ["?", `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }))`, "dialog *"],
    ["the range", `document.querySelector("button.range").click()`, ".range-menu input"],
    ["a menu", `document.querySelector("[aria-haspopup=menu]").click()`, ".menu [role^=menuitem]"],
  ];
  for (const [what, open, focused] of opened) {
    await window.open(`${world.service.url}${P}/events`);
    await window.shows("120 events", ".summary");
    // The drawing of the page is done in the same task; the next key comes in a later one.
    const isThere = await window.evaluate<boolean>(`(async () => {
      ${open};
      for (let i = 0; i < 20; i++) await undefined;
      return document.activeElement.matches(${JSON.stringify(focused)});
    })()`);
    t.ok(isThere, what);
  }
  t.same(world.faults(), [], "nothing went wrong unseen");
});

t.test("the bar shows all pages beside a long name", { skip: requires("chromium") }, async (t) => {
  const { world, window } = await openShop(t);
  await fillOdd(window);
  await window.open(`${world.service.url}/t/${TEAM}/p/odd/alerts`);
  await window.sees("link", "Settings");
  const cut = `[...document.querySelectorAll("header.top nav a")]
    .filter((link) => link.getBoundingClientRect().right > link.parentElement.getBoundingClientRect().right + 1)
    .map((link) => link.textContent)`;
  for (const width of [825, 900, 960, 1280]) {
    await window.driver.size(width, 800);
    t.same(await window.evaluate(cut), [], `${width} pixels`);
    t.same(await tooWide(window, width), [], `nothing is wider than ${width} pixels`);
  }
  t.same(world.faults(), [], "nothing went wrong unseen");
});

t.test("the names of columns stay above them", { skip: requires("chromium") }, async (t) => {
  // Few of them: they are narrowed. Many of them: the list scrolls sideways.
  const names = ["path", "status", "duration", "a field that nobody has", "another field that nobody has"];
  const { world, window } = await openShop(t, { hasScrollBars: true });
  const lefts = (of: string) =>
    `[...document.querySelector("${of}").children].map((it) => it.getBoundingClientRect().left).join()`;
  const areAbove = (what: string) =>
    window.until(`names above their columns, ${what}`, () =>
      window.evaluate<boolean>(`${lefts(".event-names")} === ${lefts(".event")}`),
    );
  const isInView = (of: string, at: number) => `(() => {
    const list = document.querySelector(".rows").getBoundingClientRect();
    const { left, right } = document.querySelector("${of}").children[${at}].getBoundingClientRect();
    return left >= list.left && right <= list.right;
  })()`;
  const open = async (columns: readonly string[]) => {
    await window.open(`${world.service.url}${P}/events?${new URLSearchParams({ columns: columns.join("\n") })}`);
    await window.shows("120 events", ".summary");
    await window.shows("/orders", ".event");
  };
  await open(names);
  t.ok(
    await window.evaluate(
      `(({ offsetWidth, clientWidth }) => offsetWidth > clientWidth)(document.querySelector(".rows"))`,
    ),
    "there is a scroll bar",
  );
  await areAbove("beside a scroll bar");

  const many = [...names, ...names.slice(3).map((name) => `${name} either`), "stage"];
  await open(many);
  await window.pressAt('.event[data-row="0"] .message');
  await window.shows("Context", ".detail");
  const stage = 1 + many.length;
  t.notOk(await window.evaluate(isInView(".event", stage)), "there is no room for the last of many");
  await window.focus("button", "Column stage");
  await window.until("the column is in view", () => window.evaluate<boolean>(isInView(".event", stage)));
  await areAbove("scrolled by the focus");
  await window.keys("Enter");
  await window.until("the menu has the focus", async () => (await window.focused()) === "Move to the left");
  t.ok(
    await window.evaluate(`(() => {
      const { left, top } = document.activeElement.getBoundingClientRect();
      return document.elementFromPoint(left + 5, top + 5) === document.activeElement;
    })()`),
    "the menu is over the rows",
  );
  const isWhole = `(() => {
    const { right } = document.querySelector(".menu").getBoundingClientRect();
    return right <= document.querySelector(".rows-head").getBoundingClientRect().right;
  })()`;
  t.ok(await window.evaluate(isWhole), "and is not cut");
  await window.keys("Escape");
  const hasFocus = (name: string) =>
    window.until(`the focus at ${name}`, async () => (await window.focused()) === name);
  for (const name of ["a field that nobody has either", "another field that nobody has"]) {
    await window.focus("button", `Column ${name}`);
    await window.keys("Enter", "ArrowDown", "Enter");
    const isShown = `(() => {
      const name = document.activeElement.getBoundingClientRect();
      const list = document.querySelector(".rows").getBoundingClientRect();
      return document.activeElement.matches(".column-name") && name.left >= list.left && name.right <= list.right;
    })()`;
    await window.until("the moved column is in view", () => window.evaluate<boolean>(isShown));
  }
  await window.focus("button", "Column status");
  await window.keys("Enter", "End", "Enter");
  await hasFocus("Column duration");
  await open(many);
  await window.pressAt('.event[data-row="0"] .message');
  await window.focus("button", "Column stage");
  await window.evaluate(`document.querySelector(".rows").scrollLeft = 0`);
  await window.until("the message is out of view", async () => !(await window.evaluate(isInView(".event", stage))));
  await areAbove("back again");
  await window.driver.size(390, 844);
  await window.until("nothing is beyond the edge", () =>
    window.evaluate<boolean>(
      `(({ scrollWidth, clientWidth }) => scrollWidth === clientWidth)(document.querySelector(".rows"))`,
    ),
  );
  t.same(world.faults(), [], "nothing went wrong unseen");
});

t.test("lines over time come to the end of the range", { skip: requires("chromium") }, async (t) => {
  const { world, window } = await openShop(t);
  const events = Array.from({ length: 25 }, (_, i) => ({
    level: "info" as const,
    message: "one of many groups",
    fields: { group: `g${i}` },
  }));
  await window.call("add_events", { project_id: "shop", events });
  const query = new URLSearchParams({ query: "exists group | timeseries 1m by group" });
  await window.open(`${world.service.url}${P}/events?${query}`);
  t.notMatch(await window.shows(/1,5\d\d rows/, ".result-head"), "cut");
  const few = "13 smaller lines are not drawn; the table and an export have their rows.";
  // The page draws them after it has said how many rows there are.
  t.match(await window.shows(few, ".chart-lines"), few);
  await window.press("button", "Table");
  await window.shows(/The first 1,000 of 1,5\d\d rows are shown/, ".result");
  t.equal(await window.evaluate("document.querySelectorAll('.result tbody tr').length"), 1_000);

  await window.open(`${world.service.url}${P}/events?last=1d&${query}`);
  await window.shows("a part of the range is missing", ".chart-lines");
  t.same(world.faults(), [], "nothing went wrong unseen");
});

t.test("the chosen row is in view", { skip: requires("chromium") }, async (t) => {
  const { world, window } = await openShop(t, { hasScrollBars: true });
  const events = Array.from({ length: 900 }, (_, i) => ({
    level: "info" as const,
    message: `line\n`.repeat(i % 7) + i,
    fields: { path: `/${i}`, status: 200 },
  }));
  await window.call("add_events", { project_id: "shop", events });
  const isChosen = (row: number) => `(() => {
    const chosen = document.querySelector('.event[aria-selected="true"]');
    if (chosen?.dataset.row !== "${row}") return false;
    const rows = document.querySelector(".rows");
    const { top } = rows.getBoundingClientRect();
    const it = chosen.getBoundingClientRect();
    return it.top >= top - 0.5 && it.bottom <= top + rows.clientHeight + 0.5;
  })()`;
  const shows = (row: number, what: string) =>
    window.until(`row ${row} after ${what}`, () => window.evaluate<boolean>(isChosen(row)));
  const chosen = () =>
    window.evaluate<number>(`Number(document.querySelector('.event[aria-selected="true"]').dataset.row)`);
  const open = async (columns: readonly string[]) => {
    await window.open(`${world.service.url}${P}/events?${new URLSearchParams({ columns: columns.join("\n") })}`);
    await window.shows("1,020 events", ".summary");
    await window.shows("/", ".event");
    await window.focus("grid", "Events, newest first");
  };
  const last = 1_019;

  // They fit alone, and not beside an open event.
  const columns = ["path", "status", "a field that nobody has", "b field that nobody has", "c field that nobody has"];
  await open(columns);
  await window.keys("End");
  await shows(last, "End");
  await window.shows("/cart", `.event[data-row="${last}"]`);
  await window.keys("Enter");
  await window.shows("Context", ".detail");
  await window.until("a bar for moving sideways", () =>
    window.evaluate<boolean>(
      `(({ offsetHeight, clientHeight }) => offsetHeight > clientHeight)(document.querySelector(".rows"))`,
    ),
  );
  await shows(last, "a bar came");

  await window.driver.wheel(await window.place("#events"), -3_000);
  await window.until("the list is scrolled", async () => (await window.evaluate<number>(TOP_ROW)) < last - 50);
  await open([]);
  await window.driver.wheel(await window.place("#events"), 2_400);
  await window.until("the list is scrolled", async () => (await window.evaluate<number>(TOP_ROW)) > 80);
  await window.keys("j");
  t.ok((await chosen()) > 80, "where none is chosen, a step begins at what is seen");

  await open([]);
  await window.menu("View options", "Wrap long messages", "menuitemcheckbox");
  await window.focus("grid", "Events, newest first");
  await window.keys("Home");
  await shows(0, "Home");
  for (const key of ["PageDown", "PageDown", "j", "k", "PageUp", "j"]) {
    await window.keys(key);
    await shows(await chosen(), key);
  }
  await window.keys("End");
  await shows(last, "End");
  await window.keys("PageUp");
  await shows(await chosen(), "PageUp");
  await window.evaluate(`document.querySelector(".rows").scrollTop = 0`);
  await window.until("the top", async () => (await window.evaluate<number>(TOP_ROW)) === 0);
  await window.evaluate(`document.querySelector(".rows").scrollTop = 1e7`);
  await window.until("the last row is whole", () =>
    window.evaluate<boolean>(`(() => {
      const rows = document.querySelector(".rows");
      const it = document.querySelector('.event[data-row="${last}"]')?.getBoundingClientRect();
      return it !== undefined && it.bottom <= rows.getBoundingClientRect().top + rows.clientHeight + 0.5;
    })()`),
  );
  t.same(world.faults(), [], "nothing went wrong unseen");
});

t.test(
  "a request is in the row of its response, until they are shown apart",
  { skip: requires("chromium") },
  async (t) => {
    const { world, window } = await openShop(t);
    const project_id = "proxied";
    await window.call("add_project", { project: { id: project_id, name: "Behind the proxy" } });
    const common = { stage: "production", ip: "203.0.113.7", method: "GET", query: "" };
    const at = (i: number, half: number) => new Date(Date.now() - 600_000 + i * 1_000 + half * 20).toISOString();
    const exchange = (i: number) => {
      const fields = { ...common, id: `req_${i}`, path: `/${i}` };
      return [
        { timestamp: at(i, 0), level: "info" as const, message: "request", fields },
        {
          timestamp: at(i, 1),
          level: "info" as const,
          message: "response",
          fields: { ...fields, status: 200, size: 6 },
        },
      ];
    };
    // The newest has no response yet.
    const events = Array.from({ length: 81 }, (_, i) => exchange(i))
      .flat()
      .slice(0, -1);
    await window.call("add_events", { project_id, events });
    const rows = () => window.texts(".event .message");
    const chosen = () => window.text('.event[aria-selected="true"] .message');
    await window.open(`${world.service.url}/t/${TEAM}/p/${project_id}/events`);
    await window.shows("161 events", ".summary");
    await window.shows("80 requests merged with their responses", ".list-note");
    t.match(await window.text(".list-note"), "In every row: stage=production");
    t.same((await rows()).slice(0, 3), ["GET /80", "GET /79 200 6 B", "GET /78 200 6 B"]);
    await window.focus("grid", "Events, newest first");
    for (const [key, message] of [
      ["Home", "GET /80"],
      ["j", "GET /79 200 6 B"],
      ["j", "GET /78 200 6 B"],
      ["k", "GET /79 200 6 B"],
      ["End", "GET /0 200 6 B"],
      ["k", "GET /1 200 6 B"],
    ] as const) {
      await window.keys(key);
      await window.until(`${message} after ${key}`, async () => (await chosen()) === message);
    }
    await window.keys("Enter");
    await window.shows("GET /1 200 6 B", ".detail h2");
    await window.press("button", "Older event");
    await window.shows("GET /0 200 6 B", ".detail h2");
    await window.press("button", "Close event");
    await window.press("button", "Show separately");
    await window.focus("grid", "Events, newest first");
    await window.keys("Home");
    await window.until("the requests", async () => (await rows())[2] === "GET /79");
    await window.driver.reload();
    await window.shows("Merge 80 requests", ".list-note");
    t.same((await rows()).slice(0, 3), ["GET /80", "GET /79 200 6 B", "GET /79"], "it stays");
    await window.press("button", "Merge 80 requests");
    await window.until("the responses", async () => (await rows())[2] === "GET /78 200 6 B");
    t.same(world.faults(), [], "nothing went wrong unseen");
  },
);

t.test("while it is live, the fields follow what arrives", { skip: requires("chromium") }, async (t) => {
  const { world, window } = await openShop(t);
  const project_id = "quiet";
  await window.call("add_project", { project: { id: project_id, name: "Quiet" } });
  const add = (amount: number, stage: string) =>
    window.call("add_events", {
      project_id,
      events: Array.from({ length: amount }, () => ({
        level: "info" as const,
        message: "arrived",
        fields: { stage },
      })),
    });
  await window.open(`${world.service.url}/t/${TEAM}/p/${project_id}/events?live=1`);
  await window.shows("Live", ".live-line");
  t.notMatch(await window.text(".facets"), "stage", "there is none yet");
  await add(2, "production");
  await window.shows(/production\W*2/, ".facets");

  // A press that is about to come must not hit something else.
  await window.focus("button", "production", ".facets");
  await add(3, "staging");
  await window.until("the events", async () => (await window.texts(".event .message")).length === 5);
  await new Promise((done) => setTimeout(done, FOLLOW_MS));
  t.notMatch(await window.text(".facets"), "staging", "nothing moves at the focus");
  await window.keys("/");
  // The slower the service, the longer the pause between two reads.
  const hasBoth = async () => /staging\W*3\W*production\W*2/.test(await window.text(".facets"));
  await window.until("both values", hasBoth);
  t.same(world.faults(), [], "nothing went wrong unseen");
});

for (const [program, start] of [
  ["chromium", startChromium],
  ["firefox-esr", startFirefox],
] as const) {
  t.test(`without a mouse, in ${program}`, { skip: requires(program) }, async (t) => {
    const browser = await start();
    t.teardown(() => browser.close());
    const world = await startWorld(t, browser);
    await byKeys(t, world, await world.newPerson());
    t.same(world.faults(), [], "nothing went wrong unseen");
  });
}

for (const [program, start] of [
  ["chromium", startChromium],
  ["firefox-esr", startFirefox],
] as const)
  t.test(`Escape while a token is made, in ${program}`, { skip: requires(program) }, async (t) => {
    const browser = await start();
    t.teardown(() => browser.close());
    const world = await startWorld(t, browser);
    const window = await firstOwner(world);
    await window.open(`${world.service.url}/t/${TEAM}/tokens`);
    await window.press("button", "New token");
    await window.fill("Description", "for a program", "textbox", "dialog");
    await window.evaluate(`{
      const { fetch: real } = window;
      window.fetch = async (url, init) => {
        if (url === "/add_token") await new Promise((done) => { window.goOn = done; });
        return real(url, init);
      };
    }`);
    await window.press("button", "Create token");
    await window.until("it is sent", () => window.evaluate("window.goOn !== undefined"));
    // Who waits presses it again and again.
    for (let i = 0; i < 4; i++) await window.keys("Escape");
    await window.evaluate("window.goOn()");
    await window.shows("it will not be shown again");
    await window.keys("Escape");
    await window.shows("This will not be shown again. Press Escape again to close.", "dialog");
    t.ok(await window.evaluate(`document.querySelector("dialog").matches(":modal")`), "it is still there");
    await window.keys("Escape");
    await window.hides("it will not be shown again");
    t.same(world.faults(), [], "nothing went wrong unseen");
  });

/** Signs in, searches, opens an event, filters, saves the search and makes an alert of it, by keys alone. */
async function byKeys(t: Test, { service, mailbox }: World, window: Window): Promise<void> {
  await window.open(`${service.url}/sign-in`);
  await window.tabTo("Email address");
  await window.write(ANN);
  await window.keys("Enter");
  await window.sees("heading", "Check your mail");
  const code = (await window.texts(".half")).join(" ");
  const tab = await window.another();
  await tab.open((await mailbox.next(ANN)).link);
  await tab.tabTo("The code that it shows");
  await tab.write(code);
  await tab.keys("Enter");
  await tab.sees("heading", "Signed in");
  await tab.close();
  await window.isAt(`/t/${TEAM}/projects`);
  await fillShop(window);
  await window.driver.reload();

  await window.shows("Web shop", "table");
  await window.tabTo("Web shop");
  await window.keys("Enter");
  await window.isAt(`${P}/events`);
  await window.shows("120 events", ".summary");
  await window.keys("/");
  await window.write("status >= 500");
  await window.keys("Control+Enter");
  await window.shows("10 events", ".summary");
  await window.shows("upstream did not answer", "#events");
  await window.keys("Escape");
  await window.keys("Escape");
  await window.tabTo("Events, newest first");
  await window.keys("j", "Enter");
  await window.shows("Context", ".detail");
  await window.tabTo("Only events with path = /cart");
  await window.keys("Enter");
  await window.isAt(/query=status >= 500 and path = "\/cart"/);

  await window.keys("x", "/", "Escape", "Escape");
  await window.tabTo("Save or share ▾");
  await window.keys("Enter");
  // The first letter of an entry leads to it.
  await window.until("the menu has the focus", async () => (await window.focused()) === "Copy a link to this");
  await window.keys("s", "Enter");
  await window.sees("heading", "Save search");
  await window.until("the name has the focus", async () => (await window.focused()) === "Name");
  await window.write("Carts fail");
  await window.keys("Enter");
  await window.shows("Saved Carts fail");
  t.equal(await window.focused(), "Save or share ▾", "the focus is where it was before the dialog");

  await window.keys("Enter");
  await window.until("the menu has the focus", async () => (await window.focused()) === "Copy a link to this");
  await window.keys("a", "Enter");
  await window.isAt(/\/alerts\/new\?query=/);
  await window.shows("The last 7 days with this alert");
  await window.tabTo("Name");
  await window.write("Carts fail");
  await window.tabTo("Create alert");
  await window.keys("Enter");
  await window.isAt(/\/alerts\/(?!new)\w+$/);
  t.match(await window.shows("Carts fail", "h1"), "Carts fail");
}
