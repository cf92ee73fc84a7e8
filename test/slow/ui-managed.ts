// The web UI of records that a tool.json holds: it names the app, and has them copied instead of saved or removed.
import t from "tap";
import { type ChromiumPage, startChromium } from "../support/ui/chromium.ts";
import { firstOwner, startWorld, TEAM } from "../support/ui/world.ts";

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
  t.same(world.faults(), []);
});
