// What the sandbox itself answers to requests that no app gets: which apps there are, for eyes and for scripts.
import type { AppAddress } from "./addresses.ts";

export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Says nothing about what is here: the page that asks may belong to anybody. */
export const FOREIGN_HOST: Page = {
  status: 403,
  type: "text/plain; charset=utf-8",
  body: "no app answers to this host name here\n",
};

/** The apps of the sandbox, for 127.0.0.1 and names that end with localhost alone. */
export function appsPage(
  apps: readonly AppAddress[],
  wanted: { readonly isFront: boolean; readonly isHtml: boolean },
): Page {
  const { isFront, isHtml } = wanted;
  const status = isFront ? 200 : 404;
  if (isHtml) return { status, type: "text/html; charset=utf-8", body: htmlOf(apps, isFront) };
  const lines = [SANDBOX, ...(isFront ? [] : ["", "No app answers to this address."]), ""];
  if (apps.length === 0) lines.push(NONE);
  else {
    const width = Math.max(...apps.map(({ app, stage }) => `${app} ${stage}`.length));
    const rows = apps.map(({ app, stage, urls, domains }) =>
      [`${app} ${stage}`.padEnd(width), ...urls, ...domains.map((name) => `(Host: ${name})`)].join("  "),
    );
    lines.push(...rows);
  }
  return { status, type: "text/plain; charset=utf-8", body: `${lines.join("\n")}\n` };
}

const SANDBOX = "tool sandbox: the cloud platform on this machine.";
const NONE = "Nothing is deployed yet: write tool deploy --sandbox in the folder of an app.";

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.4rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.5rem 1rem .5rem 0;border-top:1px solid #8884}
th{font-weight:600;border:0}
small{display:block;opacity:.7}
code{font:.9em ui-monospace,monospace}`;

function htmlOf(apps: readonly AppAddress[], isFront: boolean): string {
  const rows = apps.map(({ app, stage, region, urls: [named, below], domains }) => {
    const others = domains.map((name) => `<small>Host: ${text(name)}</small>`).join("");
    return `<tr><td>${text(app)}<small>${text(region)}</small></td><td>${text(stage)}</td><td>${link(named)}<small>${link(below)}</small>${others}</td></tr>`;
  });
  const table =
    apps.length === 0
      ? `<p>Nothing is deployed yet: write <code>tool deploy --sandbox</code> in the folder of an app.</p>`
      : `<table><thead><tr><th>App</th><th>Stage</th><th>Address</th></tr></thead><tbody>${rows.join("\n")}</tbody></table>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>tool sandbox</title>
<style>${STYLE}</style></head>
<body><h1>tool sandbox</h1>
<p>The cloud platform on this machine.${isFront ? "" : " <strong>No app answers to this address.</strong>"}</p>
${table}
</body></html>
`;
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
