// Every page of the web UI as people with other eyes and hands meet it: axe-core in both colours, wide and on a telephone,
// what the accessibility tree says, and the whole way from signing in to an alert by the keyboard alone.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import t, { type Test } from "tap";
import { requires } from "../support/require.ts";
import { type ChromiumPage, startChromium } from "../support/ui/chromium.ts";
import { fillShop, type Shop } from "../support/ui/shop.ts";
import { stopsOfTab } from "../support/ui/tab-stops.ts";
import type { Window } from "../support/ui/window.ts";
import { ANN, firstOwner, startWorld, TEAM } from "../support/ui/world.ts";

const TIMEOUT_MS = 300_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

t.setTimeout(TIMEOUT_MS);

interface PageRow {
  readonly path: (shop: Shop) => string;
  /** What is shown when the page is whole. */
  readonly shows: string | RegExp;
  /** The title of the window; the usual one unless told otherwise. */
  readonly title?: RegExp;
  /** Opens what is not open at first. */
  readonly open?: (window: Window) => Promise<void>;
}

const P = `/t/${TEAM}/p/shop`;

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
  "range menu": {
    path: () => `${P}/events`,
    shows: "Local time",
    open: (window) => window.pressAt("button.range"),
  },
  "a wrong query": { path: () => `${P}/events?query=${encodeURIComponent("status => 500")}`, shows: "=>" },
  "nothing found": { path: () => `${P}/events?query=nothinghasthis`, shows: "Show every event of this range" },
  table: { path: () => `${P}/events?query=${encodeURIComponent("| count by path")}&as=table`, shows: "/checkout" },
  bars: { path: () => `${P}/events?query=${encodeURIComponent("| count by path")}&as=bars`, shows: "/checkout" },
  lines: {
    path: () => `${P}/events?query=${encodeURIComponent("| timeseries 5m count() by path")}&as=lines`,
    shows: "/checkout",
  },
  "send events": { path: () => `${P}/start`, shows: "Waiting for the first event" },
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
  notification: { path: ({ notificationId }) => `${P}/notifications/${notificationId}`, shows: "Alerts that use it" },
  members: { path: () => `/t/${TEAM}/members`, shows: "ann@example.com" },
  "invite a member": {
    path: () => `/t/${TEAM}/members`,
    shows: "Role",
    open: (window) => window.press("button", "Invite member"),
  },
  audit: { path: () => `/t/${TEAM}/audit`, shows: "Refused only" },
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

t.test("every page in Chromium", { skip: requires("chromium"), timeout: TIMEOUT_MS }, async (t) => {
  const browser = await startChromium();
  t.teardown(() => browser.close());
  const world = await startWorld(t, browser);
  const window = await firstOwner(world);
  const shop = await fillShop(window);
  for (const [name, row] of Object.entries(PAGES)) {
    await t.test(name, async (t) => {
      await window.driver.size(...WIDE);
      await window.open(world.service.url + row.path(shop));
      await row.open?.(window);
      await window.shows(row.shows);
      await looksRight(t, window, row);
      t.same(world.faults(), [], "nothing went wrong unseen");
    });
  }
});

const WIDE = [1280, 800] as const;
const NARROW = [390, 844] as const;

async function looksRight(t: Test, window: Window, row: PageRow): Promise<void> {
  const { page } = window.driver as ChromiumPage;
  t.equal(await window.evaluate("document.querySelectorAll('h1').length"), 1, "one h1");
  t.match(await window.evaluate("document.title"), row.title ?? / · Logs$/);
  t.same(await tabProblems(window), { missing: [], disordered: [], unseen: [], hidden: [] }, "the key Tab");
  // A window may have been left by the keys.
  if (row.open !== undefined) {
    await window.driver.reload();
    await row.open(window);
    await window.shows(row.shows);
  }
  await page.evaluate(AXE);
  for (const [width, height] of [WIDE, NARROW]) {
    await window.driver.size(width, height);
    t.same(await tooWide(window, width), [], `nothing is wider than ${width} pixels`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      // Only colours differ in the dark.
      t.same(await axeFindings(window, colorScheme === "dark"), [], `axe finds nothing, ${colorScheme}, ${width}`);
    }
  }
}

async function tabProblems(window: Window) {
  const { missing, disordered, unseen, hidden } = await stopsOfTab(window.driver as ChromiumPage);
  return { missing, disordered, unseen, hidden };
}

/** What sticks out of the window to the right, if that can be scrolled. */
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

/** What axe finds: the rule, and up to three places. */
function axeFindings(window: Window, isOfColours: boolean): Promise<string[]> {
  const options = isOfColours ? { runOnly: ["color-contrast"] } : {};
  return window.evaluate(`axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...options })})
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => {
      const allowed = ${JSON.stringify(ALLOWED)}.filter(([rule]) => rule === id);
      const found = nodes.filter(({ target }) =>
        !allowed.some(([, selector]) => document.querySelector(target[0])?.matches(selector)));
      return found.length === 0 ? [] : [id + " at " + found.length + " places: " + found.slice(0, 3).map(
        ({ html, failureSummary, any }) => html.slice(0, 200) + " " + (any[0]?.message ?? failureSummary)).join("; ")];
    }))`);
}
