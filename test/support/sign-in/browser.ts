// A browser at the pages of the service: cookies by host, Origin, Sec-Fetch-Site, redirects and forms.
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";

export interface Form {
  readonly action: string;
  /** Names and values of its hidden fields. */
  readonly hidden: Readonly<Record<string, string>>;
}

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly forms: readonly Form[];
  /** The addresses of the redirects that led here. */
  readonly redirects: readonly string[];
}

export interface Visit {
  readonly method?: string;
  /** Added to what a browser sends; undefined leaves a header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
  /** Whether redirects are followed, as they are unless told otherwise. */
  readonly isFollowing?: boolean;
}

export interface BrowserOptions {
  /** A port on loopback that all requests go to, as to a proxy; the port of the address unless told otherwise. */
  readonly via?: number;
  readonly userAgent?: string;
  /** Headers of the proxy. */
  readonly proxied?: Readonly<Record<string, string>>;
}

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
/** A loop of redirects is a bug of the service. */
const MAX_REDIRECTS = 10;

export class Browser {
  readonly #options: BrowserOptions;
  /** Cookies of each host; ports do not matter (RFC 6265, section 8.5). */
  readonly #jars = new Map<string, Map<string, string>>();
  /** Every line of Set-Cookie so far. */
  readonly setCookies: string[] = [];

  constructor(options: BrowserOptions = {}) {
    this.#options = options;
  }

  /** The cookies of a host, which may be changed. */
  jar(url: string): Map<string, string> {
    const { hostname } = new URL(url);
    const jar = this.#jars.get(hostname) ?? new Map<string, string>();
    this.#jars.set(hostname, jar);
    return jar;
  }

  /** Opens an address that a person typed or came to by a link of our own. */
  async open(url: string, visit: Visit = {}): Promise<Page> {
    const redirects: string[] = [];
    let next = { url, visit };
    for (;;) {
      const page = await this.#ask(next.url, next.visit, redirects);
      const { location } = page.headers;
      if (location === undefined || visit.isFollowing === false) return page;
      if (redirects.length === MAX_REDIRECTS) throw new Error(`too many redirects: ${redirects.join(", ")}`);
      redirects.push(location);
      next = { url: new URL(location, next.url).href, visit: {} };
      // Somebody else's pages are for the test to visit.
      if (new URL(next.url).origin !== new URL(url).origin) return page;
    }
  }

  /** Sends a form of a page, as its button does. */
  submit(
    page: Page,
    fields: Readonly<Record<string, string>> = {},
    visit: Visit & { form?: Form } = {},
  ): Promise<Page> {
    const form = visit.form ?? page.forms[0];
    if (form === undefined) throw new Error(`no form in ${page.url}: ${page.text}`);
    return this.post(new URL(form.action, page.url).href, { ...form.hidden, ...fields }, visit);
  }

  /** Posts fields from a page of the same origin. */
  post(url: string, fields: Readonly<Record<string, string>>, visit: Visit = {}): Promise<Page> {
    return this.open(url, {
      ...visit,
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        origin: new URL(url).origin,
        "sec-fetch-site": "same-origin",
        ...visit.headers,
      },
      body: visit.body ?? new URLSearchParams(fields).toString(),
    });
  }

  /** Calls an operation from a page of the same origin. */
  call(url: string, input: unknown, headers: Visit["headers"] = {}): Promise<Page> {
    return this.post(
      url,
      {},
      { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(input) },
    );
  }

  #ask(url: string, { method = "GET", headers = {}, body }: Visit, redirects: readonly string[]): Promise<Page> {
    const { protocol, hostname, host, port, pathname, search } = new URL(url);
    const { via, userAgent = FIREFOX, proxied = {} } = this.#options;
    const jar = this.jar(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent = {
      host,
      "user-agent": userAgent,
      "sec-fetch-site": "none",
      ...(cookie !== "" && { cookie }),
      ...proxied,
      ...headers,
    };
    const isTls = via === undefined && protocol === "https:";
    const options = {
      host: "127.0.0.1",
      port: via ?? Number(port),
      method,
      path: pathname + search,
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
      agent: false as const,
    };
    return new Promise((resolve, reject) => {
      const request = isTls ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
      request.once("error", reject);
      request.once("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          for (const line of response.headers["set-cookie"] ?? []) this.#keep(jar, line, protocol, hostname);
          const text = Buffer.concat(chunks).toString();
          const { statusCode: status = 0, headers } = response;
          resolve({ url, status, headers, text, forms: formsOf(text), redirects: [...redirects] });
        });
      });
      request.end(body);
    });
  }

  /** Keeps a cookie by the rules of its prefix and flags; throws for one that browsers would drop. */
  #keep(jar: Map<string, string>, line: string, protocol: string, hostname: string): void {
    this.setCookies.push(line);
    const [pair = "", ...flags] = line.split(/; */);
    const name = pair.slice(0, pair.indexOf("="));
    const value = pair.slice(pair.indexOf("=") + 1);
    const isTrusted = protocol === "https:" || /^(?:127\.0\.0\.1|localhost|.*\.localhost)$/.test(hostname);
    const isDropped =
      (flags.includes("Secure") && !isTrusted) ||
      (name.startsWith("__Host-") && !(flags.includes("Secure") && flags.includes("Path=/")));
    if (isDropped) throw new Error(`browsers drop this cookie: ${line}`);
    if (flags.includes("Max-Age=0")) jar.delete(name);
    else jar.set(name, value);
  }
}

function formsOf(text: string): Form[] {
  return [...text.matchAll(/<form method="post" action="([^"]+)">([\s\S]*?)<\/form>/g)].map(([, action, inner]) => ({
    action: decoded(action!),
    hidden: Object.fromEntries(
      [...inner!.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
        name,
        decoded(value!),
      ]),
    ),
  }));
}

function decoded(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

/** The code that a waiting page shows. */
export function codeOf({ text, url }: Page): string {
  const halves = [...text.matchAll(/<span class="half">(\d{3})<\/span>/g)].map(([, half]) => half);
  if (halves.length !== 2) throw new Error(`no code in ${url}: ${text}`);
  return halves.join("");
}
