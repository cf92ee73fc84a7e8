// A real service with its web UI, mails and a receiver of webhooks, and people at a browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initService } from "../init-service.ts";
import { type Mailbox, startMailbox } from "../mailbox.ts";
import { type ServiceProcess, serviceProcess } from "../service-process.ts";
import { until } from "../until.ts";
import type { BrowserDriver, PageDriver, PersonOptions } from "./driver.ts";
import { Faults } from "./faults.ts";
import { Window } from "./window.ts";

export const ANN = "ann@example.com";
export const BOB = "bob@example.com";
/** The id of the first team. */
export const TEAM = "owner";

export interface World {
  readonly browser: BrowserDriver;
  readonly service: ServiceProcess;
  readonly mailbox: Mailbox;
  /** Signs the first owner in, once: what `service init` printed. */
  readonly firstLink: string;
  /** A window of a person who is new to the browser. */
  newPerson(options?: PersonOptions): Promise<Window>;
  /** The faults of every window since the last time. */
  faults(): readonly string[];
}

interface Test {
  teardown(handler: () => unknown): void;
}

/** Its parts end with the test; the browser is whose who started it. */
export async function startWorld(t: Test, browser: BrowserDriver): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "tool-ui-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const data = join(folder, "data");
  const mailbox = await startMailbox(t);
  const service = await serviceProcess(t, { data, smtp: mailbox.url, more: ["--allow-private-targets"] });
  const made = await initService(data, ANN, service.url);
  const firstLink = new RegExp(`${service.url}/sign-in/link/\\S+`).exec(made.stdout + made.stderr)?.[0];
  if (firstLink === undefined) throw new Error(`no link: ${made.stdout}${made.stderr}`);
  await service.start();
  const windows: Window[] = [];
  return {
    browser,
    service,
    mailbox,
    firstLink,
    async newPerson(options) {
      const faults = new Faults(service.url);
      const window = new Window(await browser.newPerson(faults, options), faults);
      windows.push(window);
      return window;
    },
    faults: () => windows.flatMap((window) => window.faults.take()),
  };
}

/** Signs the first owner in by the link that works once. */
export async function firstOwner({ firstLink, newPerson }: World, options?: PersonOptions): Promise<Window> {
  const window = await newPerson(options);
  await window.open(firstLink);
  await window.press("button", `Sign in as ${ANN}`);
  await window.isAt(/^\/(?:t\/owner\/|$)/);
  await window.sees("button", `${ANN}, you and the team`);
  return window;
}

/** Signs a person in by a mail, whose link is opened in a second tab, which takes the code of the first one. */
export async function signInByMail({ service, mailbox }: World, window: Window, email: string): Promise<void> {
  await window.open(`${service.url}/sign-in`);
  await window.fill("Email address", email);
  await window.press("button", "Continue");
  await window.sees("heading", "Check your mail");
  await confirmByMail(mailbox, window, email);
}

/** The second half of it: the window waits with its code. */
export async function confirmByMail(mailbox: Mailbox, window: Window, email: string): Promise<void> {
  // A slow browser shows the heading before what follows it.
  const code = await until("the code", async () => {
    const halves = await window.texts(".half");
    return halves.length === 2 ? halves.join(" ") : undefined;
  });
  const tab = await window.another();
  await tab.open((await mailbox.next(email)).link);
  await tab.fill("The code that it shows", code);
  await tab.press("button", "Sign in that device");
  await tab.sees("heading", "Signed in");
  await tab.close();
}

/** Returns the page by which Playwright knows a window, if it is of Chromium. */
export const driverOf = <T extends PageDriver>(window: Window): T => window.driver as T;
