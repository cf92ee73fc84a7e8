// The VS Code extension, as far as no editor is needed: its manifest against its code, what it reads of the command's
// output, the bundled server, and its parts that know nothing of the editor. test/clients drives it in a real one.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { applyEdits } from "jsonc-parser";
import t from "tap";
import { readArgv } from "../../cli/argv.ts";
import { describeTable } from "../../cli/table.ts";
import { CLIENT_COMMANDS, codeLens } from "../../language-server/service/code-lens.ts";
import { SERVER_COMMANDS } from "../../language-server/service/execute-command.ts";
import { ToolDocument } from "../../language-server/service/index.ts";
import { SEMANTIC_TOKENS_LEGEND } from "../../language-server/service/semantic-tokens.ts";
import { DEFAULT_SETTINGS, readSettings } from "../../language-server/service/settings.ts";
import schema from "../../schema/tool.schema.json" with { type: "json" };
import { appName } from "../../vscode-extension/app-name.ts";
import { COMMANDS, WEB_COMMANDS } from "../../vscode-extension/commands.ts";
import { configName, hooksOf, remoteStagesOf } from "../../vscode-extension/config-text.ts";
import { documentSelector } from "../../vscode-extension/document-selector.ts";
import { findProgram } from "../../vscode-extension/find-program.ts";
import { type FollowedView, followsEnd } from "../../vscode-extension/follow-end.ts";
import { logHeading, logTitle } from "../../vscode-extension/log-heading.ts";
import { LogLines } from "../../vscode-extension/log-lines.ts";
import { nearestFolder } from "../../vscode-extension/nearest-folder.ts";
import {
  applySuggestion,
  type QueryDiagnostic,
  queryProblem,
  type Suggestion,
  savedSuggestions,
} from "../../vscode-extension/query-suggestions.ts";
import {
  includesFiles,
  savedNameProblem,
  savedQueries,
  savedQueryEdits,
} from "../../vscode-extension/saved-queries.ts";
import { type ToolTask, taskName, taskWords } from "../../vscode-extension/task-words.ts";
import { problemsByFile } from "../../vscode-extension/validation-report.ts";
import { cleanEnv, cliPath, root, tool } from "../support/cli.ts";
import { startServerThread } from "../support/server-thread.ts";

const folder = join(root, "vscode-extension");
// biome-ignore lint/suspicious/noExplicitAny: the manifest is what it is
const readJson = (path: string): any => JSON.parse(readFileSync(path, "utf8"));
const manifest = readJson(join(folder, "package.json"));
const { contributes } = manifest;
const sources = readdirSync(folder)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join(folder, name), "utf8"))
  .join("\n");

function directory(t: Pick<typeof import("tap").t, "teardown">, files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), "tool-extension-"));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

t.test("the manifest", (t) => {
  t.test("contributes the commands that are carried out, and no others", (t) => {
    const contributed = contributes.commands.map(({ command }: { command: string }) => command);
    t.same([...contributed].sort(), [...COMMANDS, ...SERVER_COMMANDS].sort());
    for (const { command, title, category } of contributes.commands) {
      t.match(title, /^[A-Z][A-Za-z. ]+$/, command);
      t.equal(category, "Tool", command);
    }
    t.end();
  });

  t.test("has every command that a lens calls", (t) => {
    const document = new ToolDocument({
      uri: "file:///app/tool.json",
      version: 1,
      text: JSON.stringify({
        name: "app",
        hooks: { build: "make", clean: ["rm x"] },
        stages: { development: {}, production: { hooks: { build: "make all" } } },
        logs: { queries: { slow: "duration > 1s" } },
      }),
      kind: "config",
    });
    const called = new Set(codeLens(document).map(({ command }) => command!.command));
    t.same([...called].sort(), Object.values(CLIENT_COMMANDS).sort(), "the document shows all of them");
    for (const command of called) t.ok((COMMANDS as readonly string[]).includes(command), command);
    t.end();
  });

  t.test("names commands that exist: menus, keys, welcome, walkthrough", (t) => {
    const commandNames = new Set(contributes.commands.map(({ command }: { command: string }) => command));
    const menus = Object.values(contributes.menus).flat() as { command: string }[];
    const links = JSON.stringify([contributes.viewsWelcome, contributes.walkthroughs]).matchAll(/\(command:([\w.]+)/g);
    const named = [
      ...[...menus, ...contributes.keybindings].map(({ command }) => command),
      ...[...links].map((match) => match[1]!),
    ];
    t.ok(named.length > 15, `${named.length} are named`);
    for (const command of named) t.ok(commandNames.has(command) || command.startsWith("workbench."), command);
    t.end();
  });

  t.test("names files that the package has", (t) => {
    const { steps } = contributes.walkthroughs[0];
    const paths: string[] = [
      manifest.main,
      manifest.browser,
      manifest.icon,
      "CHANGELOG.md",
      ...contributes.languages.map((one: { configuration?: string }) => one.configuration).filter(Boolean),
      ...contributes.grammars.map(({ path }: { path: string }) => path),
      ...contributes.views.explorer.map(({ icon }: { icon: string }) => icon),
      ...steps.map(({ media }: { media: { markdown: string } }) => media.markdown),
    ].map((path) => path.replace(/^\.\//, ""));
    for (const path of paths) {
      t.ok(existsSync(join(folder, path)), `${path} exists`);
      t.ok(
        manifest.files.some((entry: string) => path === entry || path.startsWith(`${entry}/`)),
        `${path} is packed`,
      );
    }
    for (const entry of manifest.files) t.ok(existsSync(join(folder, entry)), `${entry} exists`);
    t.end();
  });

  t.test("has the scopes and languages of its grammars", (t) => {
    const languages = new Set(contributes.languages.map(({ id }: { id: string }) => id));
    for (const { language, scopeName, path } of contributes.grammars) {
      t.ok(languages.has(language), language);
      t.equal(readJson(join(folder, path)).scopeName, scopeName, path);
    }
    for (const { language, scopes } of contributes.semanticTokenScopes) {
      for (const type of Object.keys(scopes))
        t.ok(SEMANTIC_TOKENS_LEGEND.tokenTypes.includes(type), `${language} ${type}`);
    }
    for (const { configuration } of contributes.languages.filter(
      (one: { configuration?: string }) => one.configuration,
    )) {
      const { wordPattern } = readJson(join(folder, configuration));
      if (wordPattern) t.same("a.b >= 5".match(new RegExp(wordPattern, "g")), ["a.b", "5"], configuration);
    }
    t.end();
  });

  t.test("asks for contexts that are set", (t) => {
    const ids = new Set([...COMMANDS, ...SERVER_COMMANDS, "tool.start", "tool.path", "tool.json"] as string[]);
    const clauses = [
      ...(JSON.stringify(contributes).match(/"(?:when|enablement)":"[^"]*"/g) ?? []),
      ...(JSON.stringify(contributes).match(/onContext:[^"]*/g) ?? []),
    ].join("\n");
    const contextKeys = new Set(
      [...clauses.matchAll(/\btool\.[a-z]\w+/gi)].map(([name]) => name).filter((one) => !ids.has(one)),
    );
    const set = new Set([...sources.matchAll(/"setContext", "([\w.]+)"/g)].map((match) => match[1]!));
    t.same([...contextKeys].sort(), [...set].sort());
    t.end();
  });

  t.test("starts no process without trust", (t) => {
    const starting = [
      "tool.start",
      "tool.deploy",
      "tool.open",
      "tool.logs",
      "tool.run",
      "tool.validate",
      "tool.changeQuery",
    ];
    for (const { command, enablement = "" } of contributes.commands) {
      t.equal(/\bisWorkspaceTrusted\b/.test(enablement), starting.includes(command), command);
    }
    t.equal(contributes.configuration.properties["tool.path"].scope, "machine");
    t.same(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations, ["tool.path"]);
    t.end();
  });

  t.test("offers in a browser, and without a disk, only what starts no process", (t) => {
    const elsewhere = "workspacePlatform != webworker && !virtualWorkspace";
    const onWeb: readonly string[] = [...WEB_COMMANDS, ...SERVER_COMMANDS];
    for (const { command, enablement = "" } of contributes.commands) {
      t.equal(enablement.includes(elsewhere), !onWeb.includes(command), command);
    }
    for (const { when } of contributes.views.explorer) t.match(when, elsewhere);
    t.end();
  });

  t.test("has every setting that the server reads", (t) => {
    const { properties } = contributes.configuration;
    const { severity, traffic, ...switches } = DEFAULT_SETTINGS;
    for (const [name, isOn] of Object.entries(switches)) {
      t.match(properties[`tool.${name}.enabled`], { type: "boolean", default: isOn }, name);
    }
    const source = properties["tool.traffic.source"] as unknown as { enum: string[]; default: string };
    t.ok(source.enum.includes(traffic));
    t.equal(source.default, "service", "only an editor that knows trust asks by default");
    for (const name of source.enum) t.equal(readSettings({ traffic: { source: name } }).traffic, name);
    const setting = properties["tool.diagnostics.severity"]!;
    t.match(setting, { type: "object", default: severity });
    const { enum: names } = (setting as unknown as { additionalProperties: { enum: string[] } }).additionalProperties;
    const read = (value: string) => readSettings({ diagnostics: { severity: { "config/secret": value } } }).severity;
    for (const name of names) t.same(read(name), { "config/secret": name }, name);
    t.same(read("loud"), {}, "no other is read");
    t.end();
  });

  t.test("is of the version of the project, and of the editor whose types it is checked with", (t) => {
    const project = readJson(join(root, "package.json"));
    t.equal(manifest.version, project.version);
    t.equal(manifest.license, project.license, "whose text is packed");
    t.match(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), `\n## ${manifest.version}\n`, "its changes are listed");
    t.equal(manifest.engines.vscode, "^1.91.0");
    t.equal(project.devDependencies["@types/vscode"], "~1.91.0");
    t.equal(manifest.dependencies, undefined, "all is bundled");
    t.end();
  });

  t.test("is packed to be published: with the addresses of the repository, if one is given", async (t) => {
    const { packedManifest } = await import(pathToFileURL(join(root, "cli/build/extension-manifest.mjs")).href);
    t.equal(manifest.private, true, "nobody publishes the folder itself");
    const { private: _, type, ...rest } = manifest;
    const packed = { ...rest, files: [...rest.files, "LICENSE.txt"] };
    t.same(packedManifest(manifest, undefined), packed);
    t.same(packedManifest(manifest, "https://git.example.com/team/tool"), {
      ...packed,
      homepage: "https://git.example.com/team/tool",
      repository: { type: "git", url: "https://git.example.com/team/tool.git", directory: "vscode-extension" },
      bugs: { url: "https://git.example.com/team/tool/issues" },
    });
    // The gallery refuses a package without these.
    for (const member of ["name", "displayName", "publisher", "version", "description", "icon", "categories"])
      t.ok(packed[member]?.length > 0, member);
  });

  t.test("describes tasks as they are read", (t) => {
    const { properties } = contributes.taskDefinitions[0];
    t.same(properties.hook.enum, Object.keys(schema.definitions.hooks.properties), "the hooks of the schema");
    t.same(
      hooksOf(JSON.stringify({ hooks: Object.fromEntries(properties.hook.enum.map((name: string) => [name, "x"])) })),
      properties.hook.enum,
    );
    t.same(
      properties.command.enum.map((command: string) => taskWords({ command, hook: "build" } as ToolTask)?.[0]),
      ["start", "validate", "run", "deploy", "url"],
    );
    t.end();
  });

  t.test("tells the language of a logs document by its first line", (t) => {
    const { firstLine } = contributes.languages.find(({ id }: { id: string }) => id === "toollog");
    for (const query of ["", "status >= 500", "@slow path = /a:b"]) {
      for (const state of [
        { maxLines: 2000, dropped: 0, isLive: true },
        { maxLines: 2000, dropped: 12345, isLive: false },
      ]) {
        t.match(logHeading("app", query, state), new RegExp(firstLine));
      }
    }
    t.notMatch("Logs of the ship: Monday (a diary)", new RegExp(firstLine));
    t.end();
  });
  t.end();
});

t.test("the problem matcher reads what tool validate prints", async (t) => {
  const cwd = directory(t, {
    "api/tool.json":
      '{\n  "name": "x y",\n  "headerz": {},\n  "redirects": {"/a/:b": {"location": "/:c", "status": 300}},\n  "type": "statik"\n}\n',
    "site/tool.json": '{ "name": "site", }\n',
    "tool.json": '{ "name": "fine", "redirects": { "/a": { "location": "/b", "status": 301 } } }\n',
  });
  const [{ pattern }] = contributes.problemMatchers;
  const files = ["api/tool.json", "site/tool.json", "tool.json"];
  const document = JSON.parse((await tool(["validate", "--format", "json", ...files], { cwd })).stdout);
  const expected = document.files.flatMap(({ file, problems }: { file: string; problems: Problem[] }) =>
    problems.map(({ line, column, severity, code }) => ({ file, line, column, severity, code })),
  );
  t.ok(expected.length >= 6, `${expected.length} problems`);
  // As a terminal shows them: the editor reads its lines without colours.
  for (const env of [{}, { FORCE_COLOR: "1" }]) {
    const { stdout } = await tool(["validate", ...files], { cwd, env });
    const plain = stdout.replace(/\u001b\[[\d;]*m/g, "");
    t.equal(plain === stdout, !("FORCE_COLOR" in env), "colours");
    const read = plain.split(/\r?\n/).flatMap((line) => {
      const match = new RegExp(pattern.regexp).exec(line);
      if (match === null) return [];
      t.not(match[pattern.message], "", line);
      return {
        file: match[pattern.file],
        line: Number(match[pattern.line]),
        column: Number(match[pattern.column]),
        severity: match[pattern.severity],
        code: match[pattern.code],
      };
    });
    t.same(read, expected);
  }
});

t.test("Validate Workspace reads the report of tool validate", async (t) => {
  const wrong = '{ "name": "app", "nope": 1, "error_pages": { "dir": "errors" } }';
  const cwd = directory(t, {
    "one/tool.json": wrong,
    "one/errors/404.html": "<p>\n{{ nope }}",
    "two/tool.json": '{ "name": "two", "memroy": 1 }',
    "fine/tool.json": '{ "name": "fine" }',
  });
  const unknownKey = "config/unknown-key 1:18-1:24";
  for (const [files, expected] of [
    [["fine/tool.json"], { "fine/tool.json": [] }],
    [["two/tool.json"], { "two/tool.json": [unknownKey.replace("24", "26")] }],
    [
      ["fine/tool.json", "one/tool.json", "two/tool.json"],
      {
        "fine/tool.json": [],
        "one/tool.json": [unknownKey],
        "one/errors/404.html": ["template/unknown-function 2:4-2:8"],
        "two/tool.json": [unknownKey.replace("24", "26")],
      },
    ],
  ] as const) {
    const { stdout } = await tool(["validate", "--format", "json", "--", ...files], { cwd });
    const actual = [...problemsByFile(stdout)].map(([file, problems]) => [
      file,
      problems.map((one) => `${one.code} ${one.line}:${one.column}-${one.endLine}:${one.endColumn}`),
    ]);
    t.same(Object.fromEntries(actual), expected, files.join(" "));
  }
});

interface Problem {
  readonly line: number;
  readonly column: number;
  readonly severity: string;
  readonly code: string;
}

t.test("the start task is ready when tool start says where the app is", async (t) => {
  const cwd = directory(t, { "tool.json": '{ "name": "site", "type": "static" }', "index.html": "hello" });
  const [, { pattern, background }] = contributes.problemMatchers;
  const child = spawn(process.execPath, [cliPath, "start", "--address", "127.0.0.1:0"], {
    cwd,
    env: cleanEnv({ FORCE_COLOR: "1" }),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const lines = linesOf(child);
  const message = new Promise<{ type: string; url: string }>((resolve) => child.once("message", resolve as never));
  const { type, url } = await message;
  t.equal(type, "listening");
  t.equal(await (await fetch(url)).text(), "hello", "the address of the message is the app's");
  t.ok(await lines.until(new RegExp(background.endsPattern)), "the task is ready");
  writeFileSync(join(cwd, "tool.json"), '{ "name": "site", "type": "static", "description": "changed" }');
  t.ok(await lines.until(/^tool\.json reloaded/), "a change is told");
  t.match(lines.last(), new RegExp(background.endsPattern));
  for (const line of ["", lines.last(), 'tool.json:2:11: error: "x y" is not a valid app name [config/name]']) {
    t.notMatch(line, new RegExp(pattern.regexp), "its problems are the language server's to tell");
  }
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  t.equal(await exited, 0, "Stop ends it well");
});

t.test("what an editor started ends where it ends by force: nothing is said, the channel closes", async (t) => {
  const cwd = directory(t, { "tool.json": '{ "name": "site", "type": "static" }' });
  const start = (words: readonly string[], stdout: "ignore" | "pipe") => {
    const child = spawn(process.execPath, [cliPath, ...words], {
      cwd,
      env: cleanEnv(),
      stdio: ["ignore", stdout, stdout, "ipc"],
    });
    t.teardown(() => child.kill("SIGKILL"));
    return { child, exited: new Promise((resolve) => child.once("exit", resolve)) };
  };
  const app = start(["start", "--address", "127.0.0.1:0"], "ignore");
  const { url } = await new Promise<{ url: string }>((resolve) => app.child.once("message", resolve as never));
  app.child.disconnect();
  t.equal(await app.exited, 0, "an app that writes nothing");
  await t.rejects(fetch(url), "nobody listens any more");

  const logs = start(["logs", "--follow", "status = 1"], "pipe");
  await once(logs.child.stderr!, "data");
  logs.child.disconnect();
  t.equal(await logs.exited, 0, "a log in which nothing is found");
});

function linesOf(child: ChildProcess) {
  const lines: string[] = [];
  let wake = () => {};
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    lines.push(...text.split("\n").filter((line) => line !== ""));
    wake();
  });
  let at = 0;
  return {
    last: () => lines[at - 1]!,
    async until(pattern: RegExp): Promise<boolean> {
      for (;;) {
        while (at < lines.length) if (pattern.test(lines[at++]!)) return true;
        if (child.exitCode !== null) return false;
        await new Promise<void>((resolve) => {
          wake = resolve;
          child.once("exit", () => resolve());
        });
      }
    },
  };
}

t.test("the server in a thread", async (t) => {
  const cwd = directory(t, {
    "tool.json": '{ "name": "app", "stages": { "beta": {} }, "logs": { "queries": { "slow": "duration > 1s" } } }',
  });
  const uri = `file://${cwd}/.tool/query.logq`;
  const initialize = { processId: process.pid, rootUri: null, capabilities: { textDocument: { diagnostic: {} } } };

  t.test("answers, and ends when it is told to", async (t) => {
    const server = startServerThread();
    const { serverInfo } = await server.request<{ serverInfo: object }>("initialize", initialize);
    t.same(serverInfo, { name: "tool", version: "1.2.3" });
    await server.request("shutdown", {});
    server.notify("exit", {});
    t.equal(await server.exited, 0);
  });

  t.test("ends with its client", async (t) => {
    const server = startServerThread();
    await server.request("initialize", initialize);
    server.hangUp();
    t.equal(await server.exited, 0);
  });

  // The keys typed into the query box, a letter or a word at a time, and `>`: the first suggestion taken.
  const rows: [typed: readonly string[], query: string][] = [
    [["statu", ">"], "status "],
    [["statu", ">", ">= 50", ">"], "status >= 500 "],
    [["status >= 500 an", ">", "dur", ">", "> 5", ">"], "status >= 500 and duration > 5ms "],
    [["stage = be", ">"], "stage = beta "],
    [["erro", ">"], "error "],
    [["method i", ">", "(GE", ">"], "method in (GET "],
  ];
  t.test("completes what is typed into the query box", async (t) => {
    const server = startServerThread();
    await server.request("initialize", initialize);
    server.notify("initialized", {});
    let version = 0;
    server.notify("textDocument/didOpen", { textDocument: { uri, languageId: "toolquery", version, text: "" } });
    for (const [typed, expected] of rows) {
      let query = "";
      for (const one of typed) {
        if (one !== ">") {
          query += one;
          continue;
        }
        server.notify("textDocument/didChange", {
          textDocument: { uri, version: ++version },
          contentChanges: [{ text: query }],
        });
        const position = { line: 0, character: query.length };
        const answer = await server.request<{ items: Suggestion[] } | Suggestion[]>("textDocument/completion", {
          textDocument: { uri },
          position,
        });
        const [first] = "items" in answer ? answer.items : answer;
        t.ok(first, `there is something for ${query}`);
        query = applySuggestion(query, first!);
      }
      t.equal(query, expected, typed.join(" "));
    }
    server.hangUp();
    await server.exited;
  });

  const problems: [query: string, message: string, remedy: string, fixed: string | undefined][] = [
    ["status => 5", '"=>" is not an operator', "write >=", "status >= 5"],
    ["status >= ", 'nothing follows ">="', "write what to compare with, such as status >= 200", "status >= 200 "],
  ];
  t.test("says what is wrong with a query, and what to do", async (t) => {
    const server = startServerThread();
    await server.request("initialize", initialize);
    server.notify("initialized", {});
    for (const [query, message, remedy, fixed] of problems) {
      server.notify("textDocument/didOpen", {
        textDocument: { uri, languageId: "toolquery", version: 1, text: query },
      });
      const { items } = await server.request<{ items: QueryDiagnostic[] }>("textDocument/diagnostic", {
        textDocument: { uri },
      });
      t.same(queryProblem(query, items, []), { message, remedy, fixed }, query);
      server.notify("textDocument/didClose", { textDocument: { uri } });
    }
    server.hangUp();
    await server.exited;
  });
});

t.test("a query box", (t) => {
  const saved = [
    { name: "slow", query: "duration > 1s", offset: 0 },
    { name: "slim", query: "size < 1kb", offset: 0 },
  ];
  const unknown: [query: string, problem: string | undefined][] = [
    ["@slow status = 500", undefined],
    ["@slow @slim ", undefined],
    ["@fast ", 'tool.json has no saved query "fast"'],
    ["@slow @fast status = 1", 'tool.json has no saved query "fast"'],
    ["@fas", undefined],
    ["@timestamp = 5", undefined],
    ["status = @fast ", undefined],
  ];
  for (const [query, problem] of unknown) t.equal(queryProblem(query, [], saved)?.message, problem, query);
  t.equal(queryProblem("@errors level", [], saved, true), undefined, "an included file may have it");
  for (const [include, isMore] of [
    ["", false],
    ['"include": []', false],
    ['"include": ["ops/*.json"]', true],
  ] as const)
    t.equal(includesFiles(`{ "logs": { ${include} } }`), isMore, include);

  const suggested: [query: string, suggestions: readonly string[]][] = [
    ["@", ["@slow ", "@slim "]],
    ["@slo", ["@slow "]],
    ["@slow @", ["@slow @slow ", "@slow @slim "]],
    ["@slow", ["@slow "]],
    ["error @s", []],
    ["slow", []],
  ];
  for (const [query, suggestions] of suggested) {
    t.same(
      savedSuggestions(query, saved).map((one) => applySuggestion(query, one)),
      suggestions,
      query,
    );
  }
  t.end();
});

t.test("Create tool.json replaces none that a file system cannot show just now", async (t) => {
  const { outputFiles } = await build({
    entryPoints: [join(folder, "create-configuration.ts")],
    ...{ bundle: true, write: false, format: "cjs", platform: "node", external: ["vscode"] },
  });
  class FileSystemError extends Error {
    readonly code: string;
    constructor(code: string) {
      super(code);
      this.code = code;
    }
  }
  for (const [code, writes] of [
    ["FileNotFound", 1],
    ["Unavailable", 0],
    ["NoPermissions", 0],
  ] as const) {
    let written = 0;
    const fs = { stat: () => Promise.reject(new FileSystemError(code)), writeFile: async () => void written++ };
    const vscode = {
      FileSystemError,
      Uri: { joinPath: (uri: string, name: string) => `${uri}/${name}` },
      window: { showTextDocument: async () => {} },
      workspace: { workspaceFolders: [{ name: "shop", uri: "vscode-vfs://github/a/shop" }], fs },
    };
    const module = { exports: {} as { createConfiguration(): Promise<void> } };
    new Function("require", "module", outputFiles[0]!.text)(() => vscode, module);
    const created = module.exports.createConfiguration();
    await (writes === 1 ? created : t.rejects(created, { code }));
    t.equal(written, writes, code);
  }
});

t.test("an app is called as tool.json says", (t) => {
  const rows: [text: string, name: string | undefined][] = [
    ['{ "name": "orders" }', "orders"],
    ['{ "actions": [{ "name": "ops" }], "stages": { "name": { "name": "x" } }, "name": "orders" }', "orders"],
    ['{ "type": "server", "name": "orders", "func', "orders"],
    ['{ "actions": [{ "name": "ops" }] }', undefined],
    ['{ "name": 5 }', undefined],
    ['{ "name": " " }', undefined],
    ["", undefined],
  ];
  for (const [text, name] of rows) t.equal(configName(text), name, text);
  t.end();
});

t.test("saved queries", (t) => {
  const names: [text: string, names: readonly string[]][] = [
    ['{"logs": {"queries": {"a": "x = 1", "b": 5, "c": "y"}}}', ["a", "c"]],
    ['{"logs": {"queries": {"a": "x = 1",', ["a"]],
    ['{"logs": {"queries": []}}', []],
    ["{}", []],
    ["", []],
  ];
  for (const [text, expected] of names) {
    t.same(
      savedQueries(text).map(({ name }) => name),
      expected,
      text,
    );
  }
  t.equal(savedQueries('{"logs": {"queries": {"a": "x"}}}')[0]!.offset, 22, "where the name stands");

  const edits: [text: string, after: string | undefined][] = [
    [
      '{\n  "name": "a"\n}\n',
      '{\n  "name": "a",\n  "logs": {\n    "queries": {\n      "q": "x = \\"1\\""\n    }\n  }\n}\n',
    ],
    [
      '{\n\t"logs": {\n\t\t"queries": {\n\t\t\t"a": "b"\n\t\t}\n\t}\n}\n',
      '{\n\t"logs": {\n\t\t"queries": {\n\t\t\t"a": "b",\n\t\t\t"q": "x = \\"1\\""\n\t\t}\n\t}\n}\n',
    ],
    ['{ "logs": { "queries": { "q": "old" } } }', '{ "logs": { "queries": { "q": "x = \\"1\\"" } } }'],
    ['{ "name": "a", ', undefined],
    ["[]", undefined],
  ];
  for (const [text, after] of edits) {
    const made = savedQueryEdits(text, "q", 'x = "1"');
    t.equal(made && applyEdits(text, made), after, text);
  }

  const wrong: [name: string, isWrong: boolean][] = [
    ["slow", false],
    ["5xx-by.day", false],
    ["", true],
    ["a b", true],
    ["@a", true],
    ["a=b", true],
  ];
  for (const [name, isWrong] of wrong) t.equal(savedNameProblem(name) !== undefined, isWrong, name);
  t.end();
});

t.test("the stages that can be deployed", (t) => {
  const rows: [text: string, stages: string[]][] = [
    ['{ "name": "a" }', ["staging", "production"]],
    ['{ "stages": { "development": {}, "beta": {}, "production": {} } }', ["staging", "production", "beta"]],
    ['{ "stages": { "beta": {}, // half written', ["staging", "production", "beta"]],
    ['{ "stages": [1] }', ["staging", "production"]],
    ["", ["staging", "production"]],
  ];
  for (const [text, stages] of rows) t.same(remoteStagesOf(text), stages, text);
  t.end();
});

t.test("the words of tasks are words of the command", (t) => {
  const rows: [task: ToolTask, name: string, words: readonly string[] | undefined][] = [
    [{ command: "start" }, "start", ["start"]],
    [
      { command: "start", folder: "api", args: ["--address", ":8080"] },
      "start api",
      ["-C", "api", "start", "--address", ":8080"],
    ],
    [{ command: "validate" }, "validate", ["validate"]],
    [
      { command: "validate", folder: "apps/api", args: ["--strict"] },
      "validate apps/api",
      ["validate", "--strict", "--", "apps/api/tool.json"],
    ],
    [
      { command: "validate", args: ["--", "tool.json", "-x.tool.json"] },
      "validate",
      ["validate", "--", "tool.json", "-x.tool.json"],
    ],
    [{ command: "run", hook: "build" }, "run build", ["run", "--", "build"]],
    [
      { command: "run", hook: "build", stage: "production", folder: "." },
      "run build for production",
      ["run", "--stage", "production", "--", "build"],
    ],
    [{ command: "run" }, "run", ["run"]],
    [{ command: "deploy" }, "deploy", ["deploy"]],
    [
      { command: "deploy", stage: "production", folder: "api" },
      "deploy api production",
      ["-C", "api", "deploy", "--", "production"],
    ],
    [{ command: "deploy", args: ["--sandbox"] }, "deploy in the sandbox", ["deploy", "--sandbox"]],
    [
      { command: "deploy", stage: "beta", folder: "api", args: ["--sandbox"] },
      "deploy api beta in the sandbox",
      ["-C", "api", "deploy", "--sandbox", "--", "beta"],
    ],
    [
      { command: "url", stage: "beta", args: ["--open", "--sandbox"] },
      "url for beta in the sandbox",
      ["url", "--stage", "beta", "--open", "--sandbox"],
    ],
    [{ command: "url", stage: "beta", args: ["--open"] }, "url for beta", ["url", "--stage", "beta", "--open"]],
    [{ command: "destroy" as "run" }, "destroy", undefined],
  ];
  const commands = describeTable();
  for (const [task, name, words] of rows) {
    t.equal(taskName(task), name);
    t.same(taskWords(task), words, name);
    // Without a hook it says what is missing.
    const kind = task.command === "run" && task.hook === undefined ? "misuse" : "command";
    if (words !== undefined) t.equal(readArgv(words, commands).kind, kind, words.join(" "));
  }
  t.end();
});

t.test("a program is found where a shell would find it", async (t) => {
  const cwd = directory(t, { "bin/tool": "#!/bin/sh\n", "other/tool": "#!/bin/sh\n", "bin/text": "no program" });
  for (const name of ["bin/tool", "other/tool"]) chmodSync(join(cwd, name), 0o755);
  const path = (...names: string[]) => names.map((name) => join(cwd, name)).join(":");
  const rows: [name: string, PATH: string | undefined, expected: string | undefined][] = [
    ["tool", path("none", "other", "bin"), join(cwd, "other/tool")],
    ["tool", path("bin", "other"), join(cwd, "bin/tool")],
    ["text", path("bin"), undefined],
    ["tool", "", undefined],
    ["tool", undefined, undefined],
    [join(cwd, "bin/tool"), "", join(cwd, "bin/tool")],
    [join(cwd, "bin/none"), "", undefined],
    ["bin/tool", path("."), undefined],
    ["./tool", path("bin"), undefined],
    ["~/no/such/program", "", undefined],
  ];
  for (const [name, PATH, expected] of rows) t.equal(await findProgram(name, { PATH }), expected, `${name} in ${PATH}`);
  t.equal(await findProgram("~/bin/tool", { HOME: cwd }), join(cwd, "bin/tool"), "in the home folder");
});

t.test("the newest lines of a log", (t) => {
  const rows: [pieces: readonly string[], text: string, dropped: number][] = [
    [[], "", 0],
    [["a\nb\n"], "a\nb\n", 0],
    [["a", "b\nc"], "ab\n", 0],
    [["a\nb\nc\nd\n"], "b\nc\nd\n", 1],
    [["a\nb\n", "c\nd\ne\n"], "c\nd\ne\n", 2],
    [["a\r\nb\r", "\n"], "a\nb\n", 0],
    [["\n\n"], "\n\n", 0],
    [[`${"x".repeat(5000)}\n`], `${"x".repeat(4000)}\u2026\n`, 0],
    [["x".repeat(3000), "x".repeat(3000), "x\n"], `${"x".repeat(4000)}\u2026\n`, 0],
  ];
  for (const [pieces, text, dropped] of rows) {
    const lines = new LogLines(3);
    for (const piece of pieces) lines.add(piece);
    t.equal(lines.text(), text, JSON.stringify(pieces).slice(0, 40));
    t.equal(lines.dropped, dropped);
  }
  const state = { maxLines: 2000, dropped: 1234567, isLive: true };
  t.equal(
    logHeading("app", "status\n >= 500", state),
    "Logs of app: status >= 500 (live, the newest 2,000 lines, 1,234,567 before are not shown)",
  );
  t.equal(
    logHeading("app", "", { ...state, dropped: 0, isLive: false }),
    "Logs of app: all entries (ended, the newest 2,000 lines)",
  );
  t.equal(logTitle("app", "path = /a/*"), "app: path = \u2215a\u2215*");
  t.equal(logTitle("app", ""), "app: logs");
  t.equal(logTitle("app", "x".repeat(50)), `app: ${"x".repeat(39)}\u2026`);
  t.end();
});

t.test("a logs document goes along with its end until someone scrolls up", (t) => {
  const view = (start: number, lineCount: number, dropped = 0) => ({ start, end: start + 20, lineCount, dropped });
  const rows: [name: string, views: readonly ReturnType<typeof view>[], isFollowing: boolean][] = [
    ["first seen", [view(0, 500)], true],
    ["lines come faster than it scrolls", [view(0, 21), view(0, 90), view(50, 150)], true],
    ["scrolled up", [view(0, 21), view(80, 101), view(60, 101)], false],
    ["and down a little", [view(80, 101), view(60, 101), view(70, 101)], false],
    ["and back to the end", [view(80, 101), view(60, 101), view(80, 102)], true],
    ["lines are lost at the beginning", [view(1980, 2001), view(1930, 2001, 50)], true],
    ["lines are lost, and scrolled up", [view(1980, 2001), view(1929, 2001, 50)], false],
    ["lines are lost while scrolled up", [view(1980, 2001), view(900, 2001), view(850, 2001, 50)], false],
  ];
  for (const [name, views, isFollowing] of rows) {
    let seen: FollowedView | undefined;
    for (const now of views) seen = { ...now, isFollowing: followsEnd(seen, now) };
    t.equal(seen!.isFollowing, isFollowing, name);
  }
  t.end();
});

t.test("folders and names", (t) => {
  const folders = ["file:///w", "file:///w/api", "file:///w/apiary/"];
  const nearest: [file: string, folder: string | undefined][] = [
    ["file:///w/tool.json", "file:///w"],
    ["file:///w/api/src/a.js", "file:///w/api"],
    ["file:///w/apiary/a.js", "file:///w/apiary/"],
    ["file:///w/api2/a.js", "file:///w"],
    ["file:///other/a.js", undefined],
  ];
  for (const [file, expected] of nearest) t.equal(nearestFolder(folders, file), expected, file);

  const names: [folder: string, name: string][] = [
    ["orders", "orders"],
    ["My Orders (2)", "my-orders-2"],
    ["2024-site", "site"],
    ["Caf\u00e9", "cafe"],
    ["\u65e5\u672c", "app"],
    ["--", "app"],
    [`${"a".repeat(39)}-b`, "a".repeat(39)],
  ];
  for (const [name, expected] of names) {
    t.equal(appName(name), expected, name);
  }
  const uris = documentSelector().map((one) => `${one.scheme} ${one.language} ${"pattern" in one ? one.pattern : ""}`);
  t.ok(uris.includes("file json **/tool.json") && uris.includes("file toolquery "));
  t.notOk(
    uris.some((one) => one.startsWith("git ")),
    "the old side of a comparison is nobody's to mend",
  );
  t.end();
});
