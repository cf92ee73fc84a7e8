import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import t from "tap";
import { type DocumentSymbol, type SelectionRange, SymbolKind } from "vscode-languageserver-types";
import { applyEdits, fixesOf } from "../../grammar/problem.ts";
import { codeActions } from "../../language-server/service/code-actions.ts";
import { codeLens } from "../../language-server/service/code-lens.ts";
import { colorPresentations, documentColors } from "../../language-server/service/color.ts";
import { definition } from "../../language-server/service/definition.ts";
import { ToolDocument } from "../../language-server/service/document.ts";
import { documentHighlight } from "../../language-server/service/document-highlight.ts";
import { documentLinks } from "../../language-server/service/document-links.ts";
import { documentSymbols } from "../../language-server/service/document-symbols.ts";
import { executeCommand } from "../../language-server/service/execute-command.ts";
import { folding } from "../../language-server/service/folding.ts";
import { formatDocument, formatOnType, formatRange } from "../../language-server/service/formatting.ts";
import { inlayHints } from "../../language-server/service/inlay-hints.ts";
import { linkedEditing } from "../../language-server/service/linked-editing.ts";
import { Refusal } from "../../language-server/service/method.ts";
import { moveSecret } from "../../language-server/service/move-secret.ts";
import { pathOfUri, uriOfPath } from "../../language-server/service/paths.ts";
import { references } from "../../language-server/service/references.ts";
import { prepareRename, rename } from "../../language-server/service/rename.ts";
import { selectionRanges } from "../../language-server/service/selection-ranges.ts";
import {
  SEMANTIC_TOKENS_LEGEND,
  semanticTokens,
  semanticTokensDelta,
} from "../../language-server/service/semantic-tokens.ts";
import { willRenameFiles } from "../../language-server/service/will-rename-files.ts";
import { workspaceSymbols } from "../../language-server/service/workspace-symbols.ts";
import { checkConfig } from "../../schema/index.ts";
import { plainValue } from "../../schema/json.ts";
import { projectOf } from "../support/editor.ts";
import { applyLspEdits, type Fixture, fixture, marked } from "../support/editor-fixture.ts";
import { holds } from "../support/property.ts";
import { runsOf } from "../support/runs.ts";
import { slow } from "../support/slow.ts";
import { recorderOf } from "../support/vectors.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const read = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const vectors: Record<string, Row[]> = read("test/vectors/editor-features.json");
const record = recorderOf("editor-features.json", vectors);

/** `|` is the cursor; what else a feature is asked is in `ask`. */
interface Row {
  readonly name: string;
  readonly text: readonly string[];
  readonly kind?: "config" | "query" | "template" | "ignore";
  readonly files?: readonly string[];
  readonly ask?: string;
  readonly expect: readonly string[];
}

const FORMAT = { tabSize: 2, insertSpaces: true };
const whole = (document: ToolDocument) => document.rangeOf({ start: 0, end: document.text.length });

/** The answer, or the sentence that it was refused with. */
function unlessRefused<T>(ask: () => T): T | Refusal {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The answer of each feature about a row, as lines that a person can read. */
const features: Record<string, (it: Fixture, row: Row) => readonly string[]> = {
  definition: ({ document, offset, project }) => marked(document, definition(document, offset, project)),
  references: ({ document, offset }) => marked(document, references(document, offset, { includeDeclaration: false })),
  highlight: ({ document, offset }) => {
    return documentHighlight(document, offset).map(({ range, kind }) => {
      const { line, character } = range.start;
      const text = document.text.slice(document.offsetAt(range.start), document.offsetAt(range.end));
      return `${line + 1}:${character + 1} ${text} ${kind === 3 ? "write" : "read"}`;
    });
  },
  linkedEditing: ({ document, offset }) => {
    const result = linkedEditing(document, offset);
    return result === undefined
      ? ["nothing"]
      : marked(
          document,
          result.ranges.map((range) => ({ uri: document.uri, range })),
        );
  },
  rename: ({ document, offset }, { ask }) => {
    const prepared = unlessRefused(() => prepareRename(document, offset));
    const renamed = unlessRefused(() => rename(document, offset, ask!));
    if (prepared === undefined || renamed === undefined) {
      return [prepared === undefined && renamed === undefined ? "nothing" : "prepare and rename disagree"];
    }
    if (renamed instanceof Refusal) return [`refused: ${renamed.message}`];
    if (prepared instanceof Refusal) return ["prepare refuses what rename does"];
    return applyLspEdits(document, renamed.changes![document.uri]!).split("\n");
  },
  symbols: ({ document }) => {
    const lines: string[] = [];
    const show = (symbols: readonly DocumentSymbol[], indent: string) => {
      for (const { name, detail, kind, tags, children = [] } of symbols) {
        const kindName = Object.keys(SymbolKind).find((key) => SymbolKind[key as "Key"] === kind)!;
        lines.push(`${indent}${name}${detail ? ` | ${detail}` : ""} (${kindName})${tags ? " off" : ""}`);
        show(children, `${indent}  `);
      }
    };
    show(documentSymbols(document), "");
    return lines;
  },
  workspaceSymbols: ({ document }, { ask }) => {
    return workspaceSymbols([document], ask!).map(({ name, containerName }) => `${containerName}: ${name}`);
  },
  links: ({ document, project }) => {
    return documentLinks(document, project).map(({ range, target }) => {
      const text = document.text.slice(document.offsetAt(range.start), document.offsetAt(range.end));
      return `${text} -> ${target}`;
    });
  },
  actions: ({ document, offset, project }, { ask }) => {
    const range = document.rangeOf({ start: offset, end: offset });
    const all = codeActions({
      document,
      project,
      range,
      context: { diagnostics: [] },
      createsFiles: true,
      runsTool: true,
    });
    if (ask === undefined) return all.map(({ title, kind }) => `${kind}: ${title}`);
    const action = all.find(({ title }) => title === ask);
    const created = action?.edit?.documentChanges?.map((change) => `create ${(change as { uri: string }).uri}`);
    return created ?? applyLspEdits(document, action!.edit!.changes![document.uri]!).split("\n");
  },
  command: ({ document }, { ask }) => {
    const [command, path] = ask!.split(" ");
    const args = [document.uri, ...(path === undefined ? [] : [path.split(".")])];
    const done = unlessRefused(() =>
      executeCommand(command!, args, (uri) => (uri === document.uri ? document : undefined)),
    );
    if (done instanceof Refusal) return [`refused: ${done.message}`];
    return applyLspEdits(document, done.edit.changes![document.uri]!).split("\n");
  },
  move: ({ document }, { ask }) => {
    const [name, stage] = ask!.split(" ");
    const move = unlessRefused(() => moveSecret({ uri: document.uri, name, stage }, () => document));
    if (move instanceof Refusal) return [`refused: ${move.message}`];
    const { edits, message } = move.after(document, "");
    return [
      `${move.title}, in ${move.folder}: ${move.words.join(" ")} < ${JSON.stringify(move.input)}`,
      message,
      ...applyEdits(document.text, edits).split("\n"),
    ];
  },
  lens: ({ document }) => {
    return codeLens(document).map(({ range, command }) => {
      const { uri: _uri, ...args } = command!.arguments?.[0] ?? {};
      const commandText = command!.command === "" ? "" : ` [${command!.command} ${JSON.stringify(args)}]`;
      return `${range.start.line + 1}: ${command!.title}${commandText}`;
    });
  },
  colors: ({ document }) => {
    return documentColors(document).map(({ range, color }) => {
      const part = (value: number) => Math.round(value * 255);
      const forms = colorPresentations(document, color, range).map(({ label }) => label);
      const { red, green, blue, alpha } = color;
      return `${range.start.line + 1}: ${part(red)} ${part(green)} ${part(blue)} ${alpha} = ${forms.join(" | ")}`;
    });
  },
  folding: ({ document }) => folding(document).map(({ startLine, endLine }) => `${startLine + 1}-${endLine + 1}`),
  selection: ({ document, offset }) => {
    const texts: string[] = [];
    for (let range: SelectionRange | undefined = selectionRanges(document, [offset])[0]; range; range = range.parent) {
      texts.push(document.text.slice(document.offsetAt(range.range.start), document.offsetAt(range.range.end)));
    }
    return texts;
  },
  format: ({ document }) => applyLspEdits(document, formatDocument(document, FORMAT)).split("\n"),
  formatOnType: ({ document, offset }, { ask }) => {
    return applyLspEdits(document, formatOnType(document, document.positionAt(offset), ask!, FORMAT)).split("\n");
  },
  hints: ({ document }) => {
    const edits = inlayHints(document, whole(document)).map(({ position, label }) => ({
      range: { start: position, end: position },
      newText: ` <${label as string}>`,
    }));
    return applyLspEdits(document, edits).split("\n");
  },
  tokens: ({ document }, { ask }) => {
    const range =
      ask === undefined
        ? undefined
        : { start: { line: Number(ask) - 1, character: 0 }, end: { line: Number(ask), character: 0 } };
    return decoded(semanticTokens(document, range).data).map(({ line, character, length, type }) => {
      const start = document.offsetAt({ line, character });
      return `${line + 1}:${character + 1} ${document.text.slice(start, start + length)} ${type}`;
    });
  },
  willRename: ({ document }, { ask }) => {
    const [from, to] = ask!.split(" -> ");
    const folder = "file:///work/app/";
    const edit = willRenameFiles([document], [{ oldUri: folder + from, newUri: new URL(to!, folder).href }]);
    return edit === undefined ? ["nothing"] : applyLspEdits(document, edit.changes![document.uri]!).split("\n");
  },
};

function decoded(data: readonly number[]) {
  const tokens: { line: number; character: number; length: number; type: string }[] = [];
  let [line, character] = [0, 0];
  for (let i = 0; i < data.length; i += 5) {
    const [lines, characters, length, type] = data.slice(i, i + 4) as [number, number, number, number];
    line += lines;
    character = lines === 0 ? character + characters : characters;
    tokens.push({ line, character, length, type: SEMANTIC_TOKENS_LEGEND.tokenTypes[type]! });
  }
  return tokens;
}

for (const [feature, rows] of Object.entries(vectors)) {
  t.test(feature, (t) => {
    for (const row of rows) {
      const it = fixture(row.text.join("\n"), { kind: row.kind ?? "config", files: row.files });
      const result = features[feature]!(it, row);
      record(row, { expect: result });
      t.same(result, row.expect, row.name);
    }
    t.end();
  });
}

const config: {
  check: { name: string; text: string[]; files?: Record<string, string | null>; problems: string[][] }[];
} = read("test/vectors/config.json");
const documentOf = (text: string, kind: ToolDocument["kind"] = "config") =>
  new ToolDocument({ uri: "file:///work/app/tool.json", version: 1, text, kind });

t.test("addresses of paths", (t) => {
  const document = "file:///work/app/tool.json";
  const uris: [string, string, string | undefined][] = [
    [document, "js/a b.js", "file:///work/app/js/a%20b.js"],
    [document, "./100%#?.js", "file:///work/app/100%25%23%3F.js"],
    [document, ".", "file:///work/app/"],
    ["untitled:Untitled-1", "a.js", undefined],
  ];
  for (const [uri, path, expected] of uris) t.equal(uriOfPath(uri, path), expected, `${path} beside ${uri}`);
  const paths: [string, string, string | undefined][] = [
    [document, "file:///work/app/js/a%20b.js", "js/a b.js"],
    [document, "file:///work/app/js/", "js"],
    [document, "file:///work/app", "."],
    [document, "file:///work/apple/a.js", undefined],
    [document, "file:///work/app/100%25.js", "100%.js"],
    ["file:///c%3A/app/tool.json", "file:///C:/app/a.js", "a.js"],
    [document, "vscode-remote://host/work/app/a.js", undefined],
    [document, "no address", undefined],
  ];
  for (const [uri, target, expected] of paths) t.equal(pathOfUri(uri, target), expected, `${target} from ${uri}`);
  t.end();
});

t.test("what follows a move, in the text as it is then", (t) => {
  const text = '{ "name": "app", "environment": { "API_KEY": "hunter2", "AA": "b" } }';
  const move = moveSecret({ uri: "file:///work/app/tool.json", name: "API_KEY" }, () => documentOf(text));
  const kept = "API_KEY is kept by tool env now, for all stages in the sandbox";
  const rows: [name: string, now: string | undefined, removes: boolean][] = [
    ["the same", text, true],
    ["changed elsewhere", text.replace("{", '{ "type": "static",'), true],
    ["another value", text.replace("hunter2", "hunter3"), false],
    ["removed", text.replace('"API_KEY": "hunter2", ', ""), false],
    ["with a slip", text.replace('"hunter2",', '"hunter2"'), false],
    ["closed", undefined, false],
  ];
  for (const [name, now, removes] of rows) {
    const { edits, message, unchanged } = move.after(
      now === undefined ? undefined : documentOf(now),
      " in the sandbox",
    );
    t.equal(edits.length > 0, removes, name);
    if (removes) t.equal(applyEdits(now!, edits), now!.replace('"API_KEY": "hunter2", ', ""), name);
    const rest = removes
      ? ", but the editor did not change tool.json: remove it there."
      : ", with the value that it had. tool.json was changed or closed meanwhile, so it is still there: move it again, or remove it.";
    t.equal(unchanged, `${kept}${rest}`, name);
    t.match(message, `${kept}, and no longer by tool.json.`);
    t.notMatch([message, unchanged, move.title, move.failed, ...move.words].join("\n"), "hunter");
  }
  t.end();
});

t.test("the fix of a secret is there only if the tool can be run on that very file", (t) => {
  const text = '{ "name": "app", "environment": { "API_KEY": "hunter2" } }';
  const rows: [uri: string, runsTool: boolean, titles: string[]][] = [
    ["file:///work/app/tool.json", true, ["Move API_KEY to tool env"]],
    ["file:///work/app/tool.json", false, []],
    ["file:///work/app/next.tool.json", true, []],
    ["vscode-vfs://github/app/tool.json", true, []],
  ];
  for (const [uri, runsTool, titles] of rows) {
    const document = new ToolDocument({ uri, version: 1, text, kind: "config" });
    const context = { diagnostics: [], only: ["quickfix"] };
    const actions = codeActions({
      document,
      project: {},
      range: whole(document),
      context,
      createsFiles: true,
      runsTool,
    });
    t.same(
      actions.map(({ title }) => title),
      titles,
      `${uri} ${runsTool}`,
    );
    if (titles.length > 0) {
      t.match(actions[0]!.command, {
        command: "tool.moveSecret",
        arguments: [{ uri, name: "API_KEY", stage: "all" }],
      });
      t.notOk(actions[0]!.isPreferred, "never without a question");
      t.notMatch(JSON.stringify(actions), "hunter2");
    }
  }
  t.end();
});

t.test("every quick fix removes its problem and adds none", (t) => {
  let count = 0;
  for (const { name, text, files } of config.check) {
    const source = text.join("\n");
    const document = documentOf(source);
    const project = files === undefined ? {} : projectOf(files);
    const options = files === undefined ? {} : { directory: projectOf(files).directory! };
    const before = checkConfig(source, options).problems;
    const context = { diagnostics: [], only: ["quickfix"] };
    const actions = codeActions({
      document,
      project,
      range: whole(document),
      context,
      createsFiles: true,
      runsTool: true,
    });
    const fixes = before.flatMap(fixesOf);
    const titles = (isPreferred: boolean) =>
      fixes.flatMap((fix) => ((fix.isSuggestion === true) !== isPreferred ? fix.title.toLowerCase() : []));
    const [preferred, others] = [true, false].map((is) =>
      actions.filter((action) => (action.isPreferred === true) === is).map(({ title }) => title.toLowerCase()),
    );
    t.same(preferred, titles(true), `${name}: every certain fix is preferred`);
    t.same(
      titles(false).filter((title) => !others!.includes(title)),
      [],
      `${name}: every suggestion is offered`,
    );
    for (const { title, edit, diagnostics } of actions) {
      if (edit?.changes === undefined) continue;
      count++;
      const fixed = applyLspEdits(document, edit.changes[document.uri]!);
      const left = before.map(({ code }) => code);
      const after = checkConfig(fixed, options).problems;
      for (const { code } of diagnostics!) {
        left.splice(left.indexOf(String(code)), 1);
        // The directory that this fix names is the user's to make, and the next warning says so.
        if (code === "config/static-root") left.push("config/missing-directory");
      }
      const added = after.filter(({ code }) => {
        const at = left.indexOf(code);
        if (at >= 0) left.splice(at, 1);
        return at < 0;
      });
      t.same(added, [], `${name}: ${title}`);
    }
  }
  t.ok(count > 50, `${count} fixes`);
  t.end();
});

t.test("all fixes at once leave fewer problems and add none", (t) => {
  for (const { name, text } of config.check) {
    const document = documentOf(text.join("\n"));
    const context = { diagnostics: [], only: ["source.fixAll"] };
    const [all] = codeActions({
      document,
      project: {},
      range: whole(document),
      context,
      createsFiles: true,
      runsTool: true,
    });
    if (all === undefined) continue;
    const before = checkConfig(document.text).problems;
    const after = checkConfig(applyLspEdits(document, all.edit!.changes![document.uri]!)).problems;
    t.ok(after.length < before.length, `${name}: ${before.length} -> ${after.length}`);
  }
  t.end();
});

const corpus = join(root, "../shared/corpus/older-dialect");
const real = existsSync(corpus)
  ? readdirSync(corpus)
      .filter((file) => file.endsWith(".json"))
      .map((file) => readFileSync(join(corpus, file), "utf8"))
  : [];
if (real.length === 0 && process.env.TOOL_TEST_REQUIRE === "all") t.fail(`no corpus at ${corpus}`);
const fixtures = Object.values(vectors).flatMap((rows) =>
  rows.map(({ text, kind = "config" }) => ({ text: text.join("\n").replaceAll("|", ""), kind })),
);
const texts = [
  ...fixtures,
  ...[...config.check.map(({ text }) => text.join("\n")), ...real]
    .filter((text) => text.length < 6000)
    .map((text) => ({ text, kind: "config" as const })),
];

/** Asks everything about a place, and says what is unsound about the answers. */
function askAll(document: ToolDocument, offset: number): void {
  const position = document.positionAt(offset);
  const at = { start: position, end: position };
  const project = projectOf({ "a.js": "" });
  const answers = [
    definition(document, offset, project),
    references(document, offset, { includeDeclaration: true }),
    documentHighlight(document, offset),
    linkedEditing(document, offset)?.ranges,
    unlessRefused(() => prepareRename(document, offset)),
    unlessRefused(() => rename(document, offset, "renamed")),
    codeActions({ document, project, range: at, context: { diagnostics: [] }, createsFiles: true, runsTool: true }),
    selectionRanges(document, [offset]),
    formatOnType(document, position, document.text[offset - 1] ?? "\n", FORMAT),
    formatRange(document, { start: document.positionAt(offset >> 1), end: position }, FORMAT),
  ];
  for (const range of rangesIn(answers)) inside(document, range);
}

function askWhole(document: ToolDocument): void {
  const answers = [
    documentSymbols(document),
    workspaceSymbols([document], ""),
    documentLinks(document),
    codeLens(document),
    documentColors(document),
    formatDocument(document, FORMAT),
    inlayHints(document, whole(document)),
    willRenameFiles([document], [{ oldUri: "file:///work/app/a", newUri: "file:///work/app/b" }]),
  ];
  for (const range of rangesIn(answers)) inside(document, range);
  for (const { startLine, endLine } of folding(document)) {
    if (startLine >= endLine || endLine > document.positionAt(document.text.length).line) throw new Error("folding");
  }
  let end = 0;
  for (const { line, character, length, type } of decoded(semanticTokens(document).data)) {
    const start = document.offsetAt({ line, character });
    if (start < end || length < 1 || document.positionAt(start + length).line !== line || type === undefined) {
      throw new Error(`a token at ${line}:${character}`);
    }
    end = start + length;
  }
  const contains = (symbol: DocumentSymbol) => {
    const start = document.offsetAt(symbol.range.start);
    const end = document.offsetAt(symbol.range.end);
    const from = document.offsetAt(symbol.selectionRange.start);
    const to = document.offsetAt(symbol.selectionRange.end);
    // Clients refuse the whole outline otherwise.
    if (from < start || to > end || symbol.name === "") throw new Error(`symbol ${symbol.name}`);
    for (const child of symbol.children ?? []) contains(child);
  };
  for (const symbol of documentSymbols(document)) contains(symbol);
}

type AnyRange = { start: { line: number; character: number }; end: { line: number; character: number } };

function rangesIn(value: unknown): AnyRange[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "start" in value && "end" in value ? [value as AnyRange] : [];
  return [...own, ...Object.values(value).flatMap(rangesIn)];
}

function inside(document: ToolDocument, range: AnyRange) {
  for (const position of [range.start, range.end]) {
    const there = document.positionAt(document.offsetAt(position));
    if (there.line !== position.line || there.character !== position.character) {
      throw new Error(`${JSON.stringify(position)} is outside of the text`);
    }
  }
  if (document.offsetAt(range.start) > document.offsetAt(range.end))
    throw new Error(`backwards: ${JSON.stringify(range)}`);
}

t.test("nothing throws at any place of a fixture, and ranges lie in the text", slow(), (t) => {
  for (const { text, kind } of fixtures) {
    const document = documentOf(text, kind);
    askWhole(document);
    for (let offset = 0; offset <= text.length; offset++) askAll(document, offset);
  }
  t.pass(`${fixtures.length} texts`);
  t.end();
});

t.test(
  "nothing throws in any real file, and ranges lie in the text",
  { skip: real.length === 0 && "no corpus" },
  (t) => {
    for (const text of real) {
      const document = documentOf(text);
      askWhole(document);
      // A prime, so that the places differ from file to file.
      for (let offset = 0; offset <= text.length; offset += 211) askAll(document, offset);
    }
    t.ok(real.length >= 44, `${real.length} files`);
    t.end();
  },
);

t.test("nothing throws in real and in damaged files, and ranges lie in the text", slow(), (t) => {
  const damage = fc.record({
    source: fc.constantFrom(...texts),
    at: fc.nat(),
    length: fc.nat(6),
    put: fc.constantFrom("", '"', "{", "}", "]", ",", ":", "x", "\\", "\n", "*", "\\u00e9"),
    cursor: fc.nat(),
  });
  const property = fc.property(damage, ({ source, at, length, put, cursor }) => {
    const from = at % (source.text.length + 1);
    const text = source.text.slice(0, from) + put + source.text.slice(from + length);
    const document = documentOf(text, source.kind);
    askWhole(document);
    askAll(document, cursor % (text.length + 1));
    askAll(document, Math.min(text.length, from + put.length));
  });
  holds(t, property, { seed: 4, numRuns: runsOf(150) });
  t.end();
});

/** A query's comments begin with a number sign. */
const commentsIn = (text: string, kind: string | undefined) =>
  text.match(kind === "query" ? /# x/g : /\/\/ x|\/\* x \*\//g)?.length ?? 0;

t.test("formatting is idempotent and keeps every value", (t) => {
  const damage = fc.record({
    source: fc.constantFrom(...texts),
    at: fc.nat(),
    put: fc.constantFrom("", "", "\n", "  ", "\r\n", "\t", "// x\n", "/* x */", "# x\n", '"', "}", ","),
    tabSize: fc.integer({ min: 1, max: 8 }),
    insertSpaces: fc.boolean(),
  });
  const property = fc.property(damage, ({ source, at, put, ...options }) => {
    const from = at % (source.text.length + 1);
    const document = documentOf(source.text.slice(0, from) + put + source.text.slice(from), source.kind);
    const once = applyLspEdits(document, formatDocument(document, options));
    const again = documentOf(once, source.kind);
    const value = ({ root: node }: ToolDocument) => node && JSON.stringify(plainValue(node));
    if (value(again) !== value(document)) throw new Error("another value");
    if (commentsIn(once, source.kind) !== commentsIn(document.text, source.kind))
      throw new Error("another number of comments");
    if (applyLspEdits(again, formatDocument(again, options)) !== once) throw new Error("a second time changes more");
  });
  holds(t, property, { seed: 5, numRuns: 1500 });
  t.end();
});

t.test("a delta makes the new tokens of the old ones", (t) => {
  const data = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 12 });
  const property = fc.property(data, data, (before, after) => {
    const { edits } = semanticTokensDelta(before, after);
    const result = [...before];
    for (const { start, deleteCount, data = [] } of edits) result.splice(start, deleteCount, ...data);
    if (result.join() !== after.join()) throw new Error(result.join());
    if (before.join() === after.join() && edits.length > 0) throw new Error("an edit for nothing");
  });
  holds(t, property, { seed: 7, numRuns: 1000 });
  t.end();
});

t.test("a rename adds no problem", (t) => {
  const places = texts.flatMap(({ text, kind }) => {
    const document = documentOf(text, kind);
    return Array.from(text, (_, offset) => ({ document, offset })).filter(({ offset }) =>
      unlessRefused(() => prepareRename(document, offset)),
    );
  });
  const names = ["renamed", "x", "a b", 'quo"te', "\u00e9", "", "splat", "production", "page", "ops", "constructor"];
  const inputs = fc.record({ place: fc.constantFrom(...places), name: fc.constantFrom(...names) });
  let done = 0;
  const property = fc.property(inputs, ({ place: { document, offset }, name }) => {
    const renamed = unlessRefused(() => rename(document, offset, name))!;
    if (renamed instanceof Refusal) return;
    done++;
    const left = checkConfig(document.text).problems.map(({ code }) => code);
    // A name that was wrong may be right now.
    for (const { code } of checkConfig(applyLspEdits(document, renamed.changes![document.uri]!)).problems) {
      const at = left.indexOf(code);
      if (at < 0) throw new Error(`${name} adds ${code}`);
      left.splice(at, 1);
    }
  });
  holds(t, property, { seed: 6, numRuns: 1500 });
  t.ok(done > 300, `${done} renames`);
  t.end();
});
