// Debian's Firefox, driven by Puppeteer over WebDriver BiDi. Roles and names are those of its own accessibility tree.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type BrowserContext, type ElementHandle, type KeyInput, type Page } from "puppeteer-core";
import { HANG_MS } from "../hang.ts";
import { until } from "../until.ts";
import type { BrowserDriver, PageDriver, PageElement } from "./driver.ts";
import { type Faults, WATCH } from "./faults.ts";

export async function startFirefox(): Promise<BrowserDriver> {
  const downloads = mkdtempSync(join(tmpdir(), "tool-firefox-"));
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr",
    headless: true,
    timeout: HANG_MS,
    protocolTimeout: HANG_MS,
    extraPrefsFirefox: {
      "browser.download.folderList": 2,
      "browser.download.dir": downloads,
      "browser.download.always_ask_before_handling_new_types": false,
      "browser.helperApps.neverAsk.saveToDisk": "text/csv,application/x-ndjson,application/octet-stream",
      // Nothing but what the page asks for.
      "app.normandy.enabled": false,
      "network.captive-portal-service.enabled": false,
      "network.connectivity-service.enabled": false,
    },
  });
  return {
    name: "Firefox",
    async newPerson(faults, { width = 1280, height = 800 } = {}) {
      const context = await browser.createBrowserContext();
      return newPage({ context, faults, downloads, width, height });
    },
    async close() {
      await browser.close();
      rmSync(downloads, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Person {
  readonly context: BrowserContext;
  readonly faults: Faults;
  readonly downloads: string;
  readonly width: number;
  readonly height: number;
}

async function newPage(person: Person): Promise<PageDriver> {
  const { context, faults, downloads, width, height } = person;
  // A tab that is not in front is drawn late and cannot be scrolled.
  const page = await context.newPage({ type: "window" });
  page.setDefaultTimeout(HANG_MS);
  await page.setViewport({ width, height });
  await page.evaluateOnNewDocument(WATCH);
  page.on("console", (message) => faults.console(message.type(), message.text()));
  page.on("pageerror", (error) => faults.add(`error: ${error instanceof Error ? error.stack : error}`));
  page.on("request", (request) => faults.requested(request.url()));
  page.on("response", (answer) => faults.answered(answer.status(), answer.request().method(), answer.url()));
  page.on("requestfailed", (request) => faults.failed(request.failure()?.errorText ?? "", request.url()));
  page.on("dialog", (dialog) => {
    faults.add(`a dialog: ${dialog.type()} ${dialog.message()}`);
    // A page that asks whether it may be left must not stay in the way.
    void (dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss());
  });
  const { keyboard, mouse } = page;
  return {
    async open(url) {
      await page.goto(url, { waitUntil: "load" });
    },
    url: () => page.url(),
    evaluate: (expression) => page.evaluate(expression) as Promise<never>,
    async byRole(role, name, within) {
      const selector = `::-p-aria([name=${JSON.stringify(name)}][role="${role}"])`;
      const candidates = await page.evaluateHandle(candidatesOf(role, name, within));
      const handles: ElementHandle[] = [];
      for (const property of (await candidates.getProperties()).values()) {
        const element = property.asElement();
        if (element !== null && (await element.$(selector)) !== null) handles.push(element as ElementHandle);
      }
      return handles.map((element) => elementOf(page, element));
    },
    bySelector: async (selector) => (await page.$$(selector)).map((element) => elementOf(page, element)),
    async key(key) {
      const keys = key.split("+") as KeyInput[];
      for (const modifier of keys.slice(0, -1)) await keyboard.down(modifier);
      await keyboard.press(keys.at(-1)!);
      for (const modifier of keys.slice(0, -1).reverse()) await keyboard.up(modifier);
    },
    write: (text) => keyboard.type(text),
    async drag(from, to) {
      await mouse.move(from.x, from.y);
      await mouse.down();
      await mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
      await mouse.move(to.x, to.y);
      await mouse.up();
    },
    async wheel(at, pixels) {
      await mouse.move(at.x, at.y);
      await mouse.wheel({ deltaY: pixels });
    },
    // The history of a page that draws its own pages: there is nothing to load.
    back: () => page.evaluate("history.back()") as Promise<never>,
    forward: () => page.evaluate("history.forward()") as Promise<never>,
    async reload() {
      await page.reload();
    },
    size: (width, height) => page.setViewport({ width, height }),
    async screenshot(path) {
      await page.screenshot({ path: path as `${string}.png` });
    },
    async downloaded(act) {
      const before = new Set(readdirSync(downloads));
      await act();
      const name = await until("a download", () => {
        const names = readdirSync(downloads).filter((name) => !before.has(name));
        // While it lasts, an empty file has the name and another one what has come.
        return names.some((name) => name.endsWith(".part"))
          ? undefined
          : names.find((name) => (statSync(join(downloads, name), { throwIfNoEntry: false })?.size ?? 0) > 0);
      });
      return { name, text: readFileSync(join(downloads, name), "utf8") };
    },
    another: () => newPage(person),
    close: () => page.close(),
  };
}

/** Elements that have a role without the attribute of that name. */
const NATIVE: Readonly<Record<string, string>> = {
  button: "button, summary, input[type=submit]",
  checkbox: "input[type=checkbox]",
  combobox: "select",
  heading: "h1, h2, h3, h4",
  link: "a[href]",
  radio: "input[type=radio]",
  searchbox: "input[type=search]",
  spinbutton: "input[type=number]",
  textbox: "input, textarea",
};

/**
 * An expression for the elements that may have a role and a name. Whether they do is asked of Firefox, which takes seconds
 * to search a whole page for that.
 */
function candidatesOf(role: string, name: string, within = "html"): string {
  const selector = [NATIVE[role], `[role=${role}]`].filter(Boolean).join();
  return `[...(document.querySelector(${JSON.stringify(within)})?.querySelectorAll(${JSON.stringify(selector)}) ?? [])]
    .filter((element) =>
      [
        element.getAttribute("aria-label"),
        document.getElementById(element.getAttribute("aria-labelledby"))?.textContent,
        ...[...(element.labels ?? [])].map((label) => label.textContent),
        element.textContent,
        element.value,
        element.title,
        element.placeholder,
      ].some((text) => text?.replace(/\\s+/g, " ").includes(${JSON.stringify(name)})))`;
}

const elementOf = (page: Page, element: ElementHandle): PageElement => ({
  async press(modifier) {
    if (modifier !== undefined) await page.keyboard.down(modifier);
    await element.click();
    if (modifier !== undefined) await page.keyboard.up(modifier);
  },
  focus: () => element.focus(),
  async choose(value) {
    await element.select(value);
  },
});
