// A service for people: at a public address, through a proxy on loopback, with a real SMTP server.
import type { Test } from "tap";
import { makeSignInLink } from "../../../logservice/account/sign-in-link.ts";
import type { StartOptions } from "../../../logservice/start.ts";
import { type Answer, startTestService, type TestService } from "../service.ts";
import { Browser, type BrowserOptions, codeOf, type Page } from "./browser.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";

/** Where people reach the service. */
export const ORIGIN = "https://logs.example.com";

export interface SignInService {
  readonly service: TestService;
  readonly mail: MailServer;
  /** A browser with cookies of its own. */
  browser(options?: BrowserOptions): Browser;
  /** An operation as the command calls it; without a token unless one is given. */
  rpc(operation: string, input: object, token?: string): Promise<Answer>;
}

export interface SignInServiceOptions {
  readonly account?: Partial<
    Pick<StartOptions, "publicUrl" | "signUp" | "mailer" | "oidc" | "trusted" | "host" | "tls">
  >;
  readonly mail?: MailServer;
  readonly nowMs?: () => number;
  readonly directory?: string;
}

export async function startSignInService(
  t: Test,
  { account = {}, mail: there, ...options }: SignInServiceOptions = {},
): Promise<SignInService> {
  const mail = there ?? (await startMailServer(t));
  const service = await startTestService(t, {
    ...options,
    account: { publicUrl: ORIGIN, mailer: mail.mailer(), ...account },
  });
  const { port } = service.running;
  return {
    service,
    mail,
    browser: (more) => new Browser({ via: port, ...more }),
    rpc: (operation, input, token) =>
      service.send({
        path: `/${operation}`,
        headers: {
          host: new URL(ORIGIN).host,
          "content-type": "application/json",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(input),
      }),
  };
}

/** Fills in the form of an address in a window. */
export async function askToSignIn(window: Browser, email: string, path = "/sign-in"): Promise<Page> {
  return window.submit(await window.open(`${ORIGIN}${path}`), { email });
}

/** Signs a window in as a person, by a mail that is confirmed in another browser. Returns the page after it. */
export async function signInWindow(at: SignInService, email: string, window: Browser = at.browser()) {
  const { mails } = at.mail;
  const before = mails.filter(({ to }) => to === email).length;
  const waiting = await askToSignIn(window, email);
  const { link } = await at.mail.mailTo(email, before + 1);
  const other = at.browser();
  const confirmed = await other.submit(await other.open(link), { code: codeOf(waiting) });
  if (confirmed.status !== 200) throw new Error(`${email} was not confirmed: ${confirmed.text}`);
  return { window, waiting, link, page: await window.open(waiting.url) };
}

/** Opens the page that shows its account to a window that is signed in. */
export const accountPageOf = (window: Browser, origin = ORIGIN): Promise<Page> => window.open(`${origin}/account`);

/** The title of the pages that need a script. */
export const UI_TITLE = "Logs";

/** The token of a person who signs in on the command line. */
export async function signInCommand(at: SignInService, email: string): Promise<{ token: string; secret: string }> {
  const before = at.mail.mails.filter(({ to }) => to === email).length;
  const { secret, code } = (await at.rpc("start_sign_in", { email })).json;
  const { link } = await at.mail.mailTo(email, before + 1);
  await at.rpc("confirm_sign_in", { link: linkPartOf(link), code });
  return { secret, token: (await at.rpc("poll_sign_in", { secret })).json.token };
}

/** The last part of a link. */
export const linkPartOf = (link: string) => link.slice(link.lastIndexOf("/") + 1);

/** A link that the operator of the machine prints for a person. */
export async function printedLink({ service }: SignInService, email: string): Promise<string> {
  const account = { address: { link: (path: string) => `${ORIGIN}${path}` } };
  const { link } = await makeSignInLink({ records: service.records, account }, { email, emailKey: email }, Date.now());
  return link;
}

/** The cookie of the session of a window. */
export const SESSION = "__Host-tool_session";
