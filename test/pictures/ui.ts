// Makes the pictures of the web UI for the README from the real thing: npm run pictures:ui [-- explorer ...].
// A service of its own holds the same events each time, counted back from now, and what `tool start` sends of the example that
// `npm start` runs; each scene is taken in light or in dark.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { listening, root, spawnTool } from "../support/cli.ts";
import { type ChromiumPage, startChromium } from "../support/ui/chromium.ts";
import { dayOfShop } from "../support/ui/day-of-shop.ts";
import type { Window } from "../support/ui/window.ts";
import { firstOwner, startWorld, TEAM } from "../support/ui/world.ts";

interface Scene {
  readonly name: string;
  readonly colours: readonly ("light" | "dark")[];
  readonly path: string;
  readonly height: number;
  /** Brings about what is shown. */
  readonly show: (window: Window) => Promise<void>;
}

const P = `/t/${TEAM}/p/shop`;
/** The project of the example of `npm start`. */
const ORDERS = `/t/${TEAM}/p/orders`;

const SCENES: readonly Scene[] = [
  {
    name: "start",
    colours: ["light"],
    path: `${ORDERS}/events?last=15m`,
    height: 560,
    async show(window) {
      await window.shows("GET /api/orders/42");
      await window.until("every facet", async () => !(await window.text(".facets")).includes("…\n"));
    },
  },
  {
    name: "explorer",
    colours: ["light", "dark"],
    path: `${P}/events?last=6h&query=${encodeURIComponent("level >= error")}`,
    height: 560,
    async show(window) {
      await window.shows("errors", ".summary");
      await window.pressAt('.event[data-row="2"] .message');
      await window.shows("Context", ".detail");
      await window.until("every facet", async () => !(await window.text(".facets")).includes("…\n"));
    },
  },
  {
    name: "lines",
    colours: ["light"],
    path: `${P}/events?last=6h&query=${encodeURIComponent("message = response | timeseries 10m count() by path")}`,
    height: 500,
    async show(window) {
      await window.until("the lines", () => window.evaluate("document.querySelector('.chart-lines canvas') !== null"));
    },
  },
  {
    name: "alert",
    colours: ["light"],
    path: `${P}/alerts/new?query=${encodeURIComponent("status >= 500")}&threshold=5&interval=5&name=Orders+fail`,
    height: 700,
    async show(window) {
      await window.shows(/would have triggered (?:once|\d+ times)/);
    },
  },
];

/** A person who tries the example of `npm start`, as its README says. */
const TRIED: readonly (readonly [path: string, init?: RequestInit])[] = [
  ["/"],
  ["/assets/style.css"],
  ["/orders/44"],
  ["/api/orders"],
  ["/api/orders", { method: "POST", body: '{"customer":"Ada","items":["lamp"]}' }],
  ["/docs/start"],
  ["/order/45"],
  ["/slow?ms=600"],
  ["/api/orders/99"],
  ["/nothing"],
  ["/api/orders/42?fail=1"],
  ["/api/orders/42"],
];

/** Runs the example as `npm start` does, tries it, and ends it once its entries are kept. */
async function tryExample(t: typeof owner, window: Window, url: string): Promise<void> {
  await window.call("add_project", { project: { id: "orders", name: "orders" } });
  const { id: token } = await window.call<{ id: string }>("add_token", {
    token: { description: "start", scopes: ["events:write"] },
  });
  const words = ["-C", join(root, "examples/node-server"), "start", "--no-env", "--address", "127.0.0.1:0"];
  const app = spawnTool([...words, "--logs-url", url], { env: { TOOL_LOGS_TOKEN: token, TOOL_LOGS_URL: url } });
  t.teardown(() => app.kill("SIGKILL"));
  const address = await listening(app);
  for (const [path, init] of TRIED) await fetch(new URL(path, address), { redirect: "manual", ...init });
  app.kill("SIGTERM");
  await app.ended;
}

/** Narrow enough that texts are read in a README, where a picture is made smaller. */
const WIDTH = 1120;

/** A README with more would be slow to open. */
const MAX_BYTES = 180_000;

const ended: (() => unknown)[] = [];
const owner = { teardown: (handler: () => unknown) => void ended.unshift(handler) };
try {
  const browser = await startChromium();
  owner.teardown(() => browser.close());
  const world = await startWorld(owner, browser);
  const window = await firstOwner(world);
  await dayOfShop(window);
  await tryExample(owner, window, world.service.url);
  const folder = join(root, "logservice/ui/images");
  mkdirSync(folder, { recursive: true });
  const named = process.argv.slice(2);
  const { page } = window.driver as ChromiumPage;
  for (const { name, colours, path, height, show } of SCENES) {
    if (named.length > 0 && !named.includes(name)) continue;
    await window.driver.size(WIDTH, height);
    for (const colorScheme of colours) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await window.open(world.service.url + path);
      await show(window);
      // An element under the mouse looks different.
      await page.mouse.move(0, 0);
      const file = join(folder, `${name}-${colorScheme}.png`);
      await page.screenshot({ path: file, animations: "disabled" });
      const { size: bytes } = statSync(file);
      console.log(`${name}-${colorScheme}.png: ${Math.ceil(bytes / 1000)} KB`);
      if (bytes > MAX_BYTES) process.exitCode = 1;
    }
  }
  for (const fault of world.faults()) {
    console.error(fault);
    process.exitCode = 1;
  }
} finally {
  for (const end of ended) await end();
}
