import { pageHead } from "./head.ts";
import { type Html, html } from "./html.ts";

/** Where the stylesheet of the pages is served. */
export const STYLESHEET_PATH = "/assets/pages.css";

export interface PageParts {
  readonly title: string;
  readonly content: Html;
  /** Loads the page again after this time, or another one. */
  readonly refreshSeconds?: number | undefined;
  readonly refreshUrl?: string | undefined;
}

/**
 * A whole page: one card without scripts and without styles of its own, so that `default-src 'self'` is enough for it.
 */
export function pageDocument({ title, content, refreshSeconds, refreshUrl }: PageParts): string {
  const before = html`<meta name="robots" content="noindex">
${refreshSeconds !== undefined && refreshTag(refreshSeconds, refreshUrl)}`;
  return html`${pageHead({ title: `${title} · Log service`, stylesheet: STYLESHEET_PATH, before })}<body>
<main>
<p class="brand">Log service</p>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.toString();
}

/** The same page is loaded at most once a second. */
function refreshTag(seconds: number, url: string | undefined): Html {
  const content = url === undefined ? Math.max(1, Math.round(seconds)) : `${Math.round(seconds)}; url=${url}`;
  return html`<meta http-equiv="refresh" content="${content}">\n`;
}
