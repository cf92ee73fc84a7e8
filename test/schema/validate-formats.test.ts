// The output of `tool validate` for programs: SARIF held against its published schema, places held against the text.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import sarifSchema from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" with { type: "json" };
import { Ajv } from "ajv";
import t from "tap";
import { describe, type Problem } from "../../grammar/problem.ts";
import { checkConfig } from "../../schema/index.ts";
import { tool } from "../support/cli.ts";

interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string };
      readonly region: Region;
    };
  }[];
  readonly fixes?: readonly {
    readonly artifactChanges: readonly {
      readonly replacements: readonly {
        readonly deletedRegion: Region;
        readonly insertedContent?: { readonly text: string };
      }[];
    }[];
  }[];
}

interface Log {
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly originalUriBaseIds: { readonly SRCROOT: { readonly uri: string } };
    readonly results: readonly Result[];
  }[];
}

// Draft 4, of which it uses nothing that later drafts read otherwise.
const { $schema: _, id: __, ...schema } = sarifSchema;
const isSarif = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);

/** Wrong in every area, with fixes, over lines that end in each way, after a byte order mark. */
const TEXTS: Readonly<Record<string, string>> = {
  "no problem": '{ "name": "app" }',
  "slips of syntax":
    '{ "name": "app" "type": \'server\', // x\n "regions": ["us-west-2",],\r\n "proxy": { timeout: 15 }',
  "older dialect":
    '{\r\n "name": "app",\r "lambda": { "memory": 256, "runtime": "x" },\n "logs": { "enable": false }\n}',
  "languages in strings":
    '\ufeff{ "name": "app", "logs": { "queries": { "\ud83d\ude00": "a & b", "q": "status => 5 and \\u0022x" } }, "redirects": { "/a/:": { "location": "/:x" } } }',
  "a byte order mark and lines": '\ufeff{ "nmae": "app",\n "typ": "server",\n "regoins": [] }',
  "several lines": '{ "name": "app", "function": { "memory": 256 },\n "lambda": {\n "memory": 128\n } }',
  "not JSON": "name: app",
};

t.test("a SARIF log is valid, and its places and fixes are those of the problems", async (t) => {
  const cwd = t.testdir();
  for (const [name, text] of Object.entries(TEXTS)) {
    writeFileSync(join(cwd, "draft.json"), text);
    const { stdout, stderr, code } = await tool(["validate", "draft.json", "--format", "sarif"], { cwd });
    const problems = checkConfig(text).problems;
    t.equal(stderr, "", name);
    t.equal(code, problems.length > 0 ? 1 : 0, `${name}: exit code`);
    const log: Log = JSON.parse(stdout);
    t.ok(isSarif(log), `${name}: valid`, { errors: isSarif.errors });
    const [run] = log.runs;
    t.same(run!.results.map(unwrap), problems.map(expected(text)), name);
    t.same(
      run!.results.map(({ ruleIndex }) => run!.tool.driver.rules[ruleIndex]!.id),
      problems.map(({ code }) => code),
      `${name}: rules`,
    );
  }

  function unwrap({ ruleId, level, message, locations, fixes }: Result) {
    const { artifactLocation, region } = locations[0]!.physicalLocation;
    t.same(artifactLocation, { uri: "draft.json", uriBaseId: "SRCROOT" });
    const replacements = fixes?.flatMap(({ artifactChanges }) => artifactChanges.flatMap((one) => one.replacements));
    const edits = replacements?.map(({ deletedRegion, insertedContent }) => ({
      region: deletedRegion,
      text: insertedContent?.text ?? "",
    }));
    const plain = message.text.replace(/\{\{|\}\}/g, (pair) => pair[0]!);
    t.notMatch(message.text.replace(/\{\{|\}\}/g, ""), /[{}]/, "a brace alone would be a placeholder");
    return { ruleId, level, text: plain, region, ...(edits && { edits }) };
  }
});

function expected(text: string) {
  return ({ code, severity, span, fix, ...rest }: Problem) => ({
    ruleId: code,
    level: severity,
    text: describe({ code, severity, span, ...rest }),
    region: regionOf(text, span),
    ...(fix && { edits: fix.edits.map((edit) => ({ region: regionOf(text, edit.span), text: edit.text })) }),
  });
}

/** Counted by splitting, not by the index that the command uses. */
function regionOf(text: string, { start, end }: Problem["span"]): Region {
  const place = (offset: number) => {
    const lines = text.slice(0, offset).split(/\r\n|\r(?!\n)|\n/);
    return { line: lines.length, column: lines.at(-1)!.replace(/^\ufeff/, "").length + 1 };
  };
  const [from, to] = [place(start), place(end)];
  return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column };
}

t.test("paths are relative to the top of the repository, else to the working directory", async (t) => {
  const cwd = t.testdir({ repository: { apps: { "a b": { "tool.json": "{}" } } }, elsewhere: { "tool.json": "{}" } });
  const app = join(cwd, "repository/apps/a b");
  const own = "repository/apps/a b/tool.json";
  const below = ["apps/a b/tool.json", "apps/a%20b/tool.json"] as const;
  const rows: [argv: string[], cwd: string, workspace: string | undefined, file: string, uri: string, path: string][] =
    [
      [["validate"], app, undefined, "tool.json", "tool.json", own],
      [["-C", app, "validate"], join(cwd, "repository"), undefined, ...below, own],
      [["validate"], app, join(cwd, "repository"), ...below, own],
      [
        ["validate", "../../../elsewhere/tool.json"],
        app,
        join(cwd, "repository"),
        join(cwd, "elsewhere/tool.json"),
        pathToFileURL(join(cwd, "elsewhere/tool.json")).href,
        "elsewhere/tool.json",
      ],
    ];
  for (const [argv, from, workspace, file, uri, path] of rows) {
    const options = { cwd: from, env: workspace === undefined ? {} : { GITHUB_WORKSPACE: workspace } };
    const name = `${argv.join(" ")} in ${from}`;
    const github = await tool([...argv, "--format", "github"], options);
    t.match(github.stdout, `::error file=${file},line=1,`, name);
    const { runs }: Log = JSON.parse((await tool([...argv, "--format", "sarif"], options)).stdout);
    const { artifactLocation } = runs[0]!.results[0]!.locations[0]!.physicalLocation;
    t.equal(artifactLocation.uri, uri, name);
    const base = runs[0]!.originalUriBaseIds.SRCROOT.uri;
    t.equal(fileURLToPath(new URL(artifactLocation.uri, base)), join(cwd, path), name);
  }
});

t.test("several files, stdin among them, are one log; a fix that is written is no problem of it", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app", "lambda": {} }', "b.json": '{ "name": "B" }' });
  const read = async (...argv: string[]) => {
    const { stdout } = await tool(["validate", ...argv, "--format", "sarif"], { cwd, stdin: "{}" });
    const log: Log = JSON.parse(stdout);
    t.ok(isSarif(log), argv.join(" "), { errors: isSarif.errors });
    return log.runs[0]!.results.map(({ ruleId, locations }) => [
      locations[0]!.physicalLocation.artifactLocation.uri,
      ruleId,
    ]);
  };
  t.same(await read("tool.json", "-", "b.json"), [
    ["tool.json", "config/deprecated-lambda"],
    ["stdin:", "config/missing-key"],
    ["b.json", "config/name"],
  ]);
  t.same(await read("--fix", "tool.json", "b.json"), [["b.json", "config/name"]]);
  t.same(await read("tool.json"), []);
});

t.test("workflow commands read back as the problems", async (t) => {
  const cwd = t.testdir();
  mkdirSync(join(cwd, "apps"));
  for (const [name, text] of Object.entries(TEXTS)) {
    writeFileSync(join(cwd, "apps/draft.json"), text);
    const { stdout } = await tool(["validate", "apps/draft.json", "--format", "github"], { cwd });
    const commands = stdout.split("\n").filter((line) => line !== "");
    const got = commands.map((line) => {
      const [, level, properties = "", data = ""] = /^::(\w+) ([^:]*)::(.*)$/.exec(line) ?? [];
      const read = Object.fromEntries(properties.split(",").map((pair) => pair.split("=").map(decodeURIComponent)));
      return { level, ...read, text: decodeURIComponent(data.replace(/%(?!25|0D|0A)/g, "%25")) };
    });
    const wanted = checkConfig(text).problems.map((problem) => {
      const { startLine, startColumn, endLine, endColumn } = regionOf(text, problem.span);
      return {
        level: problem.severity,
        file: "apps/draft.json",
        line: `${startLine}`,
        endLine: `${endLine}`,
        ...(startLine === endLine && { col: `${startColumn}`, endColumn: `${endColumn}` }),
        title: problem.code,
        text: describe(problem),
      };
    });
    t.same(got, wanted, name);
  }
});

t.test(
  "a report for GitLab has every problem at its line, with a fingerprint that an edit above does not change",
  async (t) => {
    const cwd = t.testdir({ apps: {} });
    const read = async (text: string, env: Record<string, string> = {}, from = cwd): Promise<Issue[]> => {
      writeFileSync(join(cwd, "apps/draft.json"), text);
      const file = from === cwd ? "apps/draft.json" : "draft.json";
      const { stdout, stderr } = await tool(["validate", file, "--format", "gitlab"], { cwd: from, env });
      t.equal(stderr, "");
      return JSON.parse(stdout);
    };
    for (const [name, text] of Object.entries(TEXTS)) {
      const issues = await read(text);
      t.same(
        issues.map(({ fingerprint, ...rest }) => rest),
        checkConfig(text).problems.map((problem) => {
          const { startLine, endLine } = regionOf(text, problem.span);
          const location = { path: "apps/draft.json", lines: { begin: startLine, end: endLine } };
          const severity = problem.severity === "error" ? "major" : "minor";
          return { description: describe(problem), check_name: problem.code, severity, location };
        }),
        name,
      );
      const prints = issues.map(({ fingerprint }) => fingerprint);
      t.equal(new Set(prints).size, prints.length, `${name}: none twice`);
    }
    const twice = '{ "name": "app", "headers": { "/a": { "X": 1 }, "/b": { "X": 1 } } }';
    const before = await read(twice);
    const after = await read(`\n\n${twice}`);
    t.ok(before.length >= 2, "two of a kind");
    const prints = (issues: Issue[]) => issues.map(({ fingerprint }) => fingerprint);
    t.same(prints(after), prints(before), "two lines lower");
    t.same(
      after.map(({ location }) => location.lines.begin),
      before.map(({ location }) => location.lines.begin + 2),
    );
    const inFolder = await read(twice, { CI_PROJECT_DIR: cwd }, join(cwd, "apps"));
    t.same(inFolder, before, "a job in a folder of the repository");
    t.same(await read('{ "name": "app" }'), [], "a list without problems, which GitLab reads as all mended");
    const { stdout } = await tool(["validate", "-", "--format", "gitlab"], { cwd, stdin: "{}" });
    t.match(JSON.parse(stdout), [{ location: { path: "stdin", lines: { begin: 1 } } }]);
  },
);

interface Issue {
  readonly fingerprint: string;
  readonly location: { readonly lines: { readonly begin: number } };
}

t.test("problems of error pages are on the page, in every format", async (t) => {
  const page = "<p>\n  {{.Variables.colr}}\n  {{if .StatusCode}}";
  const other = "{{.Nothing}}";
  const cwd = t.testdir({
    app: {
      "tool.json": '{ "name": "app", "nope": 1, "error_pages": { "dir": "errors", "variables": { "color": "blue" } } }',
      errors: { "404.html": page, "5xx.html": other },
    },
    plain: { "tool.json": '{ "name": "plain" }', "error.html": "\n{{.Variables.brand}}" },
  });
  const config = checkConfig('{ "name": "app", "nope": 1 }').problems.length;

  const github = await tool(["validate", "app/tool.json", "plain/tool.json", "--format", "github"], { cwd });
  t.same(
    github.stdout.split("\n").map((line) => /^::(\w+) file=([^,]+),line=(\d+),.*title=([^:]+)::/.exec(line)?.slice(1)),
    [
      ["error", "app/tool.json", "1", "config/unknown-key"],
      ["error", "app/errors/404.html", "3", "template/unclosed-block"],
      ["error", "app/errors/5xx.html", "1", "template/unknown-field"],
      ["warning", "plain/error.html", "2", "template/unknown-variable"],
      undefined,
    ],
  );
  t.equal(github.code, 1);

  const json = JSON.parse((await tool(["validate", "app/tool.json", "--format", "json"], { cwd })).stdout);
  t.equal(json.file, "app/tool.json", "one file is one document");
  t.equal(json.problems.length, config + 2);
  const [onPage, onOther] = json.problems.slice(config);
  t.match(onPage, { file: "app/errors/404.html", code: "template/unclosed-block", line: 3, column: 3, offset: 28 });
  t.equal(page.slice(onPage.offset, onPage.offset + onPage.length), "{{if .StatusCode}}");
  t.match(onOther, { file: "app/errors/5xx.html", line: 1, column: 3, message: /Nothing/ });

  const sarif: Log = JSON.parse((await tool(["validate", "--format", "sarif"], { cwd: join(cwd, "app") })).stdout);
  t.ok(isSarif(sarif), "valid", { errors: isSarif.errors });
  t.same(
    sarif.runs[0]!.results.map(({ locations }) => locations[0]!.physicalLocation.artifactLocation.uri),
    ["tool.json", "errors/404.html", "errors/5xx.html"],
  );

  const { stdout } = await tool(["validate", "app/tool.json"], { cwd });
  t.match(stdout, "app/errors/404.html:3:3: error: ");
  t.match(stdout, "1 error in app/errors/404.html\n");
  const config2 = await tool(["config"], { cwd: join(cwd, "app") });
  t.match(config2.stderr, /^errors\/404\.html:3:3: error: .*\n {2}3 \| {3}\{\{if \.StatusCode\}\}\n/m);
  t.equal(config2.code, 1, "a broken page is in the way of every command");

  const twice = await tool(["validate", "app/tool.json", "app/errors/404.html", "--format", "github"], { cwd });
  t.equal(twice.stdout.match(/file=app\/errors\/404\.html/g)?.length, 1, "named twice, told once");
});

t.test("files are read in their language", async (t) => {
  const cwd = t.testdir({
    "tool.json": '{ "name": "app", "stages": { "preview": {} }, "error_pages": { "variables": { "color": "blue" } } }',
    queries: { "slow.logq": "duration > 1s and stage = preveiw\n", "bad.logq": "status => 5", "good.logq": "error\n" },
    pages: { "404.html": "{{.Variables.colr}}", "fine.html": "{{.StatusText}}" },
    ".toolignore": "*.log\n!keep.log\n",
  });
  const rows: [file: string, wanted: string[]][] = [
    ["queries/slow.logq", ["config/unknown-stage 1:27"]],
    ["queries/bad.logq", ["query/unknown-operator 1:8"]],
    ["queries/good.logq", []],
    ["pages/404.html", ["template/unknown-variable 1:14"]],
    ["pages/fine.html", []],
    [".toolignore", []],
  ];
  for (const [file, wanted] of rows) {
    const { stdout, code } = await tool(["validate", file, "--strict", "--format", "json"], { cwd });
    const { problems } = JSON.parse(stdout) as { problems: { code: string; line: number; column: number }[] };
    t.same(
      problems.map(({ code, line, column }) => `${code} ${line}:${column}`),
      wanted,
      file,
    );
    t.equal(code, wanted.length > 0 ? 1 : 0, file);
  }
  const fixed = await tool(["validate", "--fix", "queries/good.logq"], { cwd });
  t.same([fixed.code, fixed.stderr], [0, "queries/good.logq: nothing to rewrite\n"]);
});

t.test("--fix applies the certain fixes of a query's file", async (t) => {
  const rows: [text: string, fixed: string, code: number][] = [
    ["status => 500\n", "status >= 500\n", 0],
    ["duration => 1s and status => 400", "duration >= 1s and status >= 400", 0],
    // A suggestion is left to the user.
    ["duration > 1s and stage = preveiw\n", "duration > 1s and stage = preveiw\n", 0],
  ];
  for (const [text, wanted, code] of rows) {
    const cwd = t.testdir({ "tool.json": '{ "name": "app" }', "a.logq": text });
    const outcome = await tool(["validate", "--fix", "a.logq"], { cwd });
    t.equal(outcome.code, code, text);
    t.equal(outcome.stderr, text === wanted ? "a.logq: nothing to rewrite\n" : "a.logq rewritten\n");
    t.equal(readFileSync(join(cwd, "a.logq"), "utf8"), wanted);
  }
});

t.test("a folder stands for the files of ours below it", async (t) => {
  const bad = '{ "nmae": "app" }';
  const cwd = t.testdir({
    "tool.json": '{ "name": "app" }',
    "package.json": "not ours",
    apps: { a: { "tool.json": bad, "x.logq": "=" }, b: { "draft.tool.json": bad, "page.html": "{{" } },
    node_modules: { "tool.json": bad },
    ".cache": { "tool.json": bad },
    empty: {},
  });
  const files = async (...argv: string[]) => {
    const { stdout } = await tool(["validate", ...argv, "--format", "json"], { cwd });
    const document = JSON.parse(stdout) as { file?: string; files?: { file: string }[] };
    return (document.files ?? [document]).map(({ file }) => file);
  };
  t.same(await files("."), ["apps/a/tool.json", "apps/a/x.logq", "apps/b/draft.tool.json", "tool.json"]);
  t.same(await files("apps/a/", "apps/a/tool.json"), ["apps/a/tool.json", "apps/a/x.logq"], "each once");
  t.same(await files("-C", "apps/b", "."), ["draft.tool.json"]);
  t.same(await files("./apps"), ["apps/a/tool.json", "apps/a/x.logq", "apps/b/draft.tool.json"]);
  t.equal((await tool(["validate", "."], { cwd })).code, 1);
  const none = await tool(["validate", "empty"], { cwd });
  t.same([none.code, none.stdout], [2, ""]);
  t.match(none.stderr, /^error: there is no tool\.json and no \*\.logq below empty\n/);
});

t.test("whatever has the name of a file of ours is read in a folder as by its name", async (t) => {
  const bad = '{ "nmae": "app" }';
  const linked = t.testdir({
    broken: bad,
    a: { "tool.json": t.fixture("symlink", "../broken") },
    b: { "x.tool.json": t.fixture("symlink", "../broken") },
    other: t.fixture("symlink", "a"),
  });
  const { code, stdout } = await tool(["validate", ".", "--strict", "--format", "github"], { cwd: linked });
  t.equal(code, 1);
  t.same(
    [...stdout.matchAll(/^::error file=([^,]*)/gm)]
      .map(([, file]) => file)
      .sort()
      .filter((file, i, all) => file !== all[i - 1]),
    ["a/tool.json", "b/x.tool.json"],
  );
  const rows: [name: string, make: (path: string) => void][] = [
    ["tool.json", (path) => symlinkSync("nowhere", path)],
    ["a.logq", (path) => symlinkSync("a.logq", path)],
    [".toolignore", (path) => symlinkSync("/dev/zero", path)],
    ["tool.json", (path) => symlinkSync(".", path)],
    ["x.tool.json", (path) => mkdirSync(path)],
  ];
  for (const [i, [name, make]] of rows.entries()) {
    const folder = String(i);
    mkdirSync(join(linked, "rows", folder), { recursive: true });
    make(join(linked, "rows", folder, name));
    const cwd = join(linked, "rows");
    const [inside, named] = [
      await tool(["validate", folder], { cwd }),
      await tool(["validate", `${folder}/${name}`], { cwd }),
    ];
    t.match(inside, { code: 2, stdout: "", stderr: `error: cannot read ${folder}/${name}: ` }, name);
    // A folder that is named is looked into.
    if (i < 3) t.equal(inside.stderr, named.stderr, name);
  }
});

t.test("queries in files with a byte order mark, or a line end in their name, are checked as others are", async (t) => {
  const files = {
    "mark.logq": "\ufeffstatus >= 500 # errors\n",
    "mark-wrong.logq": "\ufeffstatus => 5",
    "comment.logq": "\ufeff# all\nstatus >= 500",
    "line\nend.logq": "status => 5",
    "line\u2028end.tool.json": "{",
  };
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }', ...files });
  const { stdout } = await tool(["validate", ".", "--format", "json"], { cwd });
  const { files: reports } = JSON.parse(stdout) as { files: { file: string; problems: { code: string }[] }[] };
  t.same(Object.fromEntries(reports.map(({ file, problems }) => [file, problems.map(({ code }) => code)])), {
    "comment.logq": [],
    "line\nend.logq": ["query/unknown-operator"],
    "line\u2028end.tool.json": ["config/unclosed", "config/missing-key"],
    "mark-wrong.logq": ["query/unknown-operator"],
    "mark.logq": [],
    "tool.json": [],
  });
});

t.test("a file that is not UTF-8 is one file with a problem", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "nmae": "app" }', "slow.logq": "" });
  writeFileSync(join(cwd, "latin.tool.json"), Buffer.from('{\n  "name": "caf\u00e9" }', "latin1"));
  writeFileSync(join(cwd, "slow.logq"), Buffer.from("duration > 1\xff", "latin1"));
  const { code, stdout } = await tool(["validate", ".", "--format", "json"], { cwd });
  const { files } = JSON.parse(stdout) as {
    files: { file: string; problems: { code: string; line: number; column: number }[] }[];
  };
  t.equal(code, 1);
  t.same(
    files.map(({ file, problems }) => [file, problems[0]!.code, problems[0]!.line, problems[0]!.column]),
    [
      ["latin.tool.json", "config/encoding", 2, 15],
      ["slow.logq", "config/encoding", 1, 13],
      ["tool.json", "config/unknown-key", 1, 3],
    ],
  );
  const one = await tool(["validate", "latin.tool.json", "--format", "sarif"], { cwd });
  t.same([one.code, one.stderr], [1, ""]);
  t.ok(isSarif(JSON.parse(one.stdout)), "one document, whatever is in the file");
  const fix = await tool(["validate", "--fix", "latin.tool.json"], { cwd });
  t.equal(fix.code, 1);
  t.match(fix.stdout, /latin\.tool\.json:2:15: error: the file is not UTF-8/);
});

t.test("a .toolignore that is not UTF-8 is an error of its project", async (t) => {
  const utf16 = Buffer.from("secret.txt\n", "utf16le");
  const rows: [text: Buffer, line: number, column: number][] = [
    [Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 1, 1],
    [utf16, 1, 2],
    [Buffer.from("*.log\ncaf\u00e9", "latin1"), 2, 4],
  ];
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }' });
  for (const [text, line, column] of rows) {
    writeFileSync(join(cwd, ".toolignore"), text);
    for (const argv of [[], ["."], [".toolignore"]]) {
      const { code, stdout } = await tool(["validate", ...argv, "--format", "github"], { cwd });
      const place = `file=.toolignore,line=${line},endLine=${line},col=${column},`;
      t.equal(code, 1, argv.join());
      t.equal(stdout.split(place).length, 2, `${argv.join()}: once`, { stdout });
    }
  }
});

t.test("rules of a SARIF log lead to the reference that is published", async (t) => {
  const cwd = t.testdir({ "tool.json": "{}" });
  const rules = async (env: Record<string, string>) => {
    const { stdout } = await tool(["validate", "--format", "sarif"], { cwd, env });
    const log = JSON.parse(stdout) as Log;
    t.ok(isSarif(log), JSON.stringify(env), { errors: isSarif.errors });
    return log.runs[0]!.tool.driver.rules as readonly { id: string; helpUri?: string }[];
  };
  t.same(
    (await rules({})).map(({ helpUri }) => helpUri),
    [undefined],
    "none is made up",
  );
  const [rule] = await rules({ TOOL_DOCS_URL: "https://docs.example/tool.html" });
  t.equal(rule!.helpUri, "https://docs.example/tool.html#config%2Fmissing-key");
});

t.test("a name that others chose begins no line, which runners of CI would read as a command", async (t) => {
  const cwd = t.testdir({ ours: { "tool.json": '{ "name": "app" }' } });
  for (const name of ["a\n::add-mask::b", "\r::stop-commands::c", "\u2028::error::d", "\u001b[2Je"]) {
    mkdirSync(join(cwd, name));
    writeFileSync(join(cwd, name, "tool.json"), '{ "name": "App" }');
    writeFileSync(join(cwd, name, "x.logq"), "error");
  }
  const runs: [words: readonly string[], code: number][] = [
    [["."], 1],
    [["a\n::add-mask::b"], 1],
    [["a\n::add-mask::b/x.logq", "--fix"], 0],
    [["a\n::add-mask::b/absent.logq"], 2],
    [["a\n::add-mask::b", "--fix"], 1],
  ];
  for (const [words, code] of runs) {
    const result = await tool(["validate", ...words], { cwd });
    const said = `${result.stdout}\n${result.stderr}`;
    t.equal(result.code, code, said);
    t.match(said, /a␊::add-mask::b/);
    t.notMatch(said, /[\r\u2028\u001b]|^\s*::/m, JSON.stringify(words));
  }
  const github = await tool(["validate", ".", "--format", "github"], { cwd });
  t.match(github.stdout, /^::error file=␛\[2Je\/tool\.json,/m);
  t.notMatch(github.stdout, /[\r\u2028\u001b]|^(?!::error file=)./m);
  const path = Buffer.concat([Buffer.from(join(cwd, "ours/")), Buffer.from([0xff]), Buffer.from(".logq")]);
  writeFileSync(path, "error");
  const { stderr, code } = await tool(["validate", "ours"], { cwd });
  t.same([code, stderr], [2, "error: cannot read ours/\ufffd.logq: its name is not UTF-8\n  rename it\n"]);
  for (const [words, where, named] of [
    [["."], "bare", ""],
    [["nested"], "nested/deeper", "nested/deeper/"],
  ] as const) {
    mkdirSync(Buffer.concat([Buffer.from(join(cwd, where, "/")), Buffer.from([0xff])]), { recursive: true });
    const said = await tool(["validate", ...words], { cwd: words[0] === "." ? join(cwd, where) : cwd });
    t.same([said.code, said.stderr], [2, `error: cannot read ${named}\ufffd: its name is not UTF-8\n  rename it\n`]);
  }
});
