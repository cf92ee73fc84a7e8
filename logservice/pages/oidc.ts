import { type OidcAttempt, OidcRefusal } from "../account/oidc.ts";
import { enterByOidc, type OidcSignIn } from "../account/oidc-sign-in.ts";
import { leavePage } from "../account/pages/leave.ts";
import { openSession } from "../account/sign-in.ts";
import { RpcError } from "../error.ts";
import { type Browser, nextPath } from "./browser.ts";
import { enter, waitFor } from "./sign-in.ts";

/** How long a person may take at the provider. */
const LASTS_MS = 10 * 60_000;

/** Browsers drop a cookie of more than 4,096 bytes with its name and attributes (RFC 6265, section 6.1). */
const MAX_COOKIE = 3_800;
/** A path that surely fits. */
const MAX_PATH = 1_000;

/** The data that the browser keeps, encrypted, while it is at the provider. */
interface PendingSignIn {
  readonly attempt: OidcAttempt;
  readonly next: string;
  readonly untilMs: number;
}

/** Where the provider sends the browser back to. */
export const OIDC_CALLBACK = "/sign-in/oidc/callback";

/** Sends the browser to the provider. */
export async function sendOidc(browser: Browser, fields: URLSearchParams): Promise<void> {
  browser.requireForm(fields, "/sign-in");
  const { service } = browser;
  const { oidc, name } = oidcOf(browser);
  const { url, attempt } = await refusing(() => oidc.begin());
  const untilMs = service.nowMs() + LASTS_MS;
  const keep = (next: string): string => {
    const pending: PendingSignIn = { attempt, next, untilMs };
    return Buffer.from(service.records.seal.close(JSON.stringify(pending), "oidc")).toString("base64url");
  };
  const next = nextPath(fields.get("next"));
  const whole = keep(next);
  // A view that is too long is left out: the page itself is enough.
  browser.setCookie(
    "oidc",
    whole.length <= MAX_COOKIE ? whole : keep(next.slice(0, MAX_PATH).split("?")[0]!),
    LASTS_MS,
  );
  browser.sendPage(leavePage({ name, url }));
}

/** The browser comes back from the provider. */
export async function showOidcCallback(browser: Browser): Promise<void> {
  const { service, device, address, request } = browser;
  const { attempt, next } = pendingSignIn(browser);
  browser.setCookie("oidc", undefined);
  const signIn = oidcOf(browser);
  const callback = new URL(service.account.address.link(request.url ?? "/"));
  const person = await refusing(() => signIn.oidc.finish(callback, attempt));
  const earlier = browser.cookie("window");
  const entry = await enterByOidc(service, signIn, person, { kind: "window", device, address, earlier });
  if (entry.kind === "to confirm") return waitFor(browser, entry.begun, next);
  const { records, nowMs } = service;
  await enter(browser, await openSession(records.db, entry.user, { device, address, nowMs: nowMs() }));
  browser.redirect(next);
}

function oidcOf({ service }: Browser): OidcSignIn {
  const { oidc } = service.account;
  if (oidc === undefined) throw new RpcError("not_found", "this service has no other way to sign in than by mail");
  return oidc;
}

/** The attempt that this browser began. Another browser, such as that of somebody who was sent the link, has none. */
function pendingSignIn(browser: Browser): PendingSignIn {
  const { records, nowMs } = browser.service;
  const over = new RpcError("bad_request", "this sign-in was begun in another browser, or too long ago: begin again");
  let pending: PendingSignIn;
  try {
    const sealed = Buffer.from(browser.cookie("oidc") ?? "", "base64url").toString();
    pending = JSON.parse(records.seal.open(sealed, "oidc")) as PendingSignIn;
  } catch {
    throw over;
  }
  if (pending.untilMs < nowMs()) throw over;
  return pending;
}

const TYPES = { denied: "forbidden", invalid: "bad_request", unavailable: "unavailable" } as const;

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OidcRefusal)) throw error;
    throw new RpcError(TYPES[error.kind], error.message, { cause: error });
  }
}
