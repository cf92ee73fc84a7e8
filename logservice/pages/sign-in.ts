import { noteSignOut } from "../access/remove-credential.ts";
import { browserCookie, knownBrowser } from "../account/known-browser.ts";
import { idOfLink } from "../account/links.ts";
import { confirmPage } from "../account/pages/confirm.ts";
import { linkPage } from "../account/pages/link.ts";
import { signInPage } from "../account/pages/sign-in.ts";
import { waitPage } from "../account/pages/wait.ts";
import {
  type BegunSignIn,
  beginSignIn,
  confirmSignIn,
  denySignIn,
  enterByLink,
  POLL_SECONDS,
  secretHash,
  sessionOfSignIn,
  signInOfAsker,
  signInOfLink,
} from "../account/sign-in.ts";
import { RpcError } from "../error.ts";
import { messagePage } from "../html/message.ts";
import { readEmailAddress } from "../mail/address.ts";
import { removeSession, SESSION_MS } from "../records/sessions.ts";
import { signInOf } from "../records/sign-ins.ts";
import type { SignInRow } from "../records/tables.ts";
import { type Browser, nextPath } from "./browser.ts";

/** The form that asks for the address. */
export async function showSignIn(browser: Browser): Promise<void> {
  const next = nextPath(browser.query.get("next"));
  if ((await browser.person()) !== undefined) return browser.redirect(next);
  browser.sendPage(signInForm(browser, { email: browser.query.get("email") ?? "", next }));
}

interface SignInForm {
  readonly email: string;
  readonly next: string;
  readonly problem?: string;
}

function signInForm(browser: Browser, { email, next, problem }: SignInForm): string {
  const { oidc, mails } = browser.service.account;
  // Whoever signs out loses the cookie: a session that is not there any more has ended by something else.
  const hasEnded = browser.cookie("session") !== undefined;
  const form = browser.form("/sign-in");
  return signInPage({ email, next, problem, form, oidcName: oidc?.name, isMailed: mails !== undefined, hasEnded });
}

export async function sendSignIn(browser: Browser, fields: URLSearchParams): Promise<void> {
  browser.requireForm(fields, "/sign-in");
  const email = fields.get("email") ?? "";
  const next = nextPath(fields.get("next"));
  try {
    waitFor(browser, await beginInBrowser(browser, email), next);
  } catch (error) {
    if (!(error instanceof RpcError) || error.type !== "invalid") throw error;
    const problem = "This is not an email address: write it as name@example.com.";
    browser.sendPage(signInForm(browser, { email, next, problem }), 400);
  }
}

/** Begins to sign in as an address from this window. `proof` names the invite whose link was opened. */
export function beginInBrowser(browser: Browser, email: string, proof?: string): Promise<BegunSignIn> {
  const { service, device, address } = browser;
  const key = readEmailAddress(email)?.key ?? "";
  return beginSignIn(
    service,
    { email },
    {
      ...{ kind: "window", device, address, earlier: browser.cookie("window") },
      proof: proof ?? knownBrowser(service.records.seal, browser.cookie("device"), key),
    },
  );
}

/** Makes this window wait for a sign-in that was begun. */
export function waitFor(browser: Browser, { secret, row }: BegunSignIn, next: string): void {
  browser.setCookie("window", secret, Date.parse(row.expires_at) - Date.parse(row.created_at));
  browser.redirect(`/sign-in/wait?next=${encodeURIComponent(next)}`);
}

/** The window that waits: shows the code, and goes on when it was typed. */
export async function showWait(browser: Browser): Promise<void> {
  const { service } = browser;
  const secret = browser.cookie("window");
  const row = secret === undefined ? undefined : await signInOfAsker(service, secret);
  // Another window of this browser was signed in as the same person, such as by a link that an admin made.
  if (row !== undefined && (await browser.person())?.emailKey === row.email_key) {
    browser.setCookie("window", undefined);
    return browser.redirect(nextPath(browser.query.get("next")));
  }
  if (row?.kind === "window" && row.status === "waiting" && row.tries_left > 0)
    return browser.sendPage(waiting(browser, row));
  const entered = row?.kind === "window" ? await sessionOfSignIn(service, row) : undefined;
  if (entered === undefined) return showEnded(browser);
  browser.setCookie("window", undefined);
  await enter(browser, entered.secret);
  browser.setCookie("device", browserCookie(service.records.seal, entered.user.email_key), DEVICE_MS);
  browser.redirect(nextPath(browser.query.get("next")));
}

/** How long a browser is remembered in which somebody signed in by a mail. */
const DEVICE_MS = 365 * 24 * 3_600_000;

function waiting({ service }: Browser, { email, code, expires_at }: SignInRow): string {
  const isMailed = service.account.mails !== undefined;
  return waitPage({ email, code, expiresAt: new Date(expires_at), refreshSeconds: POLL_SECONDS, isMailed });
}

/** Gives the browser a new session. The one before, which somebody else may know, ends. */
export async function enter(browser: Browser, secret: string): Promise<void> {
  await leave(browser);
  browser.setCookie("session", secret, SESSION_MS);
}

/** Ends the session of the browser, if it has one. */
export async function leave(browser: Browser): Promise<void> {
  const secret = browser.cookie("session");
  browser.setCookie("form", undefined);
  if (secret === undefined) return;
  browser.setCookie("session", undefined);
  const { records, exchanges } = browser.service;
  const hash = secretHash(secret);
  await removeSession(records.db, hash);
  exchanges.end(hash, "you signed out");
}

function showEnded(browser: Browser, text = "This sign-in has ended: it was denied, or not confirmed in time."): void {
  const link = { href: "/sign-in", text: "Start again" };
  browser.sendPage(messagePage({ title: "This sign-in has ended", text, isProblem: true, link }), 404);
}

/** The page that the link of the mail leads to. Reading it changes nothing: programs open links, too. */
export async function showConfirm(browser: Browser): Promise<void> {
  browser.sendPage(await confirmForm(browser, undefined));
}

async function confirmForm(browser: Browser, problem: string | undefined): Promise<string> {
  const link = browser.parameter("link");
  const action = `/sign-in/confirm/${link}`;
  const row = await signInOfLink(browser.service, link);
  const { email, device, address, created_at, tries_left: triesLeft } = row;
  const form = browser.form(action);
  return confirmPage({ email, device, address, startedAt: new Date(created_at), triesLeft, problem, form, action });
}

export async function sendConfirm(browser: Browser, fields: URLSearchParams): Promise<void> {
  const { service } = browser;
  const link = browser.parameter("link");
  browser.requireForm(fields, `/sign-in/confirm/${link}`);
  if (fields.has("deny")) {
    await denySignIn(service, link);
    const text = "Nobody signs in with that request. If it was not you who asked, there is nothing else to do.";
    return browser.sendPage(messagePage({ title: "Denied", text, isProblem: false }));
  }
  try {
    const { email } = await confirmSignIn(service, link, fields.get("code") ?? "", browser.address);
    const text = `The window or terminal that asked is now signed in as ${email}. You can close this page.`;
    browser.sendPage(messagePage({ title: "Signed in", text, isProblem: false }));
  } catch (error) {
    if (!(error instanceof RpcError) || error.type !== "invalid") throw error;
    browser.sendPage(
      await confirmForm(browser, "This is another code: compare it with the one that is shown there."),
      400,
    );
  }
}

/** The page of a link that was printed on the machine. */
export async function showLink(browser: Browser): Promise<void> {
  const { email } = await rowOfLink(browser);
  const action = `/sign-in/link/${browser.parameter("link")}`;
  const next = nextPath(browser.query.get("next"));
  browser.sendPage(linkPage({ email, form: browser.form(action), action, next }));
}

export async function sendLink(browser: Browser, fields: URLSearchParams): Promise<void> {
  browser.requireForm(fields, `/sign-in/link/${browser.parameter("link")}`);
  const { service, device, address } = browser;
  await enter(browser, await enterByLink(service, await rowOfLink(browser), { device, address }));
  browser.redirect(nextPath(fields.get("next")));
}

async function rowOfLink(browser: Browser): Promise<SignInRow> {
  const { records, nowMs } = browser.service;
  const id = idOfLink(records.seal, "sign-in", browser.parameter("link"));
  const row = id === undefined ? undefined : await signInOf(records.db, id, new Date(nowMs()).toISOString());
  if (row?.kind === "link") return row;
  throw new RpcError("not_found", "this link has expired or was already used: ask for a new one");
}

export async function sendSignOut(browser: Browser, fields: URLSearchParams): Promise<void> {
  browser.requireForm(fields, "/sign-out");
  const { service, address } = browser;
  const person = await browser.person();
  await leave(browser);
  if (person !== undefined) {
    const at = new Date(service.nowMs()).toISOString();
    await noteSignOut(service.records.db, person, { at, address, target: person.session.id });
  }
  browser.redirect("/sign-in");
}
