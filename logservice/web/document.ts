import { pageHead } from "../html/head.ts";
import { html } from "../html/html.ts";
import type { UiFiles } from "./files.ts";

/** Where the built files are served. */
export const ASSETS = "/assets";

/** The page up to where its first data follow. `data-` of the body say where the page is. */
export function documentHead({ script, style, preload }: UiFiles): string {
  const after = html`${preload.map(
    (file) => html`<link rel="modulepreload" href="${ASSETS}/${file}">
`,
  )}<script type="module" async src="${ASSETS}/${script}"></script>
`;
  return `${html`${pageHead({ title: "Logs", stylesheet: `${ASSETS}/${style}`, after })}<body>
<div id="app"><p class="unstarted" role="status">The page is loading. If this stays, load it again.</p></div>
<noscript><p>This page needs JavaScript. The command <code>tool logs --service</code> shows the same events.</p></noscript>
`}`;
}

/** The end of the page, with its first data. */
export function documentEnd(first: string): string {
  // The data are text to the parser of HTML until a `<`, which JSON may always escape.
  return `<script type="application/json" id="first">${first.replaceAll("<", "\\u003c")}</script>\n</body>\n</html>\n`;
}
