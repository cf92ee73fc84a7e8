import { isIP } from "node:net";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { readNetworks } from "../access/client-address.ts";
import { readPublicUrl } from "../account/public-address.ts";
import { readSignUp } from "../account/sign-up.ts";
import { OperatorError } from "../error.ts";
import type { StartOptions } from "../start.ts";

/** The operator's options for signing in, as they were written. */
export interface PeopleOptions {
  readonly publicUrl?: string | undefined;
  readonly signUp?: string | undefined;
  /** The URL of the mail server, and the sender of mails; that is `logs@` the public host unless told otherwise. */
  readonly smtp?: string | undefined;
  readonly mailFrom?: string | undefined;
  readonly oidc?:
    | {
        readonly issuer: string;
        readonly clientId: string;
        readonly clientSecret: string | undefined;
        readonly name: string | undefined;
        readonly domains: readonly string[];
      }
    | undefined;
  /** Networks of proxies whose X-Forwarded-For counts. */
  readonly trusted?: readonly string[];
}

/** Reads what the operator says about signing in. Throws an OperatorError. */
export async function readPeople(
  options: PeopleOptions,
): Promise<Pick<StartOptions, "publicUrl" | "signUp" | "mailer" | "oidc" | "trusted">> {
  const { publicUrl, signUp = "closed", smtp, trusted = [] } = options;
  const host = publicUrl === undefined ? undefined : readPublicUrl(publicUrl).hostname;
  const read = readSignUp(signUp);
  if (read === undefined)
    throw new OperatorError(`${JSON.stringify(signUp)} does not say who may sign up`, {
      hint: "write --sign-up closed, domain:example.com or open",
    });
  const networks = readNetworks(trusted);
  if (networks === undefined)
    throw new OperatorError(`${trusted.join(", ")}: not all of these are networks`, {
      hint: "write --trust-proxy 10.0.0.0/8 or fd00::/8",
    });
  if (host === undefined && (smtp !== undefined || options.oidc !== undefined))
    throw new OperatorError("mails and the OpenID provider need to know where people reach the service", {
      hint: "add --public-url https://logs.example.com",
    });
  return {
    publicUrl,
    signUp: read,
    mailer: smtp === undefined ? undefined : await mailerOf(smtp, options.mailFrom ?? defaultSender(host!)),
    ...(options.oidc !== undefined && { oidc: await oidcOf(options.oidc) }),
    ...(trusted.length > 0 && { trusted: networks }),
  };
}

/** A mail address has the name of a host, and not its number. */
function defaultSender(host: string): string {
  const name = host.replace(/[[\]]/g, "");
  if (isIP(name) === 0) return `logs@${host}`;
  if (isLoopback(name)) return "logs@localhost";
  throw new OperatorError(`mails from ${host} need a sender, as no address ends in a number`, {
    hint: "add --mail-from logs@example.com",
  });
}

// Both are loaded by the services that need them.
async function mailerOf(url: string, from: string) {
  const { openMailer } = await import("../mail/mailer.ts");
  return openMailer({ url, from }, systemClock);
}

async function oidcOf({ name, domains, ...settings }: NonNullable<PeopleOptions["oidc"]>) {
  const { openOidc } = await import("../account/oidc.ts");
  const { checkSettings } = await import("../account/oidc/settings.ts");
  checkSettings({ ...settings, redirectUrl: "https://localhost/" });
  const title = name ?? new URL(settings.issuer).host;
  const lower = domains.map((domain) => domain.toLowerCase());
  return (redirectUrl: string, clock: Clock) => ({
    oidc: openOidc({ ...settings, redirectUrl }, clock),
    name: title,
    domains: lower,
  });
}
