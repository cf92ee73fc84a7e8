// Two tabs that change the same thing, and windows that are left with something typed in them: in a browser.
import t from "tap";
import { requires } from "./support/require.ts";
import { slow } from "./support/slow.ts";
import { startChromium } from "./support/ui/chromium.ts";
import { fillShop, type Shop } from "./support/ui/shop.ts";
import type { Window } from "./support/ui/window.ts";
import { firstOwner, startWorld, TEAM } from "./support/ui/world.ts";

const TIMEOUT_MS = 900_000;
const P = `/t/${TEAM}/p/shop`;
const project_id = "shop";

interface Row {
  readonly path: (shop: Shop) => string;
  /** The field, and its role. */
  readonly field: string;
  readonly role?: string;
  readonly mine: string;
  readonly theirs: string;
  readonly open?: (window: Window) => Promise<void>;
  /** What is saved elsewhere. */
  readonly change: (shop: Shop, window: Window) => Promise<unknown>;
  /** What is saved. */
  readonly read: (shop: Shop, window: Window) => Promise<unknown>;
}

type Alert = { readonly alert: { readonly threshold: number } };
type Notification = { readonly notification: { readonly name: string } };
type Searches = { readonly searches: readonly { readonly id: string; readonly query: string }[] };
type Projects = { readonly projects: readonly { readonly id: string; readonly description: string }[] };

const searchesOf = async (window: Window) => (await window.call<Searches>("get_searches", { project_id })).searches;

const ROWS: Readonly<Record<string, Row>> = {
  alert: {
    path: ({ alertId }) => `${P}/alerts/${alertId}`,
    ...{ field: "Threshold", role: "spinbutton", mine: "20", theirs: "30" },
    change: ({ alertId: id }, window) => window.call("update_alert", { alert: { project_id, id, threshold: 30 } }),
    read: async ({ alertId: alert_id }, window) =>
      (await window.call<Alert>("get_alert", { project_id, alert_id })).alert.threshold,
  },
  notification: {
    path: ({ notificationId }) => `${P}/notifications/${notificationId}`,
    ...{ field: "Name", mine: "Ann", theirs: "Bob" },
    change: ({ notificationId: id }, window) =>
      window.call("update_notification", { notification: { project_id, id, name: "Bob" } }),
    read: async ({ notificationId: notification_id }, window) =>
      (await window.call<Notification>("get_notification", { project_id, notification_id })).notification.name,
  },
  search: {
    path: () => `${P}/searches`,
    ...{ field: "Query", mine: "level = error", theirs: "level = info" },
    open: (window) => window.press("button", "Edit Failed orders"),
    change: async (_, window) =>
      window.call("update_search", {
        search: { project_id, id: (await searchesOf(window))[0]!.id, query: "level = info" },
      }),
    read: async (_, window) => (await searchesOf(window))[0]!.query,
  },
  project: {
    path: () => `${P}/settings`,
    ...{ field: "Description", mine: "Shop of Ann", theirs: "Shop of Bob" },
    change: (_, window) => window.call("update_project", { project: { id: project_id, description: "Shop of Bob" } }),
    read: async (_, window) =>
      (await window.call<Projects>("get_projects", {})).projects.find(({ id }) => id === project_id)?.description,
  },
};

const missing = requires("chromium");

t.test(
  "what two tabs change, and what is typed when a page is left",
  { ...(missing ? { skip: missing } : slow()), timeout: TIMEOUT_MS },
  async (t) => {
    const browser = await startChromium();
    t.teardown(() => browser.close());
    const world = await startWorld(t, browser);
    const window = await firstOwner(world);
    const shop = await fillShop(window);
    const other = await window.another();
    await other.open(world.service.url);
    const edit = async ({ path, open, field, role, mine }: Row): Promise<void> => {
      await window.open(world.service.url + path(shop));
      await open?.(window);
      await window.fill(field, mine, role);
    };
    for (const [name, row] of Object.entries(ROWS)) {
      const { field, mine, theirs, change, read } = row;
      await t.test(`${name}: another value of the same field`, async (t) => {
        await edit(row);
        await change(shop, other);
        await window.press("button", "Save");
        await window.shows(`Somebody else changed this meanwhile: ${theirs}`);
        t.equal(String(await read(shop, other)), theirs, "nothing was sent");
        await window.press("button", `Keep mine: ${field}`);
        await window.hides("Somebody else changed");
        await window.press("button", "Save");
        await window.until("it is saved", async () => String(await read(shop, other)) === mine);
        t.same(world.faults(), [], "nothing went wrong unseen");
      });
    }
    await t.test("their value is taken", async (t) => {
      await edit({ ...ROWS.alert!, mine: "21" });
      await other.call("update_alert", { alert: { project_id, id: shop.alertId, threshold: 44 } });
      await window.press("button", "Save");
      await window.press("button", "Take theirs: Threshold");
      await window.hides("Somebody else changed");
      t.equal(await window.evaluate("document.querySelector('form.alert-form input[type=number]').value"), "44");
      t.equal(await ROWS.alert!.read(shop, other), 44);
    });
    await t.test("a window with something typed in it asks before the page is left", async (t) => {
      await window.open(`${world.service.url}/t/${TEAM}/projects`);
      for (const [section, button, field, role] of [
        ["members", "Invite member", "Address", "textbox"],
        ["members", "New CI token", "Name", "textbox"],
        ["members", "New team", "Name of the new team", "textbox"],
        ["tokens", "New token", "Description", "textbox"],
      ] as const) {
        await window.pressAt(`nav a[href="/t/${TEAM}/${section}"]`);
        await window.press("button", button);
        await window.fill(field, "half", role, "dialog");
        await window.driver.evaluate("history.back()");
        await window.shows("Leave without saving?");
        t.equal(window.address(), `/t/${TEAM}/${section}`, button);
        await window.press("button", "Stay here");
        await window.hides("Leave without saving?");
        t.equal(await window.evaluate(`document.querySelector("dialog input").value`), "half", button);
        await window.keys("Escape");
      }
      await window.press("button", "New token");
      await window.fill("Description", "whole", "textbox", "dialog");
      await window.press("button", "Create token");
      await window.shows("it will not be shown again");
      t.same(await window.has("heading", "Leave without saving?"), false, "what is sent is not asked for");
    });
  },
);
