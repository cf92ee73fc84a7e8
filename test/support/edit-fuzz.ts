// Random edits of real texts through the running server: whatever was typed, its answers are those of a file opened fresh.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./cli.ts";
import type { LspClient, Message } from "./lsp-client.ts";
import { type Random, randomOf } from "./random.ts";
import { richConfig } from "./rich-config.ts";

interface Base {
  readonly name: string;
  readonly text: string;
}

const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Examples, fixtures, drawn configurations, queries and an error page, each under the name that it is ours by. */
export function editBases(random: Random): readonly Base[] {
  const vectors: { check: { text: string[] }[] } = JSON.parse(read("test/vectors/config.json"));
  const examples = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [
    ...examples.map(({ name }) => ({ name: "tool.json", text: read(`examples/${name}/tool.json`) })),
    { name: "app.tool.json", text: read("test/fixtures/whole.tool.json") },
    ...vectors.check.map(({ text }) => ({ name: "tool.json", text: text.join("\n") })).filter(isShort),
    ...Array.from({ length: 12 }, () => ({ name: "tool.json", text: richConfig(random) })),
    { name: "tool.json", text: richConfig(random).replaceAll("\n", "\r\n") },
    { name: "slow.logq", text: 'status >= 500 and (path = /api/* or message contains "timed out")\n' },
    { name: "all.logq", text: "method in (GET, PUT) and user.name ~ /^a+$/i and not exists error\n" },
    { name: ".toolignore", text: "node_modules/\n!keep\n" },
  ];
}

const isShort = ({ text }: Base) => text.length < 5000;

/**
 * Makes `rounds` texts by edits and asks everything about each, twice: of the document that was edited, and of one that
 * was opened with that text. Answers what differs and what failed.
 */
export async function fuzzEdits(client: LspClient, rounds: number, seed: number): Promise<string[]> {
  const random = randomOf(seed);
  const bases = editBases(random);
  const wrong: string[] = [];
  for (let round = 0; round < rounds && wrong.length < 5; round++) {
    const base = random.pick(bases);
    const folder = `file:///nonexistent/${seed}/${round}`;
    const edited = `${folder}/a/app/${base.name}`;
    const fresh = `${folder}/b/app/${base.name}`;
    client.open(edited, base.text);
    const text = editAll(client, edited, base.text, bases, random);
    client.open(fresh, text);
    const requests = questions(text, random);
    const [ofEdited, ofFresh] = await Promise.all([ask(client, edited, requests), ask(client, fresh, requests)]);
    for (const [i, { method, params }] of requests.entries()) {
      const [a, b] = [comparable(ofEdited[i]!, edited), comparable(ofFresh[i]!, fresh)];
      const what = `${method} ${JSON.stringify(params)} of ${JSON.stringify(text)}`;
      if (a !== b) wrong.push(`${what}: ${a} after edits, ${b} opened fresh`);
      if (ofEdited[i]!.error !== undefined && !REFUSES.has(method)) wrong.push(`${what}: ${a}`);
    }
    await fixAll(client, edited, ofEdited[0]!, wrong);
    for (const uri of [edited, fresh]) client.notify("textDocument/didClose", { textDocument: { uri } });
  }
  return wrong;
}

/** A name may be refused, with a sentence. */
const REFUSES: ReadonlySet<string> = new Set(["textDocument/rename", "textDocument/prepareRename"]);

const PIECES = [
  ...'"{}[],:/*\\ \n\ta0-',
  "\r\n",
  "\r",
  "\u00e9",
  "\ud83d\ude00",
  '"\ud83d\ude00": "\\ud83d\\ude00"',
  '"x": 1, ',
  '"redirects": { "/:id": { "location": "/:',
  '"logs": { "queries": { "q": "status >= ',
  "// c\n",
  "/* c */",
  "true",
  '"lambda": { "memory": "512" },',
  "and (",
  "\\u00",
];

/** Some notifications of one to three changes each; answers the text that a client has then. */
function editAll(client: LspClient, uri: string, source: string, bases: readonly Base[], random: Random): string {
  let text = source;
  const last = 2 + random.below(6);
  for (let version = 2; version <= last; version++) {
    const contentChanges: object[] = [];
    for (let changes = 1 + random.below(3); changes > 0; changes--) {
      const at = snap(text, random.below(text.length + 1));
      const end = snap(text, Math.min(text.length, at + (random.chance(0.5) ? 0 : random.below(12))));
      const pasted = random.pick(bases).text;
      const from = snap(pasted, random.below(pasted.length + 1));
      const piece = random.chance(0.2)
        ? pasted.slice(from, snap(pasted, Math.min(pasted.length, from + random.below(80))))
        : random.pick(PIECES);
      const put = random.chance(0.25) ? "" : piece;
      contentChanges.push({ range: { start: positionOf(text, at), end: positionOf(text, end) }, text: put });
      text = text.slice(0, at) + put + text.slice(end);
    }
    if (random.chance(0.05)) contentChanges.push({ text });
    client.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges });
  }
  return text;
}

interface Question {
  readonly method: string;
  readonly params: object;
}

/** The diagnostics, everything about the whole text, and everything about some places. */
function questions(text: string, random: Random): Question[] {
  const whole = { start: { line: 0, character: 0 }, end: positionOf(text, text.length) };
  const options = { tabSize: 1 + random.below(8), insertSpaces: random.chance(0.5) };
  const color = { red: 1, green: 0.5, blue: 0, alpha: 1 };
  const ask = (name: string, params: object = {}): Question => ({ method: `textDocument/${name}`, params });
  const list = [
    ask("diagnostic"),
    ...["documentSymbol", "documentLink", "codeLens", "documentColor", "foldingRange"].map((name) => ask(name)),
    ask("semanticTokens/full"),
    ask("inlayHint", { range: whole }),
    ask("formatting", { options }),
    ask("codeAction", { range: whole, context: { diagnostics: [] } }),
  ];
  for (let places = 0; places < 3; places++) {
    const offset = snap(text, random.below(text.length + 1));
    const position = positionOf(text, offset);
    const end = positionOf(text, snap(text, Math.min(text.length, offset + random.below(60))));
    const range = { start: position, end };
    const names = ["completion", "hover", "signatureHelp", "definition", "documentHighlight", "prepareRename"];
    list.push(
      ...[...names, "linkedEditingRange"].map((name) => ask(name, { position })),
      ask("references", { position, context: { includeDeclaration: random.chance(0.5) } }),
      ask("rename", { position, newName: random.pick(["renamed", "a b", 'q"', "", "\ud83d\ude00", "splat", "ops"]) }),
      ask("selectionRange", { positions: [position] }),
      ask("onTypeFormatting", { position, ch: random.pick(["}", "]", "\n"]), options }),
      ask("rangeFormatting", { range, options }),
      ask("semanticTokens/range", { range }),
      ask("colorPresentation", { range, color }),
      ask("codeAction", { range, context: { diagnostics: [] } }),
    );
  }
  return list;
}

function ask(client: LspClient, uri: string, questions: readonly Question[]): Promise<Message[]> {
  return Promise.all(
    questions.map(({ method, params }) => client.request(method, { textDocument: { uri }, ...params })),
  );
}

/** The actions that a client asks for with each diagnostic at hand. */
async function fixAll(client: LspClient, uri: string, { result }: Message, wrong: string[]): Promise<void> {
  const { items } = result as { items: { range: object; message: string }[] };
  for (const diagnostic of items.slice(0, 5)) {
    const context = { diagnostics: [diagnostic] };
    const params = { textDocument: { uri }, range: diagnostic.range, context };
    const { error } = await client.request("textDocument/codeAction", params);
    if (error !== undefined) wrong.push(`actions for ${diagnostic.message}: ${JSON.stringify(error)}`);
  }
}

/** An answer as it is compared: of no document, and of no state of the server. */
function comparable({ result, error }: Message, uri: string): string {
  const text = JSON.stringify({ result, error }, (key, value) => (key === "resultId" ? undefined : value));
  return text.replaceAll(uri.slice(0, uri.lastIndexOf("/")), "");
}

/** Not within a surrogate pair nor a CRLF: editors have no such position. */
export function snap(text: string, offset: number): number {
  const pair = text.slice(offset - 1, offset + 1);
  return /^(?:[\ud800-\udbff][\udc00-\udfff]|\r\n)$/.test(pair) ? offset - 1 : offset;
}

export function positionOf(text: string, offset: number) {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length - 1, character: lines.at(-1)!.length };
}
