import { type Header, headerOf, type ProxyRequest, type ProxyResponse } from "./exchange.ts";

/** Tags of two generations; a site has fewer pages that are requested repeatedly at a time. */
const MAX_TAGS = 2_048;

/**
 * The tags that were weakened on their way out. A client sends them back in that form, and an app that compares texts
 * would find no match: so it gets its own tag back. Tags that an app made weak itself stay as they are.
 */
export class WeakenedTags {
  #tags = new Set<string>();
  #older = new Set<string>();

  /**
   * For a body that was changed on its way: its tag can no longer promise the same bytes, only the same content (RFC 9110,
   * section 8.8.1).
   */
  weakened(headers: readonly Header[]): Header[] {
    for (const [name, value] of headers) {
      if (name.length === 4 && value.startsWith('"') && name.toLowerCase() === "etag") this.#keep(value);
    }
    return weakened(headers);
  }

  /** The request with the app's own tags in If-None-Match. */
  restored(request: ProxyRequest): ProxyRequest {
    const ifNoneMatch = request.headers["if-none-match"];
    if (ifNoneMatch === undefined || !ifNoneMatch.includes("W/")) return request;
    const restored = this.#restore(ifNoneMatch);
    if (restored === ifNoneMatch) return request;
    const rawHeaders = request.rawHeaders.map((text, i, all) =>
      i % 2 === 1 && all[i - 1]!.toLowerCase() === "if-none-match" ? this.#restore(text) : text,
    );
    return { ...request, headers: { ...request.headers, "if-none-match": restored }, rawHeaders };
  }

  #restore(tags: string): string {
    return tags.replace(/W\/("[^"]*")/g, (weak, strong: string) =>
      this.#tags.has(strong) || this.#older.has(strong) ? strong : weak,
    );
  }

  #keep(tag: string): void {
    if (this.#tags.has(tag)) return;
    if (this.#tags.size >= MAX_TAGS) {
      this.#older = this.#tags;
      this.#tags = new Set();
    }
    this.#tags.add(tag);
  }
}

function weakened(headers: readonly Header[]): Header[] {
  return headers.map(([name, value]) =>
    name.toLowerCase() === "etag" && value.startsWith('"') ? [name, `W/${value}`] : [name, value],
  );
}

/**
 * A 304 names the tag that the client holds. Where that was weakened on its way out, the app's own would be another
 * one, and a cache would have nothing to confirm (RFC 9111, section 4.3.4).
 */
export function withTagOfClient(request: ProxyRequest, response: ProxyResponse): ProxyResponse {
  const tag = headerOf(response, "etag");
  const ifNoneMatch = request.headers["if-none-match"];
  if (response.status !== 304 || tag === undefined || ifNoneMatch === undefined || tag.startsWith("W/"))
    return response;
  return ifNoneMatch.includes(`W/${tag}`) ? { ...response, headers: weakened(response.headers) } : response;
}

/** The app asks that nobody changes the body on its way (RFC 9111, section 5.2.2.6). */
export function forbidsTransform(response: ProxyResponse): boolean {
  const directives = headerOf(response, "cache-control");
  return directives !== undefined && /(?:^|,)\s*no-transform\s*(?:,|$)/i.test(directives);
}
