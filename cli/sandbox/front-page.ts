// The pages that the sandbox itself answers to requests that no app gets: they list the apps, for eyes and for scripts.
import type { AppAddress } from "./addresses.ts";

export interface PageResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Says nothing about what is here: the page that asks may belong to anybody. */
export const FOREIGN_HOST: PageResponse = {
  status: 403,
  type: "text/plain; charset=utf-8",
  body: "no app answers to this host name here\n",
};

/** An address that no app answers to. */
interface AppRequest {
  readonly address: string;
  /** The app and the stage that the address names, deployed or not. */
  readonly app?: string;
  readonly stage?: string;
}

/** The apps of the sandbox, for 127.0.0.1 and names that end with localhost alone. `request` is absent at the front. */
export function appsPage(
  apps: readonly AppAddress[],
  options: { readonly isHtml: boolean; readonly request?: AppRequest },
): PageResponse {
  const { isHtml, request } = options;
  const status = request === undefined ? 200 : 404;
  const missing = request === undefined ? [] : missingLines(apps, request);
  if (isHtml) return { status, type: "text/html; charset=utf-8", body: htmlOf(apps, missing) };
  const lines = [SANDBOX, "", ...(missing.length === 0 ? [] : [...missing, ""])];
  if (apps.length === 0) lines.push(NONE);
  else {
    const width = Math.max(...apps.map(({ app, stage }) => `${app} ${stage}`.length));
    for (const { app, stage, urls, domains } of apps) {
      lines.push([`${app} ${stage}`.padEnd(width), ...urls].join("  "));
      for (const domain of domains) lines.push(`${" ".repeat(width)}  ${curlOf(domain)}`);
    }
  }
  return { status, type: "text/plain; charset=utf-8", body: `${lines.join("\n")}\n` };
}

/** The problem of the address, and what there is instead. */
function missingLines(apps: readonly AppAddress[], { address, app, stage }: AppRequest): string[] {
  const excerpt = address.length > MAX_ADDRESS ? `${address.slice(0, MAX_ADDRESS)}…` : address;
  const line = `No app answers to ${excerpt}`;
  if (app === undefined) return [line];
  const stages = apps.filter((one) => one.app === app).map((one) => one.stage);
  const has = `it has ${stages.join(", ")}`;
  if (stages.length === 0) return [line, `There is no app ${app} in the sandbox.`];
  return [
    line,
    stage === undefined ? `The address has no stage of ${app}; ${has}.` : `${app} has no stage ${stage}; ${has}.`,
  ];
}

/** Longer ones are clipped on the page. */
const MAX_ADDRESS = 200;

const curlOf = ({ name, url }: AppAddress["domains"][number]) => `curl -H 'Host: ${name}' ${url}`;

const SANDBOX = "tool sandbox: the cloud platform on this machine.";
const NONE = "Nothing is deployed yet: write tool deploy --sandbox in the folder of an app.";

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.4rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top}
th{font-size:1.1rem;padding:1.5rem 0 .5rem}
td{padding:.5rem 0;border-top:1px solid #8884}
td:first-child{padding-right:1rem;min-width:5rem}
small{display:block;opacity:.8}
code{font:.9em ui-monospace,monospace}
@media(max-width:560px){body{margin:1.5rem auto}tr,th,td{display:block}td:first-child{font-weight:600}td+td{border:0;padding-top:0}}`;

/** Each app once, and its stages below it. */
function htmlOf(apps: readonly AppAddress[], missing: readonly string[]): string {
  const names = [...new Set(apps.map(({ app }) => app))];
  const groups = names.map((name) => {
    const rows = apps.filter(({ app }) => app === name).map((one) => rowOf(one));
    return `<tbody><tr><th colspan="2" scope="rowgroup">${text(name)}</th></tr>\n${rows.join("\n")}</tbody>`;
  });
  const table =
    apps.length === 0
      ? `<p>Nothing is deployed yet: write <code>tool deploy --sandbox</code> in the folder of an app.</p>`
      : `<table>${groups.join("\n")}</table>`;
  const [problem, remedy = ""] = missing;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>tool sandbox</title>
<style>${STYLE}</style></head>
<body><h1>tool sandbox</h1>
<p>The cloud platform on this machine.</p>
${problem === undefined ? "" : `<p><strong>${text(problem)}</strong><br>${text(remedy)}</p>\n`}${table}
</body></html>
`;
}

function rowOf({ stage, urls: [named, below], domains }: AppAddress): string {
  const others = domains.map((one) => `<small><code>${text(curlOf(one))}</code></small>`).join("");
  return `<tr><td>${text(stage)}</td><td>${link(named)}<small>${link(below)}</small>${others}</td></tr>`;
}

const link = (url: string) => `<a href="${text(url)}">${text(url)}</a>`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const text = (raw: string) => raw.replaceAll(/[&<>"']/g, (char) => ENTITIES[char]!);
