import { escapeHtml } from "../../schema/html.ts";
import { RULES } from "../../schema/rules.ts";
import { markdownToHtml } from "./markdown.ts";

/** The parts of JSON Schema (draft 7) that the reference shows. */
interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly deprecated?: boolean;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** The reference of tool.json as one self-contained HTML page, without scripts and network. */
export function referencePage(schema: object, version: string): string {
  const root = schema as Schema;
  const resolve = (node: Schema): Schema => {
    if (node.$ref === undefined) return node;
    const name = node.$ref.replace("#/definitions/", "");
    const target = root.definitions?.[name];
    if (target === undefined) throw new Error(`the schema refers to ${node.$ref}, which it lacks`);
    const { $ref: _, ...own } = node;
    return { ...resolve(target), ...own };
  };

  const sections: string[] = [];
  const contents: string[] = [];
  const visit = (path: string, node: Schema, required: boolean, depth: number) => {
    const field = resolve(node);
    const id = path.replace(/[^\w.-]+/g, "_");
    if (depth === 0) contents.push(`<li><a href="#${id}">${escapeHtml(path)}</a></li>`);
    sections.push(fieldSection({ path, id, field, required, depth, typeOf: (part) => typeName(part, resolve) }));
    for (const [below, child, isRequired] of childrenOf(field, resolve)) {
      visit(`${path}${below}`, child, isRequired, depth + 1);
    }
  };
  for (const [name, child] of Object.entries(root.properties ?? {})) {
    visit(name, child, root.required?.includes(name) ?? false, 0);
  }

  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tool.json reference</title>
<style>${STYLE}</style>
</head>
<body>
<nav aria-label="Fields"><strong>tool.json</strong><ul>${contents.join("")}</ul><strong><a href="#problems">Problems</a></strong></nav>
<main>
<h1>tool.json</h1>
<p class="version">Reference for tool ${escapeHtml(version)}</p>
${markdownToHtml(root.markdownDescription ?? root.description ?? "")}
${sections.join("\n")}
${problemsSection()}
</main>
</body>
</html>
`;
}

/** Every code that a problem can have; editors and SARIF link here. */
function problemsSection(): string {
  const rows = Object.entries(RULES).map(
    ([code, title]) => `<dt id="${code}"><code>${code}</code></dt><dd>${escapeHtml(title)}.</dd>`,
  );
  return `<section id="problems"><h2>Problems</h2><dl>${rows.join("\n")}</dl></section>`;
}

/** The parts of a field: its properties, the values of a map, the items of an array. */
function childrenOf(
  field: Schema,
  resolve: (node: Schema) => Schema,
): [below: string, child: Schema, required: boolean][] {
  const children: [string, Schema, boolean][] = [];
  for (const [name, child] of Object.entries(field.properties ?? {})) {
    children.push([`.${name}`, child, field.required?.includes(name) ?? false]);
  }
  const values = typeof field.additionalProperties === "object" ? field.additionalProperties : undefined;
  // Values of a map of strings have nothing to add to the map.
  if (values !== undefined && hasParts(resolve(values)))
    children.push(...prefixed(".<name>", resolve(values), resolve));
  if (field.items !== undefined && hasParts(resolve(field.items))) {
    children.push(...prefixed("[]", resolve(field.items), resolve));
  }
  for (const option of [...(field.oneOf ?? []), ...(field.anyOf ?? [])]) {
    if (hasParts(resolve(option))) children.push(...childrenOf(resolve(option), resolve));
  }
  return children;
}

function hasParts(field: Schema): boolean {
  return field.properties !== undefined || field.items !== undefined || typeof field.additionalProperties === "object";
}

function prefixed(prefix: string, field: Schema, resolve: (node: Schema) => Schema) {
  return childrenOf(field, resolve).map(([below, child, required]): [string, Schema, boolean] => [
    prefix + below,
    child,
    required,
  ]);
}

function fieldSection(section: {
  path: string;
  id: string;
  field: Schema;
  required: boolean;
  depth: number;
  typeOf: (node: Schema) => string;
}): string {
  const { path, id, field, required, depth, typeOf } = section;
  const tag = `h${Math.min(depth + 2, 6)}`;
  const facts = [
    escapeHtml(typeOf(field)),
    ...(required ? ["<b>required</b>"] : []),
    ...(field.default !== undefined ? [`default ${code(field.default)}`] : []),
    ...(field.minimum !== undefined ? [`at least ${field.minimum}`] : []),
    ...(field.maximum !== undefined ? [`at most ${field.maximum}`] : []),
    ...(field.enum !== undefined ? [`one of ${field.enum.map(code).join(", ")}`] : []),
    ...(field.deprecated ? ["<b>deprecated</b>"] : []),
  ];
  const text = field.markdownDescription ?? field.description ?? "";
  // Examples are omitted if the description has some.
  const examples = text.includes("```") ? [] : (field.examples ?? []);
  return `<section class="depth-${Math.min(depth, 3)}">
<${tag} id="${id}"><a href="#${id}">${escapeHtml(path)}</a></${tag}>
<p class="facts">${facts.join(" · ")}</p>
${markdownToHtml(text)}
${examples.length === 0 ? "" : `<pre><code>${examples.map((example) => escapeHtml(exampleText(path, example))).join("\n")}</code></pre>`}
</section>`;
}

function exampleText(path: string, example: unknown): string {
  const name = path.slice(path.lastIndexOf(".") + 1);
  return `${JSON.stringify(name)}: ${JSON.stringify(example, null, 2)}`;
}

function typeName(field: Schema, resolve: (node: Schema) => Schema): string {
  const options = [...(field.oneOf ?? []), ...(field.anyOf ?? [])];
  if (options.length > 0) return options.map((option) => typeName(resolve(option), resolve)).join(" or ");
  if (field.type === "array") return field.items ? `array of ${typeName(resolve(field.items), resolve)}` : "array";
  if (field.type === "object" && typeof field.additionalProperties === "object") {
    return `object of ${typeName(resolve(field.additionalProperties), resolve)}`;
  }
  if (field.type === undefined) return field.enum !== undefined || field.const !== undefined ? "value" : "any value";
  return typeof field.type === "string" ? field.type : field.type.join(" or ");
}

const code = (value: unknown) => `<code>${escapeHtml(JSON.stringify(value))}</code>`;

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #5f6873; --line: #dfe3e8; --back: #fff; --panel: #f5f7f9; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --soft: #9aa4b0; --line: #2c333b; --back: #14171a; --panel: #1c2126; --link: #7ab7f5; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; display: flex; background: var(--back); color: var(--text); font: 16px/1.6 system-ui, sans-serif; }
nav { position: sticky; top: 0; flex: none; width: 15rem; height: 100vh; overflow: auto; padding: 2rem 1.5rem; border-right: 1px solid var(--line); }
nav ul { list-style: none; margin: 0.75rem 0 0; padding: 0; }
nav li { margin: 0.15rem 0; }
nav a { color: var(--soft); text-decoration: none; font-family: ui-monospace, monospace; font-size: 0.875rem; }
nav a:hover, nav a:focus { color: var(--link); text-decoration: underline; }
main { flex: 1; min-width: 0; max-width: 54rem; padding: 2rem clamp(1rem, 4vw, 3rem) 6rem; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; }
.version, .facts { color: var(--soft); }
.version { margin: 0.25rem 0 1.5rem; }
.facts { margin: 0.1rem 0 0.5rem; font-size: 0.875rem; }
section { padding-top: 1.25rem; }
.depth-0 { margin-top: 1.5rem; border-top: 1px solid var(--line); }
.depth-1, .depth-2, .depth-3 { padding-left: 1rem; border-left: 2px solid var(--line); }
.depth-2 { margin-left: 1rem; }
.depth-3 { margin-left: 2rem; }
h2, h3, h4, h5, h6 { margin: 0; font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; }
h3, h4, h5, h6 { font-size: 1rem; }
h2 a, h3 a, h4 a, h5 a, h6 a { color: inherit; text-decoration: none; }
:is(h2, h3, h4, h5, h6) a:hover { text-decoration: underline; }
main p a { color: var(--link); }
p { margin: 0.5rem 0; }
code { font: 0.875em ui-monospace, monospace; background: var(--panel); padding: 0.1em 0.3em; border-radius: 3px; overflow-wrap: anywhere; }
pre { margin: 0.75rem 0; padding: 0.75rem 1rem; overflow: auto; background: var(--panel); border-radius: 6px; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
table { border-collapse: collapse; }
th, td { padding: 0.3rem 0.75rem; border: 1px solid var(--line); text-align: left; }
@media (max-width: 48rem) { body { display: block; } nav { position: static; width: auto; height: auto; border: 0; } nav ul { columns: 2; } }
@media print { nav { display: none; } }
`;
