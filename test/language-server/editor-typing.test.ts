// The offers after each key while a text is typed from nothing, in an editor that closes brackets and quotes by
// itself and filters by what has been typed. `npm run t -- --record editor-typing` writes the lists again, to be read through.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { CompletionItem, TextEdit } from "vscode-languageserver-types";
import { complete } from "../../language-server/service/completion/complete.ts";
import type { ToolDocument } from "../../language-server/service/index.ts";
import { checkConfig } from "../../schema/index.ts";
import { root } from "../support/cli.ts";
import { accept, CLIENT, cursor, documentOf, FILES, projectOf } from "../support/editor.ts";
import { isRecording } from "../support/vectors.ts";

interface Row {
  readonly name: string;
  /** `|` is where the typing begins. */
  readonly text: string;
  readonly typed: string;
  /** The text typed since the list changed last, the number of items then, and the first of them. */
  shows: [typed: string, count: number, ...first: string[]][];
}

const path = join(root, "test/vectors/editor-typing.json");
const rows: Row[] = JSON.parse(readFileSync(path, "utf8"));

/** Problems about members that an object still needs, which the next key brings: a location elsewhere needs a status. */
const WRITTEN_NEXT: ReadonlySet<string> = new Set(["config/no-value", "config/missing-key", "config/rewrite-origin"]);

/** So many fit into a look. */
const FIRST = 4;

for (const row of rows) {
  t.test(row.name, (t) => {
    const { text, offset } = cursor(row.text);
    const shows: Row["shows"] = [];
    for (let length = 0; length <= row.typed.length; length++) {
      const typed = row.typed.slice(0, length);
      const document = documentOf(text.slice(0, offset) + typed + closersOf(typed) + text.slice(offset));
      const items = itemsAt(document, offset + length);
      const list = [items.length, ...items.slice(0, FIRST).map(({ label }) => label)] as const;
      const last = shows.at(-1);
      if (last !== undefined && last.slice(1).join() === list.join()) last[0] += row.typed[length - 1];
      else shows.push([row.typed.slice(length - 1, length), ...list]);
      const [first] = items;
      if (first !== undefined && isConfig(document, offset + length)) {
        const taken = accept(document, first).text;
        const { problems } = checkConfig(taken);
        t.same(
          problems.filter(({ code }) => !WRITTEN_NEXT.has(code)).map(({ code, message }) => `${code}: ${message}`),
          [],
          `${typed}: ${first.label} is taken`,
        );
      }
    }
    if (isRecording) row.shows = shows;
    t.same(shows, row.shows);
    const whole = text.slice(0, offset) + row.typed + text.slice(offset);
    t.same(checkConfig(whole).problems, [], "all of it is valid");
    t.end();
  });
}

/**
 * The labels that must be offered at `|`, and no others, in any order: written by hand from the definition of tool.json
 * and of the query language. Unlike the lists above it is not recorded, so that a recording cannot approve a mistake.
 */
const EXPECTED: readonly [text: string, labels: readonly string[]][] = [
  ['{ "name": "app", "type": "|" }', ["server", "static"]],
  ['{ "name": "app", "redirects": {}, "re|" }', ["regions"]],
  ['{ "name": "app", "regions": [], "re|" }', ["redirects"]],
  ['{ "name": "app", "redirects": { "/a": { "status": | } } }', ["200", "301", "302", "303", "307", "308"]],
  ['{ "name": "app", "redirects": { "/a": { "location": "/b", "|" } } }', ["status", "force"]],
  ['{ "name": "app", "redirects": { "/u/:id/*": { "location": "/n/:|" } } }', [":id", ":splat"]],
  ['{ "name": "app", "redirects": { "/u/:id": { "location": "/n/:|" } } }', [":id"]],
  ['{ "name": "app", "proxy": { "|" } }', ["command", "timeout", "listen_timeout", "shutdown_timeout", "backoff"]],
  ['{ "name": "app", "proxy": { "timeout": 5, "t|" } }', []],
  [
    '{ "name": "app", "cors": { "allowed_methods": ["GET", "|"] } }',
    ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
  ],
  ['{ "name": "app", "inject": { "head": [{ "type": "inline|" }] } }', ["inline style", "inline script"]],
  ['{ "name": "app", "static": { "dir": "|" } }', ["css", "errors", "public"]],
  [
    '{ "name": "app", "logs": { "queries": { "q": "level >= |" } } }',
    ["debug", "info", "notice", "warn", "error", "critical", "alert", "emergency"],
  ],
  ['{ "name": "app", "logs": { "queries": { "q": "duration > 1|" } } }', ["1ms", "1s", "1m", "1h", "1d"]],
  ['{ "name": "app", "logs": { "queries": { "q": "stage = |" } } }', ["production", "staging", "development"]],
  ['{ "name": "app", "logs": { "queries": { "q": "status >= 500 an|" } } }', ["and"]],
  ['{ "name": "app"| }', []],
];
for (const [marked, labels] of EXPECTED) {
  t.test(`offered: ${marked}`, (t) => {
    const { text, offset } = cursor(marked);
    const actualLabels = itemsAt(documentOf(text), offset).map(({ label }) => label);
    t.same([...actualLabels].sort(), [...labels].sort());
    t.end();
  });
}

t.teardown(() => {
  if (!isRecording) return;
  const lines = rows.map(({ shows, ...row }) => {
    const lists = shows.map((list) => `    ${JSON.stringify(list)}`).join(",\n");
    return `  ${JSON.stringify(row).slice(0, -1)},"shows":[\n${lists}\n  ]}`;
  });
  writeFileSync(path, `[\n${lines.join(",\n")}\n]\n`);
});

/** The brackets and quotes that are open, closed from the innermost. */
function closersOf(typed: string): string {
  const open: string[] = [];
  let inString = false;
  for (const [i, char] of [...typed].entries()) {
    if (char === '"' && typed[i - 1] !== "\\") inString = !inString;
    else if (inString) continue;
    else if (char === "{" || char === "[") open.unshift(char === "{" ? "}" : "]");
    else if (char === "}" || char === "]") open.shift();
  }
  return (inString ? '"' : "") + open.join("");
}

/** The items that begin with the text between the start of their range and the cursor, in their order. */
function itemsAt(document: ToolDocument, offset: number): CompletionItem[] {
  const { items } = complete(
    document,
    offset,
    projectOf(FILES, () => document),
    CLIENT,
  );
  const typedOf = ({ textEdit }: CompletionItem) =>
    document.text.slice(document.offsetAt((textEdit as TextEdit).range.start), offset).toLowerCase();
  return items
    .filter((item) => (item.filterText ?? item.label).toLowerCase().startsWith(typedOf(item)))
    .sort((a, b) => ((a.sortText ?? a.label) < (b.sortText ?? b.label) ? -1 : 1));
}

/** Half of a query is none: when an operator is taken, the text is not yet valid. */
function isConfig(document: ToolDocument, offset: number): boolean {
  return document.embeddedAt(offset)?.language !== "query";
}
