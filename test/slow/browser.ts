// The example app in a real browser: its pages, its failures, and the proxy's error pages in light and dark.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import t from "tap";
import { root, startTool } from "../support/cli.ts";
import { HANG_MS } from "../support/hang.ts";
import { requires } from "../support/require.ts";

t.test("the examples in Chromium", { skip: requires("chromium") }, async (t) => {
  const pictures = join(root, "dist/pictures");
  mkdirSync(pictures, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
  t.teardown(() => browser.close());

  const open = async (example: string) => {
    const directory = mkdtempSync(join(tmpdir(), "tool-browser-"));
    cpSync(join(root, "examples", example), directory, {
      recursive: true,
      filter: (source) => !source.endsWith(".tool"),
    });
    const { running, url } = await startTool(directory);
    t.teardown(async () => {
      running.kill("SIGINT");
      await running.ended;
      rmSync(directory, { recursive: true, force: true });
    });
    return url;
  };
  const node = await open("node-server");
  const site = await open("static-site");

  for (const colorScheme of ["light", "dark"] as const) {
    await t.test(colorScheme, async (t) => {
      const page = await browser.newPage({ colorScheme, viewport: { width: 900, height: 700 } });
      page.setDefaultTimeout(HANG_MS);
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));

      await page.goto(node);
      t.equal(await page.title(), "Orders");
      await page.getByRole("button", { name: "Fail with 500" }).click();
      await page.getByRole("button", { name: "Crash the process" }).click();
      await page.locator("#answers li", { hasText: "502" }).waitFor();
      // Answered by the restarted app.
      await page.getByRole("button", { name: "Ask for a missing order" }).click();
      await page.locator("#answers li", { hasText: "404" }).waitFor();
      t.equal(await page.locator("#answers li", { hasText: ": 500 after" }).count(), 1);
      await page.screenshot({ path: join(pictures, `orders-${colorScheme}.png`) });

      const missing = await page.goto(new URL("/no/such/page", node).href);
      t.equal(missing?.status(), 404);
      t.match(await page.textContent("body"), /404|Not Found/);
      await page.screenshot({ path: join(pictures, `error-${colorScheme}.png`) });

      await page.goto(site);
      await page.getByRole("link", { name: "/blog/rivers" }).click();
      await page.waitForURL("**/guide/rivers.html");
      const nowhere = await page.goto(new URL("/nowhere", site).href);
      t.equal(nowhere?.status(), 404);
      t.equal(await page.textContent("h1"), "This path leads nowhere");
      await page.screenshot({ path: join(pictures, `site-404-${colorScheme}.png`) });
      t.same(errors, []);
      await page.close();
    });
  }
});
