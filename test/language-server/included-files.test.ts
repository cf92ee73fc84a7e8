// Files that `logs.include` names, as they are on disk and in the editor, with the server's own view of both.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { systemClock } from "../../grammar/units/clock.ts";
import { directoryOf } from "../../language-server/node-directory.ts";
import { OpenDocuments } from "../../language-server/open-documents.ts";
import { definition } from "../../language-server/service/definition.ts";
import { diagnose, type Project, Refusal, type ToolDocument } from "../../language-server/service/index.ts";
import { references } from "../../language-server/service/references.ts";
import { rename } from "../../language-server/service/rename.ts";

type Folder = NonNullable<Parameters<Test["testdir"]>[0]>;

const OPS = { type: "email", email_addresses: ["ops@example.com"] };
const alert = (notify: string) => ({ query: "status >= 500", operator: ">", threshold: 1, notify });
const config = (logs: object) => JSON.stringify({ name: "app", logs: { include: ["ops/*.json"], ...logs } });

/** A project on disk. `at` opens a file with a text in the editor, and gives the place of a word in it. */
function projectOn(t: Test, files: Folder) {
  const folder = t.testdir(files);
  const documents = new OpenDocuments({ directoryOf, clock: systemClock });
  const uri = (path: string) => pathToFileURL(join(folder, path)).href;
  const open = (path: string, text: string, address = uri(path)) => {
    documents.open({ uri: address, languageId: "json", version: 1, text });
    return documents.find(address)!;
  };
  const at = (path: string, text: string, word: string) => {
    const { document, project } = open(path, text);
    return { document, project, offset: text.lastIndexOf(word) };
  };
  const close = (address: string) => documents.close(address);
  return { uri, open, at, close };
}

/** The first lines of what is reported. */
function messagesOf(document: ToolDocument, project: Project): (string | undefined)[] {
  const steps = diagnose(document, project, { syntax: true });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value.map(({ message }) => String(message).split("\n")[0]);
  }
}

t.test("the first line of a saved file that begins with a byte order mark", (t) => {
  const text = JSON.stringify({ logs: { alerts: { h: alert("ops") } } });
  const saved = projectOn(t, { ops: { "b.json": `\ufeff${text}` } });
  const place = {
    start: { line: 0, character: text.indexOf("ops") },
    end: { line: 0, character: text.indexOf("ops") + 3 },
  };
  const { document, offset, project } = saved.at("tool.json", config({ notifications: { ops: OPS } }), 'ops":');
  t.same(
    references(document, offset, { includeDeclaration: false }, project),
    [{ uri: saved.uri("ops/b.json"), range: place }],
    "of an included file",
  );
  t.same(rename(document, offset, "pager", project)!.changes![saved.uri("ops/b.json")], [
    { range: place, newText: "pager" },
  ]);

  const top = config({ notifications: { ops: OPS } });
  const from = projectOn(t, { "tool.json": `\ufeff${top}`, ops: {} }).at("ops/b.json", text, "ops");
  t.equal(
    definition(from.document, from.offset, from.project)[0]?.range.start.character,
    top.indexOf('ops":'),
    "of tool.json",
  );
  t.end();
});

t.test("a link that leads out of the project is reported, and what it names is not changed", (t) => {
  const elsewhere = JSON.stringify({ logs: { alerts: { h: alert("ops") } } });
  const folder = {
    "elsewhere.json": elsewhere,
    app: { ops: { "link.json": t.fixture("symlink", "../../elsewhere.json") } },
  };
  const { document, offset, project } = projectOn(t, folder).at(
    "app/tool.json",
    config({ notifications: { ops: OPS } }),
    'ops":',
  );
  t.same(messagesOf(document, project), ['the link "ops/link.json" leads out of the project directory']);
  t.same(Object.keys(rename(document, offset, "pager", project)!.changes!), [document.uri]);
  t.end();
});

t.test("no notification gets a name that one of another file has, from wherever it is renamed", (t) => {
  const top = config({ notifications: { ops: OPS }, alerts: { e: alert("ops") } });
  const part = JSON.stringify({
    logs: { notifications: { pager: OPS }, alerts: { f: alert("ops"), g: alert("pager") } },
  });
  const refusals: [path: string, word: string, name: string, refusal: string][] = [
    ["tool.json", 'ops":', "pager", '"ops/a.json" has a notification "pager" already'],
    ["tool.json", 'ops"', "pager", '"ops/a.json" has a notification "pager" already'],
    ["ops/a.json", 'ops"', "pager", '"ops/a.json" has a notification "pager" already'],
    ["ops/a.json", 'pager":', "ops", '"tool.json" has a notification "ops" already'],
  ];
  for (const [path, word, name, refusal] of refusals) {
    const saved = projectOn(t, { "tool.json": top, ops: { "a.json": part } });
    const { document, offset, project } = saved.at(path, path === "tool.json" ? top : part, word);
    t.throws(() => rename(document, offset, name, project), new Refusal(refusal), `${word} in ${path}`);
    t.ok(rename(document, offset, "night", project), `${word} in ${path} to a free name`);
  }
  const named = config({ notifications: { ops: OPS }, alerts: { e: alert("pager") } });
  const from = projectOn(t, { ops: { "a.json": part } }).at("tool.json", named, "pager");
  t.throws(
    () => rename(from.document, from.offset, "ops", from.project),
    new Refusal('"tool.json" has a notification "ops" already'),
    "from tool.json, for one of an included file",
  );
  t.end();
});

t.test("no query gets a name that one of another file has", (t) => {
  const top = config({ queries: { slow: "duration > 1s", errors: "status >= 500" } });
  const part = JSON.stringify({ logs: { queries: { missing: "status = 404" }, notifications: { pager: OPS } } });
  const saved = projectOn(t, { "tool.json": top, ops: { "a.json": part } });
  const refusals: [path: string, word: string, name: string, file: string][] = [
    ["tool.json", "slow", "missing", "ops/a.json"],
    ["ops/a.json", "missing", "slow", "tool.json"],
  ];
  for (const [path, word, name, file] of refusals) {
    const { document, offset, project } = saved.at(path, path === "tool.json" ? top : part, word);
    t.throws(
      () => rename(document, offset, name, project),
      new Refusal(`"${file}" has a query "${name}" already`),
      `${word} in ${path}`,
    );
    t.ok(rename(document, offset, "pager", project), "a notification may be called the same");
  }
  t.end();
});

t.test("an open file is found however the client encodes its address", (t) => {
  const top = config({ notifications: { ops: OPS } });
  const part = JSON.stringify({ logs: { alerts: { f: alert("ops") } } });
  const names: [name: string, encoded: string][] = [
    ["a (eu).json", "a%20%28eu%29.json"],
    ["it's!.json", "it%27s%21.json"],
    ["b-\u00fc.json", "b-\u00fc.json"],
    ["b-\u00fc.json", "b-%c3%bc.json"],
    ["a+b@c.json", "a+b@c.json"],
    ["plain.json", "plain.json"],
  ];
  for (const [name, encoded] of names) {
    const saved = projectOn(t, { "tool.json": top, ops: { [name]: part } });
    const address = saved.uri("ops/") + encoded;
    const opened = saved.open(`ops/${name}`, `\n\n${part}`, address);
    const { document, offset, project } = saved.at("tool.json", top, 'ops":');
    const named = references(document, offset, { includeDeclaration: false }, project);
    t.same(
      named.map(({ uri, range }) => [uri, range.start.line]),
      [[address, 2]],
      encoded,
    );
    t.same(Object.keys(rename(document, offset, "pager", project)!.changes!), [document.uri, address], encoded);
    const { changes } = rename(opened.document, opened.document.text.indexOf("ops"), "pager", opened.project)!;
    t.same(Object.keys(changes!), [address, document.uri], `from ${encoded}`);
    saved.close(address);
    const [now] = references(document, offset, { includeDeclaration: false }, project);
    t.equal(now?.range.start.line, 0, `${encoded} as it is saved, once it is closed`);
  }
  t.end();
});
