import { isIP } from "node:net";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { OperatorError } from "../error.ts";
import { asciiDomain, type EmailAddress, readEmailAddress } from "./address.ts";

/** How mail is sent, as the operator writes it. */
export interface MailSettings {
  /** `smtp://user:password@host:587` or `smtps://host`. */
  readonly url: string;
  /** `Logs <logs@example.com>`, or an address. */
  readonly from: string;
}

/** The settings, read. */
export interface SmtpServer {
  /** The host for people. */
  readonly host: string;
  /** The host that is connected to: an IP address or a name that is looked up. */
  readonly dialedHost: string;
  readonly port: number;
  readonly login: { readonly user: string; readonly password: string } | undefined;
  /** When the connection is encrypted: from its first byte, by STARTTLS or not at all, or by STARTTLS if it is offered. */
  readonly encryption: "at-once" | "required" | "if-offered";
  /** Whether the server's certificate must be valid for its name. */
  readonly isVerified: boolean;
  readonly from: { readonly name: string; readonly address: EmailAddress };
}

/** The settings cannot be used. Says which part of them and why, without the password. */
export class MailSettingsError extends OperatorError {
  constructor(message: string, hint: string) {
    super(message, { hint });
  }
}

/**
 * Reads the settings by hand: nodemailer takes any of its options from the parameters of a URL, among them files that it
 * reads and proxies that it connects to. Throws MailSettingsError.
 */
export function readMailSettings({ url: text, from }: MailSettings): SmtpServer {
  // The text is in no message: a URL that cannot be parsed may still hold the password.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new MailSettingsError("the URL of the SMTP server cannot be read", URL_HINT);
  if (!["smtp:", "smtps:"].includes(url.protocol)) {
    throw new MailSettingsError("the URL of the SMTP server begins with neither smtp:// nor smtps://", URL_HINT);
  }
  if (!["", "/"].includes(url.pathname) || url.hash !== "") {
    throw new MailSettingsError("the URL of the SMTP server has a path or a fragment", URL_HINT);
  }
  const host = hostOf(url);
  const isHere = isLoopback(host);
  const isSmtps = url.protocol === "smtps:";
  return {
    host,
    // Names below localhost are never looked up (RFC 6761, section 6.3): a resolver could answer with another machine.
    dialedHost: isHere && isIP(host) === 0 ? "127.0.0.1" : host,
    port: portOf(url, isSmtps ? 465 : 587),
    login: loginOf(url),
    encryption: isSmtps ? "at-once" : isHere ? "if-offered" : "required",
    isVerified: !isInsecure(url, isHere),
    from: readSender(from),
  };
}

const URL_HINT = "write smtp://user:password@host:587 or smtps://user:password@host, special characters as %XX";

function hostOf(url: URL): string {
  if (url.hostname === "") throw new MailSettingsError("the URL of the SMTP server has no host", URL_HINT);
  const bare = url.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(bare) !== 0) return bare;
  // The hosts of these schemes come percent-encoded out of URL.
  const ascii = asciiDomain(decoded(bare, "host"));
  if (ascii === undefined) {
    throw new MailSettingsError("the host in the URL of the SMTP server is neither a name nor an IP address", URL_HINT);
  }
  return ascii;
}

function portOf(url: URL, usual: number): number {
  if (url.port === "0") throw new MailSettingsError("the URL of the SMTP server has the port 0", URL_HINT);
  return url.port === "" ? usual : Number(url.port);
}

function loginOf(url: URL): SmtpServer["login"] {
  if (url.username === "" && url.password === "") return undefined;
  const [user, password] = [decoded(url.username, "user"), decoded(url.password, "password")];
  if (user === "") throw new MailSettingsError("the URL of the SMTP server has a password without a user", URL_HINT);
  if (password === "")
    throw new MailSettingsError("the URL of the SMTP server has a user without a password", URL_HINT);
  return { user, password };
}

function decoded(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    const hint = "write a percent sign as %25, and other special characters as %XX of their UTF-8 bytes";
    throw new MailSettingsError(`the ${part} in the URL of the SMTP server is not percent-encoded`, hint);
  }
}

/** The one parameter is `insecure=1`: development has certificates that nobody signed, but only on its own machine. */
function isInsecure(url: URL, isHere: boolean): boolean {
  const parameters = [...url.searchParams];
  if (parameters.length === 0) return false;
  const [[name, value]] = parameters as [[string, string]];
  if (parameters.length > 1 || name !== "insecure" || value !== "1") {
    throw new MailSettingsError(
      "the URL of the SMTP server has unknown parameters",
      "the only one is ?insecure=1, which accepts any certificate of a server on this machine",
    );
  }
  if (!isHere) {
    throw new MailSettingsError(
      "insecure=1 is for an SMTP server on this machine only",
      "remove it; if an authority of your own signed the certificate, name its file in NODE_EXTRA_CA_CERTS",
    );
  }
  return true;
}

/** A name and an address, or an address. */
function readSender(text: string): SmtpServer["from"] {
  const match = /^\s*(?:"([^"\\]*)"|([^"<>\\]*?))\s*<([^<>]*)>\s*$/.exec(text);
  const name = (match?.[1] ?? match?.[2] ?? "").normalize("NFC");
  const address = readEmailAddress(match?.[3] ?? text);
  const hint = "write an address, or a name with the address: Logs <logs@example.com>";
  if (address === undefined) throw new MailSettingsError("the sender of mail is not an email address", hint);
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(name) || [...name].length > MAX_NAME_LENGTH) {
    throw new MailSettingsError(
      `the name of the sender of mail has control characters, or more than ${MAX_NAME_LENGTH} characters`,
      hint,
    );
  }
  return { name, address };
}

/** One line of a header. */
const MAX_NAME_LENGTH = 80;
