import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { useSession } from "../access/session-grant.ts";
import { isEqual } from "../account/links.ts";
import { deviceOf } from "../account/pages/device.ts";
import type { CookieName } from "../account/public-address.ts";
import { secretHash } from "../account/sign-in.ts";
import { RpcError } from "../error.ts";
import { PAGE_HEADERS } from "../html/headers.ts";
import { sendText } from "../http/send.ts";
import type { PersonIn } from "../records/people.ts";
import { personIn } from "../records/people.ts";
import type { SessionRow } from "../records/tables.ts";
import type { Service } from "../rpc/call.ts";

/** A page that is shown, and the form that is sent to the same path. */
export interface PageRoute {
  readonly path: string;
  readonly show?: (browser: Browser) => Promise<void>;
  readonly send?: (browser: Browser, fields: URLSearchParams) => Promise<void>;
}

/** The exchange of a page with a browser: its cookies, its forms, who is signed in. */
export class Browser {
  readonly service: Service;
  readonly request: IncomingMessage;
  /** Network address of the browser. */
  readonly address: string;
  readonly #response: ServerResponse;
  /** The value that each cookie is set to; the last one counts. */
  readonly #cookies = new Map<CookieName, string>();

  constructor(service: Service, request: IncomingMessage, response: ServerResponse, address: string) {
    this.service = service;
    this.request = request;
    this.address = address;
    this.#response = response;
  }

  /** Whether only the headers of the answer are wanted. */
  get isHead(): boolean {
    return this.request.method === "HEAD";
  }

  /** The name that the browser gives itself, for people. */
  get device(): string {
    return deviceOf(this.request.headers["user-agent"]);
  }

  get query(): URLSearchParams {
    return new URL(this.request.url ?? "/", "http://localhost").searchParams;
  }

  /** A part of the path that the route names. */
  parameter(name: string): string {
    return (this.request as IncomingMessage & { params: Readonly<Record<string, string>> }).params[name] ?? "";
  }

  cookie(name: CookieName): string | undefined {
    return this.service.account.address.cookieOf(this.request, name);
  }

  /** Sets a cookie, or removes it. Without a time it ends with the browser. */
  setCookie(name: CookieName, value: string | undefined, lastsMs?: number): void {
    const { address } = this.service.account;
    this.#cookies.set(name, value === undefined ? address.cookie(name, "", 0) : address.cookie(name, value, lastsMs));
  }

  /** Who is signed in, and by which session; undefined if nobody is. */
  async person(): Promise<(PersonIn & { readonly session: SessionRow }) | undefined> {
    const secret = this.cookie("session");
    if (secret === undefined) return undefined;
    const { records, nowMs } = this.service;
    const session = await useSession(records.db, secretHash(secret), nowMs());
    const person = session && (await personIn(records.db, session.user_id, ""));
    return person && { ...person, session };
  }

  /** The token of the form that posts to a path: only a page of ours knows it, and only for this browser. */
  form(action: string): string {
    let nonce = this.#nonce ?? this.cookie("form");
    if (nonce === undefined) {
      nonce = randomBytes(16).toString("base64url");
      this.#nonce = nonce;
      this.setCookie("form", nonce);
    }
    return this.service.records.seal.sign(`${nonce} ${action}`, "form");
  }
  #nonce: string | undefined;

  /** Throws `forbidden` unless a form was sent from a page of ours, which was made for this browser. */
  requireForm(fields: URLSearchParams, action: string): void {
    this.service.account.address.requireOrigin(this.request);
    const nonce = this.cookie("form") ?? "";
    const expectedToken = this.service.records.seal.sign(`${nonce} ${action}`, "form");
    if (nonce === "" || !isEqual(expectedToken, fields.get("form") ?? ""))
      throw new RpcError(
        "forbidden",
        "the form is from another window or too old: go back, load the page again and send it",
      );
  }

  sendPage(page: string, status = 200): void {
    this.#writeCookies();
    for (const [name, value] of PAGE_HEADERS) this.#response.setHeader(name, value);
    sendText(this.#response, status, "text/html; charset=utf-8", page);
  }

  /** Sends the beginning of a page whose end is not known yet; `endPage` sends the rest. */
  beginPage(beginning: string): void {
    this.#writeCookies();
    for (const [name, value] of PAGE_HEADERS) this.#response.setHeader(name, value);
    this.#response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
    this.#response.write(beginning);
  }

  endPage(end: string): void {
    this.#response.end(end);
  }

  /** Sends the browser to a path of ours by GET. */
  redirect(to: string): void {
    this.#writeCookies();
    for (const [name, value] of PAGE_HEADERS) this.#response.setHeader(name, value);
    this.#response.writeHead(303, { Location: to });
    this.#response.end();
  }

  #writeCookies(): void {
    if (this.#cookies.size > 0) this.#response.setHeader("Set-Cookie", [...this.#cookies.values()]);
  }
}

/**
 * The longest path to go back to: a view of events holds its query, and many proxies take heads of 16 KiB, in which this path is
 * encoded twice.
 */
const MAX_NEXT = 4_000;

/** The path that a browser wanted to see before it had to sign in; `/` for anything that is not a path of ours. */
export function nextPath(text: string | null): string {
  return text !== null && text.length <= MAX_NEXT && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : "/";
}
