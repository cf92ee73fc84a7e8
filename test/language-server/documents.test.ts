// The statements of documents about files, settings and steps, held against what is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { DEFAULT_SETTINGS } from "../../language-server/service/index.ts";
import { root } from "../support/cli.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

t.test("test/vectors/README.md names the test of each file whose name is another", (t) => {
  const readme = read("test/vectors/README.md");
  const rows = [...readme.matchAll(/^\| (`[^|]+`) \| `((?:[\w-]+\.test|slow\/[\w-]+)\.ts)` \|$/gm)];
  const named = rows.flatMap(([, files, test]) =>
    [...files!.matchAll(/`([\w-]+)\.json`/g)].map(([, name]) => [name, test]),
  );
  const byName = new Map(named as [string, string][]);
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const pathOf = (test: string) => tests.find((path) => path === test || path.endsWith(`/${test}`));
  for (const file of readdirSync(join(root, "test/vectors")).filter((name) => name.endsWith(".json"))) {
    const name = file.replace(/\.json$/, "");
    if (name.startsWith("http-")) continue;
    const test = byName.get(name) ?? `${name}.test.ts`;
    t.ok(pathOf(test) !== undefined, `${file}: ${test} exists`);
    t.notOk(byName.has(name) && pathOf(`${name}.test.ts`) !== undefined, `${file} needs no row`);
  }
  for (const [name, test] of byName) {
    t.match(read(`test/${pathOf(test)}`), new RegExp(`${name}(\\.json)?"`), `${test} reads ${name}.json`);
  }
  t.end();
});

t.test("vscode-extension/DEVELOPMENT.md names every file", (t) => {
  const text = read("vscode-extension/DEVELOPMENT.md");
  for (const file of readdirSync(join(root, "vscode-extension")).filter((name) => name.endsWith(".ts"))) {
    t.ok(text.includes(`\`${file}\``) || text.includes(`\`${file.replace(/\.ts$/, "")}\``), file);
  }
  for (const [, file] of text.matchAll(/`([\w-]+\.ts)`/g))
    t.ok(existsSync(join(root, "vscode-extension", file!)), file!);
  t.end();
});

t.test("EDITORS.md names every setting and every language", (t) => {
  const text = read("language-server/EDITORS.md");
  const others: Readonly<Record<string, string>> = {
    severity: "tool.diagnostics.severity",
    traffic: "tool.traffic.source",
  };
  for (const name of Object.keys(DEFAULT_SETTINGS)) t.match(text, `\`${others[name] ?? `tool.${name}.enabled`}\``);
  const sections = text.split(/^## /m).slice(2);
  t.ok(sections.length >= 7, "VS Code, Neovim, Emacs, Vim, Helix, Sublime Text and Kate");
  for (const section of sections) {
    const [title = "", ...lines] = section.split("\n");
    const body = lines.join("\n");
    // The extension brings its own, and plain text is known by its name.
    if (/^VS Code|^Sublime/.test(title)) continue;
    for (const word of [/json/, /logq|toolquery/, /toolignore/, /html/]) t.match(body, word, `${title}: ${word}`);
  }
  // Code blocks of JSON, Lua and the like are closed.
  for (const [, code] of text.matchAll(/```json\n([\s\S]*?)```/g)) t.doesNotThrow(() => JSON.parse(code!), code!);
  t.end();
});
