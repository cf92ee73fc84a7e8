// The web UI of records that a tool.json holds: it names the app, and has them copied instead of saved or removed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import t, { type Test } from "tap";
import { type ChromiumPage, startChromium } from "../support/ui/chromium.ts";
import type { Window } from "../support/ui/window.ts";
import { firstOwner, startWorld, TEAM, type World } from "../support/ui/world.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The tags that stick out of the table of the page. */
const CUT = `(() => {
  const edge = document.querySelector("table").parentElement.getBoundingClientRect().right;
  return [...document.querySelectorAll("table .tag")]
    .filter((tag) => tag.getBoundingClientRect().right > edge)
    .map((tag) => tag.textContent.slice(0, 30));
})()`;
/** The ground of the text that is typed, whose letters are drawn below it. */
const COVER = "getComputedStyle(document.querySelector('textarea.query-text')).backgroundColor";
/** The rules that the open window breaks. */
const FINDINGS =
  "axe.run('dialog[open]', { resultTypes: ['violations'] }).then((r) => r.violations.map(({ id }) => id))";

t.test("what the tool.json of an app holds", async (t) => {
  const browser = await startChromium();
  t.teardown(() => browser.close());
  const world = await startWorld(t, browser);
  const window = await firstOwner(world);
  const { page } = window.driver as ChromiumPage;
  const project_id = "shop";
  await window.call("add_project", { project: { id: project_id, name: "Web shop" } });
  const ids: Record<string, string> = {};
  const add = async (kind: string, record: object) =>
    (await window.call(`add_${kind}`, { [kind]: record })) as { readonly id: string };
  for (const [managed_by, name] of [
    ["shop", "of a file"],
    ["", "by hand"],
  ] as const) {
    const record = { project_id, managed_by, name };
    const webhook = { type: "webhook" as const, webhook_url: "https://hooks.example.com/s3cret" };
    const { id } = await add("notification", { ...record, ...webhook });
    ids[`notifications ${name}`] = id;
    const alert = { ...record, query: "status >= 500", severity: "error", operator: ">", threshold: 10 } as const;
    ids[`alerts ${name}`] = (await add("alert", { ...alert, notification_id: id })).id;
    await add("search", { ...record, query: "duration > 1s" });
  }
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const open = async (path: string, shows: string) => {
    await window.open(`${world.service.url}/t/${TEAM}/p/${project_id}/${path}`);
    await window.shows(shows);
  };
  const buttons = async () => (await page.getByRole("button").allInnerTexts()).map((text) => text.trim());
  const copied = async () => {
    await page.getByRole("button", { name: "Copy as JSON" }).first().click();
    await window.shows("Copied as JSON");
    return JSON.parse(await page.evaluate<string>("navigator.clipboard.readText()"));
  };
  const changing = ["Save", "Mute", "Remove alert", "Remove notification", "Edit", "Remove"];
  const rows = [
    ["alerts", "of a file", { alerts: { "of a file": { query: "status >= 500", notify: "of a file" } } }],
    ["notifications", "of a file", { notifications: { "of a file": { webhook_url: "$OF_A_FILE_WEBHOOK" } } }],
  ] as const;
  for (const [section, name, logs] of rows) {
    await open(`${section}/${ids[`${section} ${name}`]}`, "In tool.json of shop: change it there");
    t.same(
      (await buttons()).filter((text) => changing.includes(text)),
      [],
      `${section}: nothing changes it`,
    );
    t.match(await copied(), { logs });
    if (section === "alerts")
      t.equal(await window.evaluate(COVER), "rgba(0, 0, 0, 0)", "the typed text does not cover its coloured copy");
    await open(`${section}/${ids[`${section} by hand`]}`, "by hand");
    await window.sees("button", `Remove ${section.slice(0, -1)}`);
    t.notOk((await buttons()).includes("Copy as JSON"), `${section}: that of people is not of a file`);
    await open(section, "in tool.json of shop");
  }
  await open("searches", "in tool.json of shop");
  t.same(
    (await buttons()).filter((text) => text === "Copy as JSON" || changing.includes(text)),
    ["Edit", "Remove", "Copy as JSON"],
    "a row of people and one of the file",
  );
  t.match(await copied(), { logs: { queries: { "of-a-file": "duration > 1s" } } });
  await t.test("the name of an app that is wider than a telephone", async (t) => {
    const managed_by = `${"the-shop-of-a-company-with-a-name-".repeat(2)}${"x".repeat(60)}`;
    const record = { project_id, managed_by, name: "of another" };
    await add("search", { ...record, query: "duration > 1s" });
    const { id } = await add("notification", { ...record, type: "email", email_addresses: ["ops@example.com"] });
    await add("alert", { ...record, query: "a", severity: "error", operator: ">", threshold: 1, notification_id: id });
    await window.driver.size(390, 844);
    for (const section of ["searches", "alerts", "notifications"]) {
      await open(section, "in tool.json of the-shop");
      t.same(await window.evaluate(CUT), [], `${section}: it is whole`);
    }
    await window.driver.size(1280, 800);
  });
  await t.test("released, by the keyboard alone", (t) => release(t, world, window, ids));
  t.same(world.faults(), []);
});

const P = `/t/${TEAM}/p/shop`;
const RELEASE = "Release from tool.json: of a file";

/** Each kind is released where it is shown, after the words of what follows; the page says then that it is of people. */
async function release(t: Test, { service }: World, window: Window, ids: Readonly<Record<string, string>>) {
  const { page } = window.driver as ChromiumPage;
  const rows = [
    [`searches`, "search", "Edit of a file", "adds another search of this name."],
    [
      `notifications/${ids["notifications of a file"]}`,
      "notification",
      "Remove notification",
      "then use instead of this one",
    ],
    [`alerts/${ids["alerts of a file"]}`, "alert", "Mute", "adds another alert of this name, and both notify."],
  ] as const;
  for (const [path, kind, after, said] of rows) {
    await window.open(`${service.url}${P}/${path}`);
    await window.sees("button", RELEASE);
    t.notOk(await window.has("button", after), `${kind}: not before`);
    await window.focus("button", RELEASE);
    await window.keys("Enter");
    await window.sees("dialog", `Release this ${kind} from tool.json?`);
    const words = await window.shows(said, "dialog");
    t.match(words, /^of a file stays as it is\. .* tool stack apply of shop no longer does\.$/m);
    await page.evaluate(AXE);
    t.same(await window.evaluate(FINDINGS), [], `${kind}: axe finds nothing`);
    await window.keys("Escape");
    await window.until(
      "the window is closed",
      async () => !(await window.has("dialog", `Release this ${kind} from tool.json?`)),
    );
    t.equal(await window.focused(), RELEASE, `${kind}: Escape goes back`);
    await window.keys("Enter");
    await window.tabTo("Release");
    await window.keys("Enter");
    await window.sees("button", after);
    await window.until("the window is closed", async () => (await window.texts("dialog")).length === 0);
    t.notOk(await window.has("button", RELEASE), `${kind}: it is of people now`);
    t.equal(await window.evaluate("document.activeElement.tagName"), "H1", `${kind}: the focus is not lost`);
    await window.shows("of a file was released");
  }
}
