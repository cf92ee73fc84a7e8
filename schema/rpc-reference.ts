import { escapeHtml as text } from "./html.ts";
import { type GuideSection, RPC_GUIDE } from "./rpc-guide.ts";
import { neededWords, type OperationSchema, type RpcSchema, type ValueSchema } from "./rpc-schema.ts";

/**
 * The reference of the log service as one page without scripts, made of the same schema as everything else. `home` is
 * where the service's own pages are, if the page is served by one.
 */
export function rpcReference(
  schema: RpcSchema,
  version: string,
  home?: { readonly path: string; readonly icon: string },
): string {
  const groups = new Map<string, [string, OperationSchema][]>();
  for (const [name, operation] of Object.entries(schema.operations)) {
    const list = groups.get(operation.group) ?? [];
    groups.set(operation.group, [...list, [name, operation]]);
  }
  const contents = [...groups].map(
    ([group, list]) => `<li>${text(group)}<ul>${list.map(([name]) => `<li>${link(name)}</li>`).join("")}</ul></li>`,
  );
  const sections = [...groups].map(
    ([group, list]) => `<h2>${text(group)}</h2>${list.map(([name, operation]) => section(name, operation)).join("")}`,
  );
  const records = Object.entries(schema.definitions).map(
    ([name, definition]) =>
      `<h3 id="${text(name)}">${text(name)}</h3><p>${text(definition.description ?? "")}</p>${facts(definition)}${members(definition)}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${home === undefined ? "" : `<link rel="icon" href="${text(home.icon)}" type="image/svg+xml">`}<title>${text(schema.title)}</title><style>${STYLE}</style></head><body>
<main>${home === undefined ? "" : `<p><a href="${text(home.path)}">To your projects</a></p>`}<h1>${text(schema.title)}</h1><p>Version ${text(version)}. ${text(schema.description)}</p>
<nav><ul><li>requests<ul>${RPC_GUIDE.map(({ id }) => `<li>${link(id)}</li>`).join("")}</ul></li>${contents.join("")}<li><a href="#records">records</a></li></ul></nav>
<h2>requests</h2>${RPC_GUIDE.map(guide).join("\n")}
${sections.join("\n")}
<h2 id="records">records</h2>${records.join("\n")}</main></body></html>
`;
}

function guide({ id, title, text: paragraphs, curl, javascript }: GuideSection): string {
  const said = paragraphs.map((one) => `<p>${text(one).replace(/`([^`]+)`/g, "<code>$1</code>")}</p>`);
  const examples = [
    ["curl", "sh", curl],
    ["JavaScript", "javascript", javascript],
  ].map(
    ([name, language, code]) => `<h4>${name}</h4><pre><code class="language-${language}">${text(code!)}</code></pre>`,
  );
  return `<section><h3 id="${text(id)}">${text(title)}</h3>${said.join("")}${examples.join("")}</section>`;
}

function section(name: string, { summary, scope, input, output, outputIf }: OperationSchema): string {
  const nothing = "<p>Responds with 204 and no body.</p>";
  const otherwise =
    outputIf === undefined ? "" : `<p>Only with <code>${text(outputIf)}</code>; otherwise 204 and no body.</p>`;
  const answer = output === undefined ? nothing : `<h4>Answer</h4>${otherwise}${members(output)}`;
  const request =
    Object.keys(input.properties ?? {}).length === 0 ? "<p>No parameters.</p>" : `<h4>Input</h4>${members(input)}`;
  return `<section><h3 id="${text(name)}">POST /${text(name)}</h3><p>${text(summary)} ${needs(scope)}</p>${request}${answer}</section>`;
}

const needs = (scope: string) => neededWords(scope, (name) => `<code>${text(name)}</code>`);

function members({ $ref, properties, required = [] }: ValueSchema): string {
  if ($ref !== undefined) return `<p>${typeName({ $ref })}</p>`;
  if (properties === undefined) return "";
  const rows = Object.entries(properties).map(
    ([name, member]) =>
      `<tr><td><code>${text(name)}</code>${required.includes(name) ? " *" : ""}</td><td>${typeName(member)}</td><td>${text(member.description ?? "")}${facts(member)}</td></tr>`,
  );
  return `<table><tbody>${rows.join("")}</tbody></table>`;
}

function typeName({ $ref, type, items }: ValueSchema): string {
  if ($ref !== undefined) return link($ref.slice("#/definitions/".length));
  if (items !== undefined) return `list of ${typeName(items)}`;
  return text(typeof type === "string" ? type : (type ?? ["value"]).join(" or "));
}

/** The bounds and the default, as far as there are any. */
function facts({ enum: words, minimum, maximum, maxLength, maxItems, default: usual }: ValueSchema): string {
  const parts = [
    words !== undefined && `one of ${words.join(", ")}`,
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems} items`,
    usual !== undefined && `default ${JSON.stringify(usual)}`,
  ].filter((fact) => fact !== false);
  return parts.length === 0 ? "" : ` <small>${text(parts.join("; "))}</small>`;
}

const link = (name: string) => `<a href="#${text(name)}">${text(name)}</a>`;

const STYLE = `
:root { color-scheme: light dark; --bg: #f7f7f5; --line: #e4e3df; --ink: #1d1c1a; --soft: #5d5a54; --accent: #2855d9; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #131314; --line: #2c2c2f; --ink: #e9e7e3; --soft: #a9a59e; --accent: #86a9ff; }
}
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.6 system-ui, sans-serif; }
a { color: var(--accent); }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
nav > ul { columns: 3 14rem; padding: 0; list-style: none; } nav li { break-inside: avoid; }
h3, code, nav ul ul { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
td { padding: 0.3rem 0.6rem; border: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.75rem 1rem; border: 1px solid var(--line); font-size: 0.875rem; }
small { color: var(--soft); }
`;
