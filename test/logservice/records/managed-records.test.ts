// Records that an app manages are changed only by requests that name the app.
import { rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { requiresFile } from "../../support/records.ts";
import { startTestService } from "../../support/service.ts";

t.test("what an app manages", async (t) => {
  const service = await startTestService(t);
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const made = { project_id, name: "errors" };
  const notification = { ...made, type: "webhook", webhook_url: "https://example.com/secret", secret_hash: "h1" };
  const bodies = {
    notification,
    search: { ...made, query: "status >= 500" },
    alert: { ...made, query: "status >= 500", severity: "error", operator: ">", notification_id: "" },
  };
  for (const kind of ["notification", "search", "alert"] as const) {
    const record = bodies[kind];
    const table = kind === "search" ? "searches" : `${kind}s`;
    const key = `${kind}_id`;
    const list = async () => (await service.call(`get_${table}`, { project_id })).json[table];
    const add = async (more: object) => service.call(`add_${kind}`, { [kind]: { ...record, ...more } });
    const update = async (id: string, more: object) =>
      service.call(`update_${kind}`, { [kind]: { ...more, id, project_id } });
    const remove = async (id: string, more: object = {}) =>
      service.call(`remove_${kind}`, { project_id, [key]: id, ...more });
    const refusal = ({ status, json }: { status: number; json: { message?: string } }) => [status, json?.message];
    const there = `${kind} errors is in tool.json of shop: change it there, or release it with managed_by ""`;
    const two = `${kind} errors is in tool.json of shop, and cannot be in that of cart, too: give one of them another name`;

    const own = (await add({})).json.id;
    const id = (await add({ managed_by: "shop" })).json.id;
    if (kind === "notification") bodies.alert.notification_id = own;
    t.same(
      (await list()).map((one: { managed_by: string }) => one.managed_by).sort(),
      ["", "shop"],
      `${kind}: people's own may have the same name`,
    );
    t.same(refusal(await update(id, { name: "x" })), [409, there], `${kind}: changed by people`);
    t.same(refusal(await remove(id)), [409, there], `${kind}: removed by people`);
    t.same(refusal(await remove(id, { managed_by: "" })), [409, there], `${kind}: removed as if released`);
    t.same(refusal(await update(id, { name: "x", managed_by: "cart" })), [409, two], `${kind}: changed by another app`);
    t.same(refusal(await remove(id, { managed_by: "cart" })), [409, two], `${kind}: removed by another app`);
    t.same(refusal(await add({ managed_by: "cart" })), [409, two], `${kind}: one name, two apps`);
    t.same(
      refusal(await add({ managed_by: "shop" })),
      [409, `${kind} errors of shop is there already: run tool stack apply again`],
      `${kind}: added twice`,
    );
    t.same(refusal(await update(own, { managed_by: "cart" })), [409, two], `${kind}: claimed by a change`);
    const other = (await add({ name: "other", managed_by: "cart" })).json.id;
    t.same(refusal(await update(other, { name: "errors", managed_by: "cart" })), [409, two], `${kind}: by a new name`);

    t.equal((await update(id, { name: "renamed", managed_by: "shop" })).status, 204);
    t.match(
      (await list()).find((one: { id: string }) => one.id === id),
      { name: "renamed", managed_by: "shop", ...(kind === "notification" && { secret_hash: "h1" }) },
    );
    t.equal((await update(id, { managed_by: "" })).status, 204, `${kind}: released`);
    t.equal((await update(id, { name: "ours" })).status, 204, `${kind}: people change it again`);
    t.equal((await remove(id)).status, 204);
    t.equal((await remove(other, { managed_by: "cart" })).status, 204);
  }
});

// With records that processes share a lost key is not replaced by a new one, which the others would not have.
const ofFile = { skip: requiresFile() };

t.test("a secret whose key was lost is not that of the app: its next apply gives it again", ofFile, async (t) => {
  const before = await startTestService(t);
  const project_id = (await before.call("add_project", { project: { name: "p" } })).json.id;
  const own = { project_id, managed_by: "shop" };
  const secrets = [
    { ...own, name: "hook", type: "webhook", webhook_url: "https://example.com/secret", secret_hash: "h1" },
    { ...own, name: "pager", type: "pagerduty", pagerduty_service_key: "f".repeat(32), secret_hash: "h2" },
  ];
  const mail = { ...own, name: "mail", type: "email", email_addresses: ["a@example.com"] };
  for (const notification of [...secrets, mail]) await before.call("add_notification", { notification });
  const hashes = async ({ call }: Pick<typeof before, "call">) =>
    (await call("get_notifications", { project_id })).json.notifications.map((one: { secret_hash: string }) => {
      return one.secret_hash;
    });
  t.same(await hashes(before), ["h1", "", "h2"]);
  await before.stop();
  rmSync(join(before.directory, "secrets.key"));
  const after = await startTestService(t, { directory: before.directory });
  t.same(await hashes(after), ["", "", ""]);
  const { notifications } = (await after.call("get_notifications", { project_id })).json;
  for (const one of secrets) {
    const { id } = notifications.find(({ name }: { name: string }) => name === one.name);
    t.equal((await after.call("update_notification", { notification: { ...one, id } })).status, 204);
  }
  t.same(await hashes(after), ["h1", "", "h2"]);
});
