// Debian's Chromium, driven by Playwright.
import { readFileSync } from "node:fs";
import { type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { HANG_MS } from "../hang.ts";
import type { BrowserDriver, PageDriver, PageElement, PersonOptions } from "./driver.ts";
import { type Faults, WATCH } from "./faults.ts";

export interface ChromiumPage extends PageDriver {
  /** The page of Playwright, for what only Chromium can do. */
  readonly page: Page;
}

export interface ChromiumBrowser extends BrowserDriver {
  newPerson(faults: Faults, options?: PersonOptions): Promise<ChromiumPage>;
}

/** Playwright hides the scroll bars, which take room beside what they scroll, unless they are wanted. */
export async function startChromium({ hasScrollBars = false } = {}): Promise<ChromiumBrowser> {
  const browser = await chromium.launch({
    ...(hasScrollBars && { ignoreDefaultArgs: ["--hide-scrollbars"] }),
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
  return {
    name: "Chromium",
    async newPerson(faults, { width = 1280, height = 800, scale = 1 } = {}) {
      const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale });
      context.setDefaultTimeout(HANG_MS);
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await context.addInitScript(WATCH);
      return newPage(context, faults);
    },
    close: () => browser.close(),
  };
}

async function newPage(context: BrowserContext, faults: Faults): Promise<ChromiumPage> {
  const page = await context.newPage();
  page.on("console", (message) => faults.console(message.type(), message.text()));
  page.on("pageerror", (error) => faults.add(`error: ${error.stack ?? error}`));
  page.on("request", (request) => faults.requested(request.url()));
  page.on("response", (answer) => faults.answered(answer.status(), answer.request().method(), answer.url()));
  page.on("requestfailed", (request) => faults.failed(request.failure()?.errorText ?? "", request.url()));
  page.on("dialog", (dialog) => {
    faults.add(`a dialog: ${dialog.type()} ${dialog.message()}`);
    // A page that asks whether it may be left must not stay in the way.
    void (dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss());
  });
  const allOf = async (locator: Locator) => (await locator.all()).map((one) => elementOf(page, one));
  return {
    page,
    async open(url) {
      await page.goto(url);
    },
    url: () => page.url(),
    evaluate: (expression) => page.evaluate(expression),
    byRole: (role, name, within) =>
      allOf((within === undefined ? page : page.locator(within)).getByRole(role as "button", { name, exact: true })),
    bySelector: (selector) => allOf(page.locator(selector)),
    key: (key) => page.keyboard.press(key),
    write: (text) => page.keyboard.type(text),
    async drag(from, to) {
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
      await page.mouse.move(to.x, to.y);
      await page.mouse.up();
    },
    async wheel(at, pixels) {
      await page.mouse.move(at.x, at.y);
      await page.mouse.wheel(0, pixels);
    },
    async back() {
      await page.goBack();
    },
    async forward() {
      await page.goForward();
    },
    async reload() {
      await page.reload();
    },
    size: (width, height) => page.setViewportSize({ width, height }),
    async screenshot(path) {
      await page.screenshot({ path });
    },
    async downloaded(act) {
      const [download] = await Promise.all([page.waitForEvent("download"), act()]);
      return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
    },
    another: () => newPage(context, faults),
    close: () => page.close(),
  };
}

const elementOf = (page: Page, locator: Locator): PageElement => ({
  async press(modifier) {
    // The mouse goes there first: what is pressed may be shown, or be on top, only under it.
    await locator.scrollIntoViewIfNeeded();
    const box = await locator.boundingBox();
    if (box !== null) await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await locator.click(modifier === undefined ? {} : { modifiers: [modifier] });
  },
  focus: () => locator.focus(),
  async choose(value) {
    await locator.selectOption(value);
  },
});
