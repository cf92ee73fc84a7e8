// A person with a machine of their own: a file of who is signed in, a terminal, and a browser.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Outcome, type Running, root, spawnTool, tool } from "./cli.ts";
import { HANG_MS } from "./hang.ts";
import { until } from "./until.ts";

export interface Person {
  readonly email: string;
  readonly env: Readonly<Record<string, string>>;
  /** The file that keeps who is signed in on the machine. */
  readonly path: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Runs `tool ...words` on the machine. */
  run(words: string): Promise<Outcome>;
  /** Starts `tool ...words` there, and leaves it running. It is killed at the end of the test. */
  spawn(words: string): Running;
  /** `tool team login`, once it shows its code. */
  beginLogin(words: string): Promise<Running & { readonly code: string }>;
  /** Returns the content of the file. */
  kept(): Kept;
}

interface Kept {
  readonly team?: string;
  readonly teams: Readonly<Record<string, { readonly email: string; readonly url: string; readonly token: string }>>;
}

interface Test {
  teardown(handler: () => unknown): void;
}

export async function personAt(t: Test, browser: Browser, email: string): Promise<Person> {
  const folder = mkdtempSync(join(tmpdir(), "tool-person-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const env = { XDG_CONFIG_HOME: folder, HOME: folder };
  const path = join(folder, "tool/config.json");
  const context = await browser.newContext();
  context.setDefaultTimeout(HANG_MS);
  const spawn = (words: string) => {
    const running = spawnTool(words.split(" "), { env, cwd: folder });
    t.teardown(async () => {
      running.kill("SIGKILL");
      await running.ended;
    });
    return running;
  };
  return {
    email,
    env,
    path,
    context,
    page: await context.newPage(),
    run: (words) => tool(words.split(" "), { env, cwd: folder }),
    spawn,
    async beginLogin(words) {
      const running = spawn(`team login --email ${email} ${words}`);
      const code = await until("the code", () => {
        if (running.child.exitCode !== null) throw new Error(`ended early: ${running.stderr()}`);
        return loginCode(running.stderr());
      });
      return { ...running, code };
    },
    kept: () => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { teams: {} }),
  };
}

/** The code that `tool team login` shows. */
export const loginCode = (text: string) => /^ {4}(\d{3} \d{3})\r?$/m.exec(text)?.[1];

/** Opens the link of a mail in a window of its own and types the code. Answers what the page says then. */
export async function typeCode({ context }: Person, link: string, code: string): Promise<string> {
  const page = await context.newPage();
  try {
    await page.goto(link);
    await page.getByLabel("The code that it shows").fill(code);
    await page.getByRole("button", { name: "Sign in that device" }).click();
    await page.getByRole("heading", { name: "Signed in" }).waitFor();
    return (await page.textContent("main")) ?? "";
  } finally {
    await page.close();
  }
}

/** Calls an operation as a page of the service does, with the cookie of who is signed in there. */
export function callFrom(
  page: Page,
  name: string,
  body: object,
  team?: string,
): Promise<{ status: number; text: string }> {
  return page.evaluate(
    async ({ name, body, team }) => {
      const headers = { "content-type": "application/json", ...(team !== undefined && { "x-team": team }) };
      const response = await fetch(`/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, text: await response.text() };
    },
    { name, body, team },
  );
}

const PICTURES = join(root, "dist/pictures");

/** Keeps what a terminal showed beside the pictures. */
export function transcript(name: string, text: string): void {
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, `accounts-${name}.txt`), text);
}

const SIZES = [
  ["wide", 1280, 800],
  ["narrow", 390, 844],
] as const;

/** Takes pictures of a page into dist/pictures. Answers what is wider than its window. */
export async function picture(page: Page, name: string, schemes: readonly ("light" | "dark")[] = ["light"]) {
  mkdirSync(PICTURES, { recursive: true });
  const tooWide: string[] = [];
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    for (const [size, width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: join(PICTURES, `accounts-${name}-${size}-${colorScheme}.png`), fullPage: true });
      if ((await page.evaluate("document.documentElement.scrollWidth")) !== width) tooWide.push(`${name} ${size}`);
    }
  }
  return tooWide;
}

/** Waits until a page has come to the web UI, which leads on by itself, and opens the account there. */
export async function openAccount(page: Page, origin: string): Promise<void> {
  // Not waitForURL, which ends at a page that does not load: Chromium loads it again when the service is back.
  await until(
    "the web UI",
    () => URL.canParse(page.url()) && isWebUi(new URL(page.url()), origin),
    () => page.url(),
  );
  await page.goto(`${origin}/account`);
}

const isWebUi = (url: URL, origin: string) => url.origin === origin && /^\/(?:t\/.*)?$/.test(url.pathname);
