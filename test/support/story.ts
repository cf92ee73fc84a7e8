// The parts of a story of two people: a browser, a mailbox, a service that is killed, and the two people themselves.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Mailbox, startMailbox } from "./mailbox.ts";
import { openAccount, type Person, personAt, typeCode } from "./person.ts";
import { type ServiceProcess, serviceProcess } from "./service-process.ts";

export const ANN = "ann@example.com";
export const BOB = "bob@example.com";

export interface Story {
  readonly folder: string;
  readonly data: string;
  readonly browser: Browser;
  readonly mailbox: Mailbox;
  readonly service: ServiceProcess;
  readonly ann: Person;
  readonly bob: Person;
}

interface Test {
  teardown(handler: () => unknown): void;
}

/** Nothing runs yet but the browser and the mailbox: the data directory is not made. All of it ends with the test. */
export async function beginStory(t: Test): Promise<Story> {
  const folder = mkdtempSync(join(tmpdir(), "tool-accounts-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const data = join(folder, "data");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
  t.teardown(() => browser.close());
  const mailbox = await startMailbox(t);
  const service = await serviceProcess(t, { data, smtp: mailbox.url });
  const [ann, bob] = [await personAt(t, browser, ANN), await personAt(t, browser, BOB)];
  return { folder, data, browser, mailbox, service, ann, bob };
}

/** Signs a person in in the browser, by a mail. */
export async function signInWindow({ service, mailbox }: Story, who: Person): Promise<Page> {
  const { page } = who;
  await page.goto(`${service.url}/sign-in`);
  await page.getByLabel("Email address").fill(who.email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Check your mail" }).waitFor();
  const code = (await page.locator(".half").allInnerTexts()).join(" ");
  await typeCode(who, (await mailbox.next(who.email)).link, code);
  await openAccount(page, service.url);
  return page;
}
