// A window of VS Code in Chromium, driven by keys and read from what it shows. Scope: a single editor group.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import type { CodeServer } from "./code-server.ts";
import { HANG_MS } from "./hang.ts";
import { locate } from "./locate.ts";
import { until } from "./until.ts";

/** Tall, so that lists and texts of the tests are shown as a whole: VS Code makes only the rows that are seen. */
const SIZE = { width: 1280, height: 1900 };

export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      ...["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"],
      ...["--disable-component-update", "--disable-sync"],
    ],
  });
}

export interface WindowOptions {
  readonly size?: { readonly width: number; readonly height: number };
  readonly deviceScaleFactor?: number;
  readonly colorScheme?: "light" | "dark";
  /** The page opens the folder by itself, and keeps what is saved: its texts are those that the editor shows, as a whole. */
  readonly isVirtual?: boolean;
}

export class VscodeWindow {
  readonly page: Page;
  readonly folder: string;
  /** The file that is edited, as its name in the folder. */
  file = "";
  readonly quickInput: Locator;
  /** The line of text in it. */
  readonly quickText: Locator;
  readonly editor: Locator;
  private readonly isVirtual: boolean;
  /** The text that a virtual folder has. */
  private shown = "";

  private constructor(page: Page, folder: string, isVirtual: boolean) {
    this.page = page;
    this.folder = folder;
    this.isVirtual = isVirtual;
    this.quickInput = page.locator(".quick-input-widget");
    this.quickText = this.quickInput.locator(".quick-input-box input");
    this.editor = page.locator(".editor-group-container .monaco-editor");
  }

  /** Opens a folder, once its files are listed. */
  static async open(
    browser: Browser,
    server: Pick<CodeServer, "url">,
    folder: string,
    options: WindowOptions = {},
  ): Promise<VscodeWindow> {
    const { isVirtual = false } = options;
    const context = await browser.newContext({
      viewport: options.size ?? SIZE,
      deviceScaleFactor: options.deviceScaleFactor ?? 1,
      colorScheme: options.colorScheme ?? "light",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(HANG_MS);
    await page.goto(`${server.url}/${isVirtual ? "" : `?folder=${encodeURIComponent(folder)}`}`);
    await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
    return new VscodeWindow(page, folder, isVirtual);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  // --- Commands and files

  /** Runs a command from the palette, by its title. */
  async command(title: string): Promise<void> {
    await this.pick("F1", `>${title}`, title);
  }

  /** Opens a file of the folder, once its text is shown. */
  async openFile(name: string): Promise<void> {
    // The list of files is of a disk.
    const row = this.page.locator(".explorer-folders-view .monaco-list-row").getByText(name, { exact: true });
    const tab = this.page.locator(`.tab.active .tab-label[aria-label*="/${name}"]`);
    let isPicked = false;
    const pick = async () => {
      await this.pick("Control+P", name, basename(name), dirname(name));
      isPicked = true;
    };
    if (this.isVirtual) await row.dblclick();
    // The list may change under a click, which then opens another file of the same name.
    else await this.tryFor(name, pick, async () => isPicked && (await tab.count()) > 0);
    await this.page.locator(".tab.active", { hasText: basename(name) }).waitFor();
    await this.editor.locator(".view-line").first().waitFor();
    this.file = name;
    if (this.isVirtual) await this.focusEditor();
    await this.readShown();
  }

  /** `folder` is beside the row, unless it is the one that is open: rows of before the text was written may have the same label. */
  private async pick(key: string, text: string, row: string, folder = ".") {
    await this.page.keyboard.press(key);
    await this.quickText.waitFor();
    await this.quickText.fill(text);
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    const likely = folder === "." ? rows : rows.filter({ hasText: folder });
    const label = likely.locator(".label-name").getByText(row, { exact: true });
    await label.first().click();
    // The command may ask for more, in a list of its own.
    await label.first().waitFor({ state: "hidden" });
  }

  /** Saves the file, if it was changed, and gives its text. */
  async save(): Promise<string> {
    if (await this.isDirty()) {
      await this.page.keyboard.press("Control+S");
      await this.page.locator(".tab.active:not(.dirty)").waitFor();
    }
    await this.readShown();
    return this.text();
  }

  /** The text as it was saved last. */
  text(): string {
    return this.isVirtual ? this.shown : readFileSync(join(this.folder, this.file), "utf8");
  }

  private async readShown(): Promise<void> {
    if (this.isVirtual) this.shown = (await this.lines()).join("\n");
  }

  /** Puts a text in the place of the whole file, and saves it. */
  async replaceAll(text: string): Promise<void> {
    await this.page.keyboard.press("Control+A");
    await this.paste(text);
  }

  private async paste(text: string): Promise<void> {
    await this.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await this.page.keyboard.press("Control+V");
    await this.changed();
  }

  /** Waits for a change that was not saved, and saves it. */
  async changed(): Promise<string> {
    await this.page.locator(".tab.active.dirty").waitFor();
    return this.save();
  }

  /** The rows of the open list, such as completions of a query or the commands of a menu, as they are read. */
  async listed(): Promise<string[]> {
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    await rows.first().waitFor();
    return rows.evaluateAll((rows) =>
      rows
        .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
        .map((row) => row.querySelector(".label-name")?.textContent?.trim() ?? ""),
    );
  }

  /** Waits for an item of the status bar that reads so, and gives its text. */
  async statusItem(text: string | RegExp): Promise<string> {
    const item = this.page.locator(".statusbar-item", { hasText: text }).first();
    await item.waitFor();
    return (await item.innerText()).trim();
  }

  /** The lines that the active editor shows. */
  async lines(): Promise<string[]> {
    const lines = await this.editor
      .locator(".view-line")
      .evaluateAll((lines) =>
        lines
          .sort((a, b) => Number.parseFloat(a.style.top) - Number.parseFloat(b.style.top))
          .map(({ textContent }) => textContent ?? ""),
      );
    // Blanks are drawn as those that do not break.
    return lines.map((line) => line.replaceAll("\u00a0", " "));
  }

  // --- The cursor

  /** The cursor as the status bar says it: `line:column`, from 1; undefined while something is selected. */
  async cursor(): Promise<string | undefined> {
    const status = await this.page.locator("[id='status.editor.selection']").textContent();
    const match = /Ln (\d+), Col (\d+)$/.exec(status ?? "");
    return match === null ? undefined : `${match[1]}:${match[2]}`;
  }

  async go(offset: number): Promise<void> {
    const before = this.text().slice(0, offset).split("\n");
    const place = `${before.length}:${before.at(-1)!.length + 1}`;
    await this.page.keyboard.press("Control+G");
    await this.quickInput.waitFor();
    await this.quickText.fill(`:${place}`);
    await this.page.keyboard.press("Enter");
    await this.quickInput.waitFor({ state: "hidden" });
    await until(`the cursor at ${place}`, async () => (await this.cursor()) === place);
  }

  /** Puts a text in the place of another, which occurs once, and the cursor to its `|`; then saves. */
  async edit({ replace, with: text = "", at }: { replace?: string; with?: string; at?: string }): Promise<void> {
    if (replace !== undefined) {
      const { from, to } = locate(this.text(), replace);
      await this.go(from);
      for (let i = from; i < to; i++) await this.page.keyboard.press("Shift+ArrowRight");
      // Pasted, as typing completes brackets and quotes.
      await this.paste(text.replace("|", ""));
    }
    const marked = at ?? (text.includes("|") ? text : undefined);
    if (marked !== undefined) await this.go(locate(this.text(), marked).cursor);
  }

  // --- What the editor shows

  /** The problems that the panel lists, as `line:column message`, file by file. */
  async problems(): Promise<string[]> {
    const rows = await this.page.locator(".markers-panel .monaco-list-row").evaluateAll((rows) =>
      rows.flatMap((row) => {
        const place = /\[Ln (\d+), Col (\d+)\]/.exec(row.querySelector(".marker-line")?.textContent ?? "");
        const lines = [...row.querySelectorAll(".marker-message")].map(({ textContent }) => textContent);
        return place === null ? [] : [`${place[1]}:${place[2]} ${lines.join("\n")}`];
      }),
    );
    return rows;
  }

  /** Shows the panel of problems, and goes back to the editor. */
  async showProblems(): Promise<void> {
    const panel = this.page.locator(".markers-panel");
    // The key hides a panel that is shown.
    if (!(await panel.isVisible())) await this.page.keyboard.press("Control+Shift+M");
    await panel.waitFor();
    await this.focusEditor();
  }

  private async focusEditor(): Promise<void> {
    await this.page.keyboard.press("Control+1");
    await this.page.locator(".editor-group-container .monaco-editor.focused").waitFor();
  }

  /** The problems, once they are as many; those that are listed at the end of the wait where they never are. */
  async problemsOnce(count: number): Promise<string[]> {
    await until(`${count} problems`, async () => (await this.problems()).length === count).catch(() => {});
    return this.problems();
  }

  /** The labels that are suggested at the cursor, in their order. */
  async suggestions(): Promise<string[]> {
    const rows = this.page.locator(".suggest-widget.visible .monaco-list-row");
    await this.pressFor("suggestions", "Control+Space", () => rows.first().isVisible());
    // In the order of the screen, which is not that of the elements.
    return rows.evaluateAll((rows) =>
      rows
        .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
        .map((row) => row.querySelector(".label-name")?.textContent ?? ""),
    );
  }

  async acceptSuggestion(label: string): Promise<string> {
    const focused = this.page.locator(".suggest-widget.visible .monaco-list-row.focused .label-name");
    await until(`${label} to be chosen`, async () => {
      if ((await focused.textContent()) === label) return true;
      await this.page.keyboard.press("ArrowDown");
      return false;
    });
    await this.page.keyboard.press("Enter");
    await this.page.locator(".tab.active.dirty").waitFor();
    // A value to be chosen next is suggested at once.
    await this.page.keyboard.press("Escape");
    return this.changed();
  }

  /** Shows the hover at the cursor, and gives its paragraphs as they are. */
  async showHover(): Promise<string> {
    const hover = this.page.locator(".monaco-hover:not(.hidden) .hover-contents").first();
    await this.pressFor("a hover", ["Control+K", "Control+I"], () => hover.isVisible());
    return (await hover.innerText()).trim();
  }

  /** Returns the text of the hover at the cursor; closes it again. */
  async hover(): Promise<string> {
    const text = await this.showHover();
    await this.page.keyboard.press("Escape");
    return text;
  }

  /**
   * Clicks a lens until it has worked: the editor redraws lenses after changes, and a click in between is lost, as it is
   * for users.
   */
  async clickLens(title: string, hasWorked: () => Promise<boolean>): Promise<void> {
    const lens = this.editor.locator(".codelens-decoration a", { hasText: title });
    await this.tryFor(`what the lens ${title} does`, () => lens.click(), hasWorked);
  }

  /** Presses keys until they have worked: the editor loses those that come while it draws, as it does to users. */
  private pressFor(what: string, keys: string | readonly string[], hasWorked: () => Promise<boolean>): Promise<void> {
    const press = async () => {
      for (const key of [keys].flat()) await this.page.keyboard.press(key);
    };
    return this.tryFor(what, press, hasWorked);
  }

  private async tryFor(what: string, act: () => Promise<void>, hasWorked: () => Promise<boolean>): Promise<void> {
    for (let tries = 1; !(await hasWorked()); tries++) {
      const worked = act().then(() => until(what, hasWorked));
      if (tries < 3) await worked.catch(() => {});
      else await worked;
    }
  }

  private async isDirty(): Promise<boolean> {
    return (await this.page.locator(".tab.active.dirty").count()) > 0;
  }

  /** The lenses, as `line title`, by line, once there is one: while the editor draws them anew there are none. */
  async lenses(): Promise<string[]> {
    await this.editor.locator(".codelens-decoration a").first().waitFor();
    return until("a lens", async () => {
      const shown = await this.drawnLenses();
      return shown.length > 0 ? shown : undefined;
    });
  }

  private async drawnLenses(): Promise<string[]> {
    const titles = await this.editor.locator(".codelens-decoration").evaluateAll((lenses) =>
      lenses.flatMap((lens) => {
        const { top } = lens.getBoundingClientRect();
        return [...lens.querySelectorAll("a")].map(({ textContent }) => ({ top, title: textContent ?? "" }));
      }),
    );
    const lines = await this.editor
      .locator(".margin .line-numbers")
      .evaluateAll((numbers) =>
        numbers.map((number) => ({ top: number.getBoundingClientRect().top, line: number.textContent?.trim() })),
      );
    const byPlace = (a: { top: number }, b: { top: number }) => a.top - b.top;
    lines.sort(byPlace);
    // A lens is above its line.
    return titles.sort(byPlace).map(({ top, title }) => `${lines.find((line) => line.top > top)?.line} ${title}`);
  }

  /** The titles of the light bulb's menu; the menu stays. */
  async fixes(): Promise<string[]> {
    const rows = this.page.locator(".action-widget .monaco-list-row.action");
    await this.pressFor("the menu of fixes", "Control+.", () => rows.first().isVisible());
    return rows.evaluateAll((rows) =>
      rows
        .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
        .map(({ textContent }) => textContent ?? ""),
    );
  }

  async acceptFix(title: string): Promise<string> {
    const row = this.page.locator(".action-widget .monaco-list-row.action").getByText(title, { exact: true });
    // New problems close the menu.
    const accept = async () => {
      if (!(await row.isVisible())) await this.fixes();
      await row.click();
    };
    await this.tryFor(`the change of ${title}`, accept, () => this.isDirty());
    return this.changed();
  }

  /** F2, as a person does it. */
  async rename(to: string): Promise<string> {
    const input = this.page.locator(".rename-box .rename-input");
    await this.pressFor("the field for a name", "F2", () => input.isVisible());
    await input.fill(to);
    await this.page.keyboard.press("Enter");
    return this.changed();
  }

  /** F12; where the cursor is then. */
  async definition(): Promise<string | undefined> {
    const before = await this.cursor();
    await this.pressFor("the cursor to move", "F12", async () => (await this.cursor()) !== before);
    return this.cursor();
  }

  async format(): Promise<string> {
    await this.pressFor("the formatted text", "Control+Shift+I", () => this.isDirty());
    return this.changed();
  }
}
