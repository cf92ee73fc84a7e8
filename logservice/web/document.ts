import { html } from "../account/html.ts";
import { FAVICON_PATH } from "../account/pages/document.ts";
import type { UiFiles } from "./files.ts";

/** Where the built files are served. */
export const ASSETS = "/assets";

/** The page up to where its first data follow. `data-` of the body say where the page is. */
export function documentHead({ script, style, preload }: UiFiles): string {
  return `${html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Logs</title>
<link rel="icon" href="${FAVICON_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${ASSETS}/${style}">
${preload.map(
  (file) => html`<link rel="modulepreload" href="${ASSETS}/${file}">
`,
)}<script type="module" async src="${ASSETS}/${script}"></script>
</head>
<body>
<div id="app"><p class="unstarted" role="status">The page is loading. If this stays, load it again.</p></div>
<noscript><p>This page needs JavaScript. The command <code>tool logs --service</code> shows the same events.</p></noscript>
`}`;
}

/** The end of the page, with its first data. */
export function documentEnd(first: string): string {
  // The data are text to the parser of HTML until a `<`, which JSON may always escape.
  return `<script type="application/json" id="first">${first.replaceAll("<", "\\u003c")}</script>\n</body>\n</html>\n`;
}
