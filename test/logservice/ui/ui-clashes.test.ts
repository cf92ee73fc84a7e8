// Two tabs that change the same thing, and windows that are left with something typed in them: in a browser.
import t from "tap";
import { requires } from "../../support/require.ts";
import { slow } from "../../support/slow.ts";
import { type ChromiumPage, startChromium } from "../../support/ui/chromium.ts";
import { fillShop, type Shop } from "../../support/ui/shop.ts";
import type { Window } from "../../support/ui/window.ts";
import { firstOwner, startWorld, TEAM } from "../../support/ui/world.ts";

/** How long an answer is held back, so that something can be done meanwhile. */
const HELD_MS = 300;
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
  /** The change that is saved elsewhere. */
  readonly change: (shop: Shop, window: Window) => Promise<unknown>;
  /** Reads the saved state. */
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

/** Has the page do something before it sends an operation: what that returns is taken for the answer. */
const onCall = (operation: string, act: string) => `{
  const { fetch: real } = window;
  window.fetch = async (url, init) => {
    if (url === "/${operation}") { ${act} }
    return real(url, init);
  };
  window.letCalls = () => void (window.fetch = real);
}`;
const LET_CALLS = "window.letCalls()";
const answer = (status: number, message: string) =>
  `return Response.json({ type: "bad_request", message: "${message}" }, { status: ${status} });`;

const missing = requires("chromium");

t.test(
  "what two tabs change, and what is typed when a page is left",
  { ...(missing ? { skip: missing } : slow()) },
  async (t) => {
    const browser = await startChromium();
    t.teardown(() => browser.close());
    const world = await startWorld(t, browser);
    const window = await firstOwner(world);
    const shop = await fillShop(window);
    const { page } = window.driver as ChromiumPage;
    const other = await window.another();
    await other.open(world.service.url);
    // A page in the background is drawn once a second, and each press waits for that.
    await page.bringToFront();
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
        t.equal(await window.focused(), field, "the focus is not lost with the button");
        await window.press("button", "Save");
        // The page asks before it is left until it knows.
        await window.shows("Saved", ".toasts");
        t.equal(String(await read(shop, other)), mine);
        t.same(world.faults(), [], "nothing went wrong unseen");
      });
    }
    for (const [name, mine, operation, role] of [
      ["alert", "61", "update_alert", "spinbutton"],
      ["notification", "Cid", "update_notification", "textbox"],
      ["project", "Shop of Cid", "update_project", "textbox"],
    ] as const)
      await t.test(`${name}: what is typed while a save is under way stays`, async (t) => {
        const { field, read } = ROWS[name]!;
        await edit({ ...ROWS[name]!, mine });
        await window.evaluate(onCall(operation, "await new Promise((resolve) => { window.goOn = resolve; })"));
        await window.press("button", "Save");
        await window.until("it is sent", () => window.evaluate("window.goOn !== undefined"));
        await window.fill(field, `${mine}1`, role);
        await window.evaluate("window.goOn()");
        await window.shows("Saved", ".toasts");
        t.equal(await window.evaluate("document.activeElement.value"), `${mine}1`);
        t.equal(String(await read(shop, other)), mine);
        t.notMatch(await window.text(), "Somebody else changed");
        await window.evaluate(LET_CALLS);
        await window.press("button", "Save");
        await window.until("it is saved, too", async () => String(await read(shop, other)) === `${mine}1`);
      });
    await t.test("what is stored cannot be read after a save", async (t) => {
      for (const [name, mine, operation] of [
        ["alert", "71", "get_alert"],
        ["notification", "Dan", "get_notification"],
        ["project", "Shop of Dan", "get_projects"],
      ] as const) {
        const { read } = ROWS[name]!;
        await edit({ ...ROWS[name]!, mine });
        await window.evaluate(
          onCall(
            operation,
            `window.times = (window.times ?? 0) + 1; if (window.times > 1) ${answer(400, "Not today")}`,
          ),
        );
        await window.press("button", "Save");
        await window.shows("Not today", "form");
        t.equal(
          await window.evaluate(
            "[...document.querySelectorAll('form input')].map(({ value }) => value).includes(" +
              JSON.stringify(mine) +
              ")",
          ),
          true,
          `${name}: what was typed stays`,
        );
        t.equal(String(await read(shop, other)), mine, "it was saved");
        await window.evaluate(LET_CALLS);
        await window.press("button", "Save");
        await window.shows("Saved", ".toasts");
      }
      await edit({ ...ROWS.project!, mine: "Shop of Eve" });
      await window.evaluate(onCall("get_projects", answer(400, "Not today")));
      await ROWS.project!.change(shop, other);
      await window.press("button", "Save");
      await window.shows("Not today", "form");
      t.equal(await ROWS.project!.read(shop, other), "Shop of Bob", "what others saved stays");
      world.faults();
    });
    await t.test("a notification that is as it was can be tested", async () => {
      await edit({ ...ROWS.notification!, mine: "Other" });
      world.faults();
      await window.shows("Save first.");
      await window.fill("Name", "Dan");
      await window.hides("Save first.");
    });
    await t.test("an alert gets a notification elsewhere that this page does not know", async (t) => {
      await window.open(`${world.service.url}${P}/alerts/${shop.alertId}`);
      await window.sees("combobox", "Notification");
      const { id: notification_id } = await other.call<{ id: string }>("add_notification", {
        notification: { project_id, name: "New one", type: "email", email_addresses: ["new@example.com"] },
      });
      await other.call("update_alert", { alert: { project_id, id: shop.alertId, notification_id } });
      await window.press("button", "Mute");
      await window.until("it is chosen", () =>
        window.evaluate(`[...document.querySelectorAll("select")].some(
        (select) => select.selectedOptions[0].text.startsWith("New one"))`),
      );
      await window.press("button", "Unmute");
      await window.sees("button", "Mute");
      t.same(world.faults(), []);
    });
    await t.test("their value is taken", async (t) => {
      await edit({ ...ROWS.alert!, mine: "21" });
      await other.call("update_alert", { alert: { project_id, id: shop.alertId, threshold: 44 } });
      await window.press("button", "Save");
      await window.press("button", "Take theirs: Threshold");
      await window.hides("Somebody else changed");
      t.equal(await window.focused(), "Threshold");
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
        await window.shows("What you typed is not saved. Press Escape again to close.", "dialog");
        await window.fill(field, "typed", role, "dialog");
        await window.hides("Press Escape again");
        await window.keys("Escape");
        await window.shows("Press Escape again", "dialog");
        await window.keys("Escape");
        await window.until("it is closed", () => window.evaluate("document.querySelector('dialog') === null"));
      }
    });
    await t.test("Ctrl-K asks, too, before it leads to another page", async (t) => {
      const ask = async (): Promise<void> => {
        await window.keys("Control+k");
        await window.fill("Page, project or saved search", "audit", "combobox");
        await window.keys("Enter");
        await window.shows("Leave without saving?");
      };
      await edit({ ...ROWS.alert!, mine: "81" });
      await ask();
      await window.press("button", "Stay here");
      t.equal(window.address(), ROWS.alert!.path(shop));
      t.equal(await window.focused(), "Threshold");
      t.equal(await window.evaluate("document.activeElement.value"), "81");
      await window.press("button", "New notification");
      await window.fill("Name", "Half", "textbox", "dialog");
      await ask();
      await window.press("button", "Stay here");
      t.equal(await window.evaluate(`document.querySelector("dialog input[maxlength='255']").value`), "Half");
      await ask();
      await window.press("button", "Leave");
      await window.isAt(`/t/${TEAM}/audit`);
    });
    await t.test("a notification that is made for an alert is not lost by the button back", async () => {
      await window.pressAt(`nav a[href="/t/${TEAM}/projects"]`);
      await window.pressAt(`main a[href^="${P}"]`);
      await window.pressAt(`nav a[href="${P}/alerts"]`);
      await window.pressAt(`a[href="${P}/alerts/${shop.alertId}"]`);
      await window.press("button", "New notification");
      await window.fill("Name", "Half", "textbox", "dialog");
      await window.driver.evaluate("history.back()");
      await window.shows("Leave without saving?");
      await window.press("button", "Leave");
    });
    await t.test("what is shown once is not lost by a slip, and what is said is said in its window", async (t) => {
      await window.open(`${world.service.url}/t/${TEAM}/projects`);
      await window.pressAt(`nav a[href="/t/${TEAM}/tokens"]`);
      await window.press("button", "New token");
      await window.fill("Description", "whole", "textbox", "dialog");
      await window.evaluate(onCall("add_token", answer(401, "Not today")));
      await window.press("button", "Create token");
      await window.sees("link", "Sign in again", "dialog");
      await window.evaluate(LET_CALLS);
      let letGo = (): void => {};
      const held = new Promise<void>((done) => {
        letGo = done;
      });
      await page.route(/\/add_token$/, async (route) => {
        await held;
        await route.continue();
      });
      await window.press("button", "Create token");
      await window.evaluate(`{
        window.closings = 0;
        document.querySelector("dialog").addEventListener("close", () => { window.closings++; });
      }`);
      // The answer is shown once: the window is there until it comes.
      for (let i = 0; i < 3; i++) await window.keys("Escape");
      await window.evaluate(`document.querySelector("dialog [aria-label=Close]").click()`);
      t.ok(
        await window.evaluate(`document.querySelector("dialog").matches(":modal")`),
        "nothing closes it while it is sent",
      );
      t.equal(await window.evaluate("closings"), 0, "not even for a moment");
      letGo();
      await window.shows("it will not be shown again");
      await page.unroute(/\/add_token$/);
      t.same(await window.has("heading", "Leave without saving?"), false, "what is sent is not asked for");
      await window.driver.drag({ x: 8, y: 300 }, { x: 8, y: 300 });
      await window.keys("Escape");
      await window.shows("This will not be shown again. Press Escape again to close.", "dialog");
      await window.driver.evaluate("history.back()");
      await window.shows("Leave without a copy?");
      await window.press("button", "Stay here");
      await window.hides("Leave without a copy?");
      t.match(await window.text("dialog"), "it will not be shown again");
      await window.evaluate(`void Object.assign(window, { copied: "" });
        navigator.clipboard.writeText = () => Promise.reject(new Error("no secure origin"));
        document.addEventListener("copy", ({ target }) => { window.copied = target.value; });`);
      await window.press("button", "Copy", "dialog");
      await window.shows("Copied", "dialog .toasts");
      t.equal(await window.evaluate("copied"), await window.text("dialog pre"));
      t.equal(await window.focused(), "Copy");
      await window.press("button", "Done");
      await window.hides("it will not be shown again");
      world.faults();
    });
    await t.test("a window stays until what it sends is answered, and no page is left for it", async (t) => {
      let letGo = (): void => {};
      const hold = async (operation: string) => {
        const held = new Promise<void>((done) => {
          letGo = done;
        });
        await page.route(new RegExp(`/${operation}$`), async (route) => {
          await held;
          await route.continue();
        });
      };
      await window.open(`${world.service.url}/t/${TEAM}/tokens`);
      await window.pressAt(`nav a[href="/t/${TEAM}/members"]`);
      await window.driver.evaluate("history.back()");
      await window.isAt(`/t/${TEAM}/tokens`);
      await hold("add_token");
      await window.press("button", "New token");
      await window.fill("Description", "forward", "textbox", "dialog");
      await window.press("button", "Create token");
      await window.driver.evaluate("history.forward()");
      await window.shows("Leave before the answer?");
      await window.press("button", "Stay here");
      // Nobody is kept for ever.
      await window.shows("There is no answer yet. You need not wait", "dialog");
      letGo();
      await window.shows("it will not be shown again");
      // A key that is held is one press.
      await page.keyboard.down("Escape");
      for (let i = 0; i < 5; i++) await page.keyboard.down("Escape");
      await page.keyboard.up("Escape");
      await window.shows("Press Escape again to close.", "dialog");
      await window.press("button", "Done");
      await page.unroute(/\/add_token$/);

      const { id } = await other.call<{ id: string }>("add_notification", {
        notification: { project_id, name: "Hook", type: "webhook", webhook_url: "https://hooks.example.com/a" },
      });
      await other.call("rotate_webhook_secret", { project_id, notification_id: id });
      await window.open(`${world.service.url}${P}/notifications/${id}`);
      await window.press("button", "Make a new secret");
      await hold("rotate_webhook_secret");
      await window.press("button", "Make a new secret", "dialog");
      for (let i = 0; i < 3; i++) await window.keys("Escape");
      letGo();
      await window.shows("The signing secret", "dialog");
      await window.press("button", "Done");

      await hold("remove_notification");
      await window.press("button", "Remove notification");
      await window.press("button", "Remove notification", "dialog");
      await window.keys("Escape");
      t.ok(await window.evaluate(`document.querySelector("dialog").matches(":modal")`), "removing is not cancelled");
      await window.driver.evaluate(
        `history.pushState(null, "", "${P}/events"); dispatchEvent(new PopStateEvent("popstate"))`,
      );
      await window.shows("120 events", ".summary");
      letGo();
      await window.shows("Hook was removed", ".toasts");
      await window.isAt(`${P}/events`);
      t.same(world.faults(), []);
      await window.open(`${world.service.url}/t/${TEAM}/tokens`);
    });
    await t.test("a token that is gone keeps none of the others", async (t) => {
      for (const [operation, act] of [
        ["get_members", 'return Response.json({ members: [{ email: "bob@x.org", role: "admin", state: "member" }] });'],
        ["update_member", 'return Response.json({ tokens: ["tok_a", "tok_b"] });'],
        ["remove_token", `window.asked = [...(window.asked ?? []), init.body]; ${answer(404, "gone")}`],
      ] as const)
        await window.evaluate(onCall(operation, act));
      await window.pressAt(`nav a[href="/t/${TEAM}/members"]`);
      await window.choose("Role of bob@x.org", "member");
      await window.press("button", "Remove these 2 tokens");
      await window.shows("2 tokens were removed");
      t.same(await window.evaluate("window.asked.map((body) => JSON.parse(body).token_id)"), ["tok_a", "tok_b"]);
      world.faults();
    });
    await t.test("an alert that somebody removes leaves what was typed", async (t) => {
      const alert = { project_id, name: "Short", query: "level = error", severity: "error", operator: ">=" } as const;
      const { id } = await other.call<{ id: string }>("add_alert", {
        alert: { ...alert, threshold: 1, notification_id: shop.notificationId },
      });
      await window.open(`${world.service.url}${P}/alerts/${id}`);
      await window.fill("Name", "Short and changed", "textbox");
      await other.call("remove_alert", { project_id, alert_id: id });
      await window.press("button", "Save");
      await window.shows("Somebody removed this alert. What you typed is not lost");
      t.notOk(await window.has("button", "Save"), "nothing can be saved");
      await window.pressAt(`nav a[href="${P}/events"]`);
      await window.shows("Leave without saving?");
      await window.press("button", "Stay here");
      await window.press("button", "Make a new alert of it");
      await window.isAt(/\/alerts\/new\?name=Short/);
      await window.until("what was typed is there", () =>
        window.evaluate<boolean>(
          `document.querySelector(".alert-form input[maxlength='255']")?.value === "Short and changed"`,
        ),
      );
      await window.open(`${world.service.url}${P}/alerts/${id}`);
      await window.sees("heading", "There is no such alert");
      t.match(await window.text(), "All alerts");
      world.faults();
      await window.open(`${world.service.url}/t/${TEAM}/members`);
    });
    await t.test("one team is made while its page is on its way", async (t) => {
      await page.route(/\/t\/second\/projects$/, (route) => setTimeout(() => void route.continue(), HELD_MS));
      await window.press("button", "New team");
      await window.fill("Name of the new team", "Second", "textbox", "dialog");
      const urls: string[] = [];
      page.on("request", (request) => urls.push(request.url()));
      await window.evaluate(`{
        const button = document.querySelector("dialog [type=submit]");
        button.click();
        setInterval(() => button.click(), 20);
      }`);
      await window.isAt("/t/second/projects");
      t.equal(urls.filter((url) => url.endsWith("/add_team")).length, 1);
      t.same(world.faults(), []);
    });
    await t.test(
      "a list that gets short is still filtered, and what is removed leaves the focus on the page",
      async (t) => {
        for (const name of ["S1", "S2", "S3", "S4", "S5"])
          await other.call("add_search", { search: { project_id, name, query: "level = debug" } });
        await window.open(`${world.service.url}${P}/searches`);
        await window.fill("Filter the searches", "S1", "searchbox");
        await window.press("button", "Remove S1");
        await window.press("button", "Remove search");
        await window.shows("No search has this");
        t.equal(await window.focused(), "Saved searches");
        await window.fill("Filter the searches", "S2", "searchbox");
        await window.sees("button", "Remove S2");
      },
    );
    await t.test(
      "a new alert has the name of its search, its replay fits, and what is missing gets the focus",
      async (t) => {
        const rest = `(() => {
        const box = document.querySelector(".preview");
        const last = box.querySelector(".replayed").lastElementChild;
        const gap = box.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom;
        return { scrolled: box.scrollHeight - box.clientHeight, isFull: gap < 20 };
      })()`;
        for (const [part, words] of [
          ["", "It would never have triggered"],
          ["&threshold=0&interval=1", "Show 6 earlier ones"],
        ]) {
          await window.open(`${world.service.url}${P}/alerts/new?query=level = error${part}`);
          await window.shows(words!, ".preview");
          // It is laid out once its words are there.
          await window.until(`that it fits: ${words}`, async () => {
            const { scrolled, isFull } = await window.evaluate<{ scrolled: number; isFull: boolean }>(rest);
            return scrolled === 0 && isFull;
          });
        }
        t.equal((await window.texts(".preview li")).length, 4);
        t.equal(
          await window.evaluate(`document.querySelector(".alert-form input[maxlength='255']").value`),
          "Failed orders",
        );
        for (const [field, role] of [
          ["Name", "textbox"],
          ["Query", "combobox"],
        ] as const) {
          await window.fill(field, "", role);
          await window.press("button", "Create alert");
          await window.until(`${field} has the focus`, async () => (await window.focused()) === field);
        }
      },
    );
  },
);
