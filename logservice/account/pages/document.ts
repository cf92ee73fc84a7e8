import { type Html, html } from "../html.ts";

/** Where the stylesheet of the pages is served. */
export const STYLESHEET_PATH = "/assets/pages.css";
/** Where the icon of all pages is served. */
export const FAVICON_PATH = "/favicon.svg";

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
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refreshSeconds !== undefined && refreshTag(refreshSeconds, refreshUrl)}<title>${title} · Log service</title>
<link rel="icon" href="${FAVICON_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLESHEET_PATH}">
</head>
<body>
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
