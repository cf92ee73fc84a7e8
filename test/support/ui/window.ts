// A window of a person at the web UI: found by role and name as people find things, and waited for.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../cli.ts";
import { until } from "../until.ts";
import type { Download, PageDriver, PageElement, Point } from "./driver.ts";
import type { Faults } from "./faults.ts";

/** More stops than any page has. */
const MOST_TABS = 250;
/** The name of what has the focus, as it is written for those who hear it. */
const FOCUSED_NAME = `(() => {
  const element = document.activeElement;
  const text = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
  return text.replace(/\\s+/g, " ").trim();
})()`;

export class Window {
  readonly driver: PageDriver;
  readonly faults: Faults;

  constructor(driver: PageDriver, faults: Faults) {
    this.driver = driver;
    this.faults = faults;
  }

  open(url: string): Promise<void> {
    return this.driver.open(url);
  }

  /** The path and query of its address, decoded so that rows of tests can be read. */
  address(): string {
    const { pathname, search } = new URL(this.driver.url());
    return decodeURIComponent(pathname + search.replaceAll("+", " "));
  }

  evaluate<T>(expression: string): Promise<T> {
    return this.driver.evaluate<T>(expression);
  }

  /** Presses what has a role and a name, once it is there. */
  async press(role: string, name: string, within?: string): Promise<void> {
    await this.#act(
      `${role} "${name}"`,
      () => this.driver.byRole(role, name, within),
      (element) => element.press(),
    );
  }

  /** Presses the first of what a selector selects: for what has no name of its own, such as a row. */
  async pressAt(selector: string, modifier?: "Alt"): Promise<void> {
    await this.#act(
      selector,
      async () => (await this.driver.bySelector(selector)).slice(0, 1),
      (element) => element.press(modifier),
    );
  }

  async focus(role: string, name: string, within?: string): Promise<void> {
    await this.#act(
      `${role} "${name}"`,
      () => this.driver.byRole(role, name, within),
      (element) => element.focus(),
    );
  }

  /** Presses an entry of a menu. */
  async menu(button: string, entry: string, role = "menuitem"): Promise<void> {
    await this.press("button", button);
    await this.press(role, entry);
  }

  /** Puts a text in the place of the one that a field has. */
  async fill(name: string, text: string, role = "textbox", within?: string): Promise<void> {
    await this.focus(role, name, within);
    await this.driver.key("Control+a");
    if (text === "") await this.driver.key("Delete");
    else await this.driver.write(text);
  }

  async choose(name: string, value: string, within?: string): Promise<void> {
    await this.#act(
      `"${name}"`,
      () => this.driver.byRole("combobox", name, within),
      (element) => element.choose(value),
    );
  }

  async keys(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.driver.key(key);
  }

  /** The name of what has the focus. */
  focused(): Promise<string> {
    return this.evaluate(FOCUSED_NAME);
  }

  /** Presses Tab until what has this name has the focus: for people without a mouse. */
  async tabTo(name: string): Promise<void> {
    const names: string[] = [];
    while (names.length < MOST_TABS) {
      await this.driver.key("Tab");
      const reached = await this.focused();
      if (reached === name) return;
      names.push(reached);
    }
    throw new Error(`Tab does not lead to ${name}, but to ${names.join(", ")}`);
  }

  write(text: string): Promise<void> {
    return this.driver.write(text);
  }

  /** Returns the text of an element, as it is laid out. */
  text(selector = "body"): Promise<string> {
    return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
  }

  /** The texts of all that a selector selects. */
  texts(selector: string): Promise<string[]> {
    return this.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => element.innerText)`,
    );
  }

  /** Waits for a text. */
  async shows(text: string | RegExp, selector = "body"): Promise<string> {
    return this.until(`${text} in ${selector}`, async () => {
      const content = await this.text(selector);
      return (typeof text === "string" ? content.includes(text) : text.test(content)) ? content : undefined;
    });
  }

  async hides(text: string | RegExp, selector = "body"): Promise<void> {
    await this.until(`${selector} without ${text}`, async () => {
      const content = await this.text(selector);
      return !(typeof text === "string" ? content.includes(text) : text.test(content));
    });
  }

  async has(role: string, name: string, within?: string): Promise<boolean> {
    return (await this.driver.byRole(role, name, within)).length > 0;
  }

  /** Waits for what has a role and a name. */
  async sees(role: string, name: string, within?: string): Promise<void> {
    await this.until(`${role} "${name}"`, () => this.has(role, name, within));
  }

  async isAt(address: string | RegExp): Promise<void> {
    await this.until(`the address ${address}`, () =>
      typeof address === "string" ? this.address() === address : address.test(this.address()),
    );
  }

  /** Asks until the answer is truthy; an error says what the page shows instead. */
  async until<T>(what: string, ask: () => T | Promise<T>): Promise<NonNullable<T>> {
    let last: unknown;
    const answer = async () => {
      try {
        const value = await ask();
        last = undefined;
        return value;
      } catch (error) {
        // The page may be on its way to another one.
        last = error;
        return undefined;
      }
    };
    return until(what, answer).catch(async (error: Error) => {
      throw new Error(await this.#waited(error.message, last));
    });
  }

  /** The middle of an element, or a place at shares of its width and height. */
  async place(selector: string, x = 0.5, y = 0.5): Promise<Point> {
    return this.evaluate(`(() => {
      const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      return { x: Math.round(box.left + box.width * ${x}), y: Math.round(box.top + box.height * ${y}) };
    })()`);
  }

  downloaded(act: () => Promise<void>): Promise<Download> {
    return this.driver.downloaded(act);
  }

  /** Calls an operation as the page does, as the person of this window. */
  async call<T>(name: string, body: object, team = "owner"): Promise<T> {
    const { status, text } = await this.evaluate<{ status: number; text: string }>(`fetch("/${name}", {
      method: "POST",
      headers: { "content-type": "application/json", "x-team": ${JSON.stringify(team)} },
      body: ${JSON.stringify(JSON.stringify(body))},
    }).then(async (response) => ({ status: response.status, text: await response.text() }))`);
    if (status >= 300) throw new Error(`${name}: ${status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  async another(): Promise<Window> {
    return new Window(await this.driver.another(), this.faults);
  }

  close(): Promise<void> {
    return this.driver.close();
  }

  /** Keeps a picture in dist/pictures. */
  async picture(name: string): Promise<string> {
    const folder = join(root, "dist/pictures");
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `ui-${name}.png`);
    await this.driver.screenshot(path);
    return path;
  }

  /** Finds exactly one, and does something to it; finds it again if the page was drawn anew meanwhile. */
  async #act(
    what: string,
    find: () => Promise<readonly PageElement[]>,
    act: (element: PageElement) => Promise<void>,
  ): Promise<void> {
    await this.until(what, async () => {
      const elements = await find();
      if (elements.length > 1) throw new Error(`${elements.length} are ${what}`);
      if (elements.length === 0) return false;
      await act(elements[0]!);
      return true;
    });
  }

  async #waited(what: string, error: unknown): Promise<string> {
    const content = await this.text().catch(String);
    const path = await this.picture("failed").catch(String);
    const faults = this.faults.take().join("\n");
    return [
      what,
      ...(error === undefined ? [] : [`last error: ${error}`]),
      ...(faults === "" ? [] : [`faults: ${faults}`]),
      `at ${this.driver.url()} (${path}) it shows: ${content.slice(0, 1_500)}`,
    ].join("\n");
  }
}
