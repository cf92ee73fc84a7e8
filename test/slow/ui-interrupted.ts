// The web UI while its service goes away and comes back, answers in part or not at all: in a browser, through a proxy that cuts
// connections.
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { requires } from "../support/require.ts";
import { startChromium } from "../support/ui/chromium.ts";
import { fillShop, type Shop } from "../support/ui/shop.ts";
import type { Window } from "../support/ui/window.ts";
import { ANN, firstOwner, signInByMail, startWorld, TEAM, type World } from "../support/ui/world.ts";

const EVENTS = `/t/${TEAM}/p/shop/events`;

interface Scene {
  readonly world: World;
  readonly window: Window;
  readonly shop: Shop;
}

const STEPS: Readonly<Record<string, (t: Test, scene: Scene) => Promise<void>>> = {
  "an event that came while the service was started again is shown live": reconnect,
  "a page that is cut off asks for its data": cutPage,
  "a link to a query that is not valid says so and asks nothing": wrongLink,
  "events that were watched stay when the query changes while the service is gone": changedWhileGone,
  "a tab goes on once the person has signed in again in another": signedInAgain,
  "one press makes one search, however often the browser sends it": sentAgain,
  "a query is run while what checks it is on its way": withoutWorker,
  "suggestions that come when the query was left open no list": lateSuggestions,
};

t.test("in chromium", { skip: requires("chromium") }, async (t) => {
  const browser = await startChromium();
  t.teardown(() => browser.close());
  const world = await startWorld(t, browser);
  const window = await firstOwner(world);
  const scene = { world, window, shop: await fillShop(window) };
  for (const [name, step] of Object.entries(STEPS)) {
    await t.test(name, async (t) => {
      await step(t, scene);
      // The test itself refuses and cuts requests.
      world.faults();
    });
  }
});

async function reconnect(_: Test, { world: { service }, window, shop: { token } }: Scene): Promise<void> {
  await window.open(`${service.url}${EVENTS}?live=1`);
  await window.shows("Live: waiting for new events", ".live-line");
  await service.crash();
  const added = await fetch(`${service.url}/add_events`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: "shop", events: [{ level: "info", message: "came in between" }] }),
  });
  if (!added.ok) throw new Error(await added.text());
  await window.shows("came in between", ".event");
}

async function cutPage(t: Test, { world, window }: Scene): Promise<void> {
  const url = await proxy(t, world.service.url, (path) => (path.startsWith("/t/") ? { bytes: cut } : undefined));
  let cut = 0;
  // Also between the script and the place where it draws.
  const bodyAt = await window.evaluate<number>(
    `fetch(${JSON.stringify(EVENTS)}).then((page) => page.text()).then((text) => text.indexOf('<div id="app"'))`,
  );
  if (bodyAt < 0) throw new Error("the page has no place for the app");
  for (const bytes of [bodyAt, 1_500, 15_000]) {
    cut = bytes;
    // Not waited for: a browser never says that a page that was cut off is loaded.
    void window.open(url + EVENTS).catch(() => {});
    await window.shows("121 events", ".summary");
  }
}

async function wrongLink(t: Test, { world, window }: Scene): Promise<void> {
  const requests: string[] = [];
  const cut = await proxy(t, world.service.url, (path) => (path.startsWith("/t/") ? { bytes: 1_500 } : undefined), {
    onRequest: (path) => requests.push(path),
  });
  world.faults();
  const rows = [
    ["status => 500", '"=>" is not an operator', ""],
    // The grammar takes these.
    ["status >= 5OO", 'Unknown unit "OO"', "&live=1"],
    ["| count by path | fields zz", 'There is no column "zz" here', ""],
  ] as const;
  // Its data come with the page, or do not.
  for (const url of [world.service.url, cut]) {
    for (const [query, message, more] of rows) {
      void window.open(`${url}${EVENTS}?query=${encodeURIComponent(query)}${more}`).catch(() => {});
      await window.shows(message, ".query-problem");
      await window.shows("The query is not valid");
      t.ok((await window.texts(".query-mirror .q-wrong")).length > 0, `${query} is underlined`);
    }
    if (url === cut)
      t.same(
        requests.filter((path) => /^\/(search$|get_level_|aggregate|tail)/.test(path)),
        [],
        "nothing was asked",
      );
    else
      t.same(
        world.faults().filter((fault) => fault.includes(url)),
        [],
        "nothing was refused",
      );
  }
  await window.open(`${world.service.url}${EVENTS}?query=${encodeURIComponent("status => 500")}`);
  await window.press("button", "Use status >= 500", ".query-problem");
  await window.shows("10 events", ".summary");
}

async function changedWhileGone(t: Test, { world, window, shop: { token } }: Scene): Promise<void> {
  let isGone = false;
  const url = await proxy(t, world.service.url, () => ({ isGone }));
  await window.open(`${url}${EVENTS}?live=1`);
  await window.shows("Live: waiting for new events", ".live-line");
  // The worker has its answer: it is asked by no request later.
  await window.fill("Query", "level >= error", "combobox");
  await window.keys("Enter");
  await window.shows("10 events", ".summary");
  await window.shows("Live: waiting for new events", ".live-line");
  await fetch(`${world.service.url}/add_events`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: "shop", events: [{ level: "fatal", message: "came while it was live" }] }),
  });
  await window.shows("came while it was live", "#events");
  t.ok((await window.texts("#events .level")).includes("fatal"), "a level in the sender's word");
  isGone = true;
  await window.fill("Query", "level = critical", "combobox");
  await window.keys("Enter");
  await window.shows("has not answered since");
  await window.shows("previous query");
  t.match(await window.text("#events"), "came while it was live");
  isGone = false;
  await window.until("the list of the query", async () => !(await window.text("#events")).includes("came while"));
  await window.shows("Live: waiting for new events", ".live-line");
}

async function signedInAgain(t: Test, { world, window }: Scene): Promise<void> {
  const { url } = world.service;
  // Who is live is told by the stream, who is not by the next answer.
  for (const search of ["", "?live=1"]) {
    await window.open(`${url}${EVENTS}${search}`);
    await window.shows(search === "" ? /\d+ events/ : "Live: waiting for new events");
    await window.call("sign_out", {});
    await window.fill("Query", "level = error", "combobox");
    await window.keys("Enter");
    await window.shows("Your session has ended");
    const tab = await window.another();
    await signInByMail(world, tab, ANN);
    await tab.isAt(/^\/t\/owner\//);
    await tab.close();
    await window.shows(/^\d+ events/m, ".summary");
    t.match(window.address(), /query=level = error/, "what was typed was run");
    await window.until(
      "the page to go on by itself",
      async () => !/Your session has ended|Try again/.test(await window.text()),
    );
    if (search !== "") await window.shows("Live: waiting for new events", ".live-line");
  }
}

async function sentAgain(t: Test, { world, window }: Scene): Promise<void> {
  let attempts = 0;
  const url = await proxy(
    t,
    world.service.url,
    (path) => (path === "/add_search" ? { bytes: 0, isDone: true } : undefined),
    {
      onRequest: (path) => {
        if (path === "/add_search") attempts++;
      },
    },
  );
  await window.open(`${url}/t/${TEAM}/p/shop/searches`);
  await window.press("button", "New search");
  await window.fill("Name", "Sent again");
  await window.fill("Query", "level = error");
  await window.press("button", "Save", "dialog");
  await window.shows("does not answer", "dialog");
  const { searches } = await window.call<{ searches: { name: string }[] }>("get_searches", { project_id: "shop" });
  t.ok(attempts >= 1, `sent ${attempts} times`);
  t.equal(searches.filter(({ name }) => name === "Sent again").length, 1);
}

/** Longer than any test: what is held so long does not come. */
const NEVER_MS = 3_600_000;

async function withoutWorker(t: Test, { world, window }: Scene): Promise<void> {
  const url = await proxy(t, world.service.url, (path) =>
    path.includes("/worker-") ? { holdMs: NEVER_MS } : undefined,
  );
  await window.open(url + EVENTS);
  await window.shows("122 events", ".summary");
  await window.fill("Query", "level = error", "combobox");
  await window.keys("Enter");
  await window.isAt(/query=level = error/);
  t.pass("before what checks it was there");
}

async function lateSuggestions(t: Test, { world, window }: Scene): Promise<void> {
  let release = () => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  const url = await proxy(t, world.service.url, (path) =>
    path.includes("/worker-") ? { until: released } : undefined,
  );
  await window.open(url + EVENTS);
  await window.shows("122 events", ".summary");
  await window.evaluate(`window.openedAt = [];
    new MutationObserver(() => {
      if (document.querySelector("[role=listbox]")) window.openedAt.push(document.activeElement.getAttribute("aria-label"));
    }).observe(document.body, { subtree: true, childList: true })`);
  await window.fill("Query", "level = ", "combobox");
  await window.keys("Tab");
  release();
  // The worker has answered by then.
  await window.shows("Nothing follows", ".query-problem");
  await window.focus("combobox", "Query");
  await window.keys("Control+Space");
  await window.shows("error", ".completions");
  t.same(new Set(await window.evaluate<string[]>("window.openedAt")), new Set(["Query"]));
}

/** The fate of an answer: it is cut off after so many bytes, at its end if it `isDone`, or held back. */
interface Trouble {
  readonly bytes?: number;
  readonly isDone?: boolean;
  /** The connection ends before the request is passed on. */
  readonly isGone?: boolean;
  readonly holdMs?: number;
  readonly until?: Promise<void>;
}

/** A proxy that makes trouble. The service is asked as if at its own address. */
async function proxy(
  t: Test,
  target: string,
  troubleOf: (path: string) => Trouble | undefined,
  { onRequest = () => {} }: { readonly onRequest?: (path: string) => void } = {},
): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "/";
    onRequest(path);
    const trouble = troubleOf(path);
    if (trouble?.isGone === true) return void incoming.socket.destroy();
    const headers = { ...incoming.headers, host: new URL(target).host };
    if (headers.origin !== undefined) headers.origin = target;
    delete headers.referer;
    delete headers["accept-encoding"];
    const upstream = request(target + path, { method: incoming.method, headers }, (answer) => {
      const { bytes, isDone = false, holdMs = 0, until } = trouble ?? {};
      const send = (): void => {
        if (bytes === undefined) {
          outgoing.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(outgoing);
          return;
        }
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () => {
          if (isDone) return incoming.socket.destroy();
          outgoing.writeHead(answer.statusCode!, { ...answer.headers, "transfer-encoding": "chunked" });
          outgoing.write(Buffer.concat(parts).subarray(0, bytes), () =>
            setTimeout(() => incoming.socket.destroy(), 50),
          );
        });
      };
      if (holdMs > 0) setTimeout(send, holdMs).unref();
      else if (until !== undefined) void until.then(send);
      else send();
    });
    upstream.on("error", () => outgoing.destroy());
    incoming.pipe(upstream);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
