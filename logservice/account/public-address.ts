import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { OperatorError, RpcError } from "../error.ts";

export interface PublicAddressOptions {
  /** Where people reach the service; undefined if the operator named no address. */
  readonly publicUrl: string | undefined;
  /** The host that the service listens on. */
  readonly host: string;
  readonly isTls: boolean;
}

/** An address that cannot be the public one. */
class PublicUrlError extends OperatorError {}

/**
 * Where people reach the service. Links, redirects, the flags of cookies and the origins that may use them come from here
 * alone: the header Host is what a client says. Without a public URL, a service on loopback is reached by its names there,
 * and any other one has no address for people.
 */
export class PublicAddress {
  readonly #url: URL | undefined;
  readonly #options: PublicAddressOptions;
  #port = 0;

  /** Throws a PublicUrlError. */
  constructor(options: PublicAddressOptions) {
    this.#options = options;
    this.#url = options.publicUrl === undefined ? undefined : readPublicUrl(options.publicUrl);
  }

  /** To be called once it is known. */
  listensOn(port: number): void {
    this.#port = port;
  }

  /** Whether there is an address for people at all. */
  get isKnown(): boolean {
    return this.#url !== undefined || isLoopback(this.#options.host);
  }

  get isSecure(): boolean {
    return this.#url === undefined ? this.#options.isTls : this.#url.protocol === "https:";
  }

  /** Scheme, host and port, without a slash. */
  get origin(): string {
    if (this.#url !== undefined) return this.#url.origin;
    const { host } = this.#options;
    return `${this.isSecure ? "https" : "http"}://${isIP(host) === 6 ? `[${host}]` : host}:${this.#port}`;
  }

  /** The address of a page. `path` begins with a slash. */
  link(path: string): string {
    return `${this.origin}${path}`;
  }

  /**
   * Throws `misdirected` unless the request was sent to the public address. A program that sends no cookie may also use the
   * names of loopback if the service is there.
   */
  requireHost(request: IncomingMessage, { isProgram = false } = {}): void {
    if (!this.isKnown) {
      const message = "this service has no address for people: start it with --public-url, or TOOL_PUBLIC_URL";
      throw new RpcError("misdirected", message);
    }
    const host = (request.headers.host ?? "").toLowerCase();
    if (this.#url !== undefined && host === this.#url.host) return;
    const isOnLoopback = this.#url === undefined || (isProgram && isLoopback(nameOf(this.#url.host)));
    if (isOnLoopback && isLoopback(nameOf(host)) && portOf(host, this.isSecure) === this.#port) return;
    throw new RpcError("misdirected", `this service is at ${this.origin}: use that address`);
  }

  /**
   * Throws `forbidden` unless a request with a cookie comes from our own page. Browsers send Origin with every POST, and
   * Sec-Fetch-Site with every request to a secure or loopback address.
   */
  requireOrigin(request: IncomingMessage): void {
    const { origin, "sec-fetch-site": site, host = "" } = request.headers;
    const isOurs = (text: string) => text === this.origin || (this.#url === undefined && text === this.#originOf(host));
    const isRead = request.method === "GET" || request.method === "HEAD";
    const isSame = origin === undefined ? isRead && site === "same-origin" : isOurs(origin);
    if (!isSame) throw new RpcError("forbidden", "a request with a cookie must come from a page of this service");
  }

  /** Throws `forbidden` if a page of another origin makes a browser send a request that needs no credential. */
  refuseOtherPages(request: IncomingMessage): void {
    const { origin, "sec-fetch-site": site } = request.headers;
    if (origin === undefined && (site === undefined || site === "same-origin")) return;
    this.requireOrigin(request);
  }

  /** The header of a cookie for this service alone. Without a time it ends with the browser. */
  cookie(name: CookieName, value: string, lastsMs?: number): string {
    const age = lastsMs === undefined ? "" : `; Max-Age=${Math.floor(lastsMs / 1000)}`;
    return `${this.#cookieName(name)}=${value}; Path=/; HttpOnly; SameSite=Lax${this.isSecure ? "; Secure" : ""}${age}`;
  }

  /** The value of a cookie of the request; undefined if there is none. */
  cookieOf(request: IncomingMessage, name: CookieName): string | undefined {
    const prefix = `${this.#cookieName(name)}=`;
    for (const part of (request.headers.cookie ?? "").split(";")) {
      const text = part.trim();
      if (text.startsWith(prefix) && text.length > prefix.length) return text.slice(prefix.length);
    }
    return undefined;
  }

  /** Cookies ignore ports: on plain loopback, services on other ports must have others. */
  #cookieName(name: CookieName): string {
    return this.isSecure ? `__Host-tool_${name}` : `tool_${name}_${this.#port}`;
  }

  #originOf(host: string): string {
    return `${this.isSecure ? "https" : "http"}://${host.toLowerCase()}`;
  }
}

/**
 * `session` is who is signed in, `window` a sign-in that waits, `form` proves that a form came from our page, `device` that
 * somebody signed in here before.
 */
export type CookieName = "session" | "window" | "form" | "oidc" | "device";

const HINT = "write --public-url https://logs.example.com, or http://localhost:5000 for this machine alone";

/** Reads the address where people reach a service. Throws a PublicUrlError. */
export function readPublicUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const refuse = (what: string) =>
    new PublicUrlError(`${JSON.stringify(safeText)} cannot be the public URL: ${what}`, { hint: HINT });
  const safeText = text.replace(/\/\/[^/?#]*@/, "//****@");
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw refuse("write https:// and a name");
  if (url.username !== "" || url.password !== "") throw refuse("it has a user or a password");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") throw refuse("it must have no path");
  if (url.protocol === "http:" && !isLoopback(nameOf(url.host)))
    throw refuse("everybody on the way could read the session: it must begin with https://");
  return url;
}

const nameOf = (host: string) => host.replace(/:\d+$/, "");

function portOf(host: string, isSecure: boolean): number {
  const text = /:(\d+)$/.exec(host)?.[1];
  return text === undefined ? (isSecure ? 443 : 80) : Number(text);
}
