// The command line from outside: what the words mean, what is printed where, and the exit code.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { readArgv } from "../../cli/argv.ts";
import { wantsColor } from "../../cli/io.ts";
import { profileRegion } from "../../cli/project/profile-region.ts";
import { parseAddress } from "../../cli/start/address.ts";
import { describeTable } from "../../cli/table.ts";
import { rpcReference } from "../../schema/rpc-reference.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { isRunning, shell, spawnTool, tool } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { until } from "../support/until.ts";
import { recorderOf } from "../support/vectors.ts";
import vectors from "../vectors/argv.json" with { type: "json" };

const { version } = JSON.parse(readFileSync(fileURLToPath(new URL("../../../package.json", import.meta.url)), "utf8"));

interface ReadRow {
  argv: string;
  command?: string[];
  help?: string[];
  version?: boolean;
  unknown?: string;
  misuse?: string;
  hint?: string;
  globals?: { chdir?: string; verbose?: boolean; format?: string };
}

const record = recorderOf("argv.json", vectors);
/** The default expectations of a row. */
const NOTHING_READ = { command: undefined, help: undefined, version: undefined, unknown: undefined };
const NOTHING_ELSE = { misuse: undefined, hint: undefined, globals: undefined };

const words = (argv: string) => (argv === "" ? [] : argv.split(" "));

t.test("what the words mean", (t) => {
  const commands = describeTable();
  for (const row of vectors.read as ReadRow[]) {
    const read = readArgv(words(row.argv), commands);
    const { chdir, verbose, format } = read.globals;
    const globals = {
      ...(chdir !== "." && { chdir }),
      ...(verbose && { verbose }),
      ...(format !== undefined && { format }),
    };
    const got: ReadRow = {
      argv: row.argv,
      ...(read.kind === "command" && { command: [...read.argv] }),
      ...(read.kind === "help" && { help: [...read.topic] }),
      ...(read.kind === "version" && { version: true }),
      ...(read.kind === "unknown" && { unknown: read.word }),
      ...(read.kind === "misuse" && { misuse: read.message, ...(read.hint !== undefined && { hint: read.hint }) }),
      // After misuse nothing runs that could look at them.
      ...(read.kind !== "misuse" && Object.keys(globals).length > 0 && { globals }),
    };
    record(row, { ...NOTHING_READ, ...NOTHING_ELSE, ...got });
    t.same(got, row, `tool ${row.argv}`);
  }
  t.end();
});

interface SpawnRow {
  argv: string[];
  files?: Record<string, string>;
  env?: Record<string, string>;
  stdin?: string;
  code: number;
  stdout?: string[];
  stderr?: string[];
}

t.test("what it answers", async (t) => {
  let folders = 0;
  for (const row of vectors.run as SpawnRow[]) {
    const cwd = join(t.testdir(), String(folders++));
    await mkdir(cwd, { recursive: true });
    for (const [name, text] of Object.entries(row.files ?? {})) await writeFile(join(cwd, name), text);
    const { code, stdout, stderr } = await tool(row.argv, {
      cwd,
      env: { ...row.env },
      ...(row.stdin && { stdin: row.stdin }),
    });
    // TOOL_TEST_COMMAND: another row of upgrade.test.ts has the words for what npm installed.
    if (process.env.TOOL_TEST_COMMAND !== undefined && /runs from its sources/.test(row.stderr?.[0] ?? "")) {
      t.match(stderr, "error: this tool was installed by npm\n");
      continue;
    }
    const lines = (text: string) =>
      text === ""
        ? []
        : text.replaceAll(cwd, "$PROJECT").replaceAll(version, "$VERSION").replace(/\n$/, "").split("\n");
    const orNothing = (text: string) => (text === "" ? undefined : lines(text));
    record(row, {
      code,
      stdout: orNothing(stdout) ?? row.stdout?.slice(0, 0),
      stderr: orNothing(stderr) ?? row.stderr?.slice(0, 0),
    });
    t.same(
      { code, stdout: lines(stdout), stderr: lines(stderr) },
      { code: row.code, stdout: row.stdout ?? [], stderr: row.stderr ?? [] },
      `tool ${row.argv.join(" ")}`,
    );
  }
});

t.test("every help page fits 80 columns and names every flag", async (t) => {
  for (const command of [undefined, ...describeTable()]) {
    const { code, stdout, stderr } = await tool(["help", ...(command ? command.name.split(" ") : [])]);
    t.equal(code, 0);
    t.equal(stderr, "");
    for (const line of stdout.split("\n")) t.ok(line.length <= 80, line);
    for (const { long } of command?.flags ?? []) t.match(stdout, `--${long}`);
  }
});

t.test("examples of help run as they are", async (t) => {
  const examplesOf = async (command: string) => {
    const { stdout } = await tool(["help", command]);
    return stdout
      .slice(stdout.indexOf("\nExamples\n") + "\nExamples\n".length)
      .split("\n")
      .map((line) => line.trim());
  };
  t.ok((await examplesOf("url")).includes("curl $(tool url --stage production)"), "another program's has no prefix");
  const home = t.testdir();
  const lines = (await examplesOf("completion")).filter((line) => line !== "");
  const { code, stderr } = await shell(`set -e; ${lines.join("; ")}`, { cwd: home, env: { HOME: home } });
  t.same([code, stderr], [0, ""], lines.join("; "));
  for (const file of [".bashrc", ".zsh/functions/_tool", ".config/fish/completions/tool.fish"]) {
    t.match(await readFile(join(home, file), "utf8"), "completion", file);
  }
});

t.test("help, version and config are one JSON document with --format json", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }' });
  for (const argv of [
    ["help"],
    ["help", "logs"],
    ["help", "stack"],
    ["stack", "policy"],
    ["version"],
    ["config"],
    ["config", "--schema"],
    ["validate"],
  ]) {
    const { stdout, code } = await tool([...argv, "--format", "json"], { cwd });
    t.equal(code, 0, argv.join(" "));
    t.type(JSON.parse(stdout), Object);
  }
});

t.test("colours", (t) => {
  const rows: [isTerminal: boolean, env: Record<string, string>, expected: boolean][] = [
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [true, { TERM: "dumb" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [false, { FORCE_COLOR: "3", NO_COLOR: "1" }, false],
  ];
  for (const [isTerminal, env, expected] of rows) {
    t.equal(wantsColor(isTerminal, env), expected, `${isTerminal ? "terminal" : "pipe"} ${JSON.stringify(env)}`);
  }
  t.end();
});

t.test("addresses", (t) => {
  const rows: [text: string, expected: [host: string, port: number, isExposed: boolean] | undefined][] = [
    [":3000", ["127.0.0.1", 3000, false]],
    ["3000", ["127.0.0.1", 3000, false]],
    ["127.0.0.1:0", ["127.0.0.1", 0, false]],
    ["localhost:80", ["localhost", 80, false]],
    ["0.0.0.0:3000", ["0.0.0.0", 3000, true]],
    ["192.168.1.2:3000", ["192.168.1.2", 3000, true]],
    ["127.example.com:1", ["127.example.com", 1, true]],
    ["[::1]:3000", ["::1", 3000, false]],
    ["[::]:3000", ["::", 3000, true]],
    [":65535", ["127.0.0.1", 65535, false]],
    [":65536", undefined],
    ["", undefined],
    [":", undefined],
    ["127.0.0.1", undefined],
    ["::1:3000", undefined],
    ["http://localhost:3000", undefined],
    [":-1", undefined],
    ["a b:1", undefined],
  ];
  for (const [text, expected] of rows) {
    const address = parseAddress(text);
    t.same(address && [address.host, address.port, address.isExposed], expected, text);
  }
  t.end();
});

t.test("the region of a profile", (t) => {
  const home = t.testdir({
    ".aws": {
      config:
        "[default]\nregion = us-east-1\n[profile  work]\nregion=eu-west-1 # near\ns3 =\n  region = no\n[profile bare]\n",
      credentials: "[work]\nregion = no\n[old]\nregion = ap-south-1\r\n",
    },
  });
  const rows: [profile: string, expected: string | undefined][] = [
    ["work", "eu-west-1"],
    ["default", "us-east-1"],
    ["old", "ap-south-1"],
    ["bare", undefined],
    ["none", undefined],
  ];
  for (const [profile, expected] of rows) t.equal(profileRegion(profile, { HOME: home }), expected, profile);
  t.equal(profileRegion("work", { HOME: join(home, "nowhere") }), undefined, "no files at all");
  t.end();
});

t.test("config takes the region of variable, then profile", async (t) => {
  const dir = t.testdir({
    ".aws": { config: "[profile work]\nregion = eu-west-1\n" },
    "tool.json": '{ "name": "app", "profile": "work" }',
  });
  const regions = async (env: Record<string, string>) =>
    JSON.parse((await tool(["config"], { cwd: dir, env })).stdout).regions;
  t.same(await regions({ HOME: dir }), ["eu-west-1"]);
  t.same(await regions({ HOME: dir, CLOUD_REGION: "ap-south-1" }), ["ap-south-1"]);
  t.same(await regions({}), ["us-west-2"]);
});

t.test("validate --fix rewrites in place, keeps the mode and everything else", async (t) => {
  const old = '{\n  "name": "app", \n  "lambda": { "memory": 256 },\n  "logs": { "enable": false }\n}\n';
  const cwd = t.testdir({ "tool.json": old });
  const path = join(cwd, "tool.json");
  await chmod(path, 0o640);
  const first = await tool(["validate", "--fix"], { cwd });
  t.equal(first.code, 0, first.stderr);
  t.equal(
    await readFile(path, "utf8"),
    '{\n  "name": "app", \n  "function": { "memory": 256 },\n  "logs": { "disable": true }\n}\n',
  );
  t.equal((await stat(path)).mode & 0o777, 0o640);
  const { mtimeMs, ino } = await stat(path);
  const again = await tool(["validate", "--fix"], { cwd });
  t.match(again.stderr, /^tool\.json: nothing to rewrite\n/);
  t.same([(await stat(path)).mtimeMs, (await stat(path)).ino], [mtimeMs, ino], "not written again");

  const piped = await tool(["validate", "--fix", "-"], { cwd, stdin: old });
  t.equal(piped.stdout, await readFile(path, "utf8"), "the text of stdin goes to stdout");
  t.match(piped.stderr, /stdin is valid/);
});

t.test("validate --fix makes the fixes that are certain, and says which", async (t) => {
  const rows: [text: string, fixed: string, code: number, said: RegExp][] = [
    [
      '{ "name": "app", "memory": "512MB", "regoins": ["eu-west-1"], }',
      '{ "name": "app", "function": { "memory": 512 }, "regions": ["eu-west-1"] }',
      0,
      /tool\.json rewritten\n {2}1:18: unknown key "memory": move it to "function"\n/,
    ],
    // One after another: the section first, what it holds then.
    [
      '{ "name": "app", "lambda": { "memroy": "512" } }',
      '{ "name": "app", "function": { "memory": 512 } }',
      0,
      /memroy/,
    ],
    // Settings that only the user can decide stay, with their fix in the document.
    [
      '{ "name": "app", "function": { "memory": 64 } }',
      '{ "name": "app", "function": { "memory": 64 } }',
      1,
      /nothing to rewrite/,
    ],
    ['{ "type": "Server" }', '{ "type": "server" }', 1, /change to server/],
  ];
  for (const [text, fixed, code, said] of rows) {
    const cwd = t.testdir({ "tool.json": text });
    const { stderr, ...outcome } = await tool(["validate", "--fix"], { cwd });
    t.equal(await readFile(join(cwd, "tool.json"), "utf8"), fixed, text);
    t.equal(outcome.code, code, stderr);
    t.match(stderr, said);
  }
  const cwd = t.testdir({ "tool.json": '{ "name": "app", "function": { "memory": 64 } }' });
  const { stdout } = await tool(["validate", "--format", "json"], { cwd });
  t.match(JSON.parse(stdout).problems, [
    { code: "config/bounds", fix: { title: "Change to 128", suggestion: true, edits: [{ length: 2, text: "128" }] } },
  ]);
});

t.test("validate: files that logs.include names", async (t) => {
  const alert = '{ "logs": { "alerts": { "a": { "query": "error", "operator": ">", "notify": "opps" } } } }';
  const cwd = t.testdir({
    "tool.json": JSON.stringify({
      name: "app",
      logs: {
        include: ["ops/*.json"],
        notifications: { ops: { type: "email", email_addresses: ["ops@example.com"] } },
      },
    }),
    "app.js": "",
    ops: { "a.json": alert, "b.json": alert.replace("opps", "ops").replace('"a"', '"b"') },
  });
  for (const args of [[], ["ops/a.json"]]) {
    const { code, stdout } = await tool(["validate", "--format", "json", ...args], { cwd });
    t.equal(code, 1, args.join(" "));
    const places = JSON.parse(stdout).problems.map(({ code, line, column }: Record<string, unknown>) => [
      code,
      line,
      column,
    ]);
    t.same(places, [["config/unknown-reference", 1, 77]], "at its place in the included file");
  }
  const { code, stdout } = await tool(["validate", "ops/b.json"], { cwd });
  t.same([code, stdout], [0, "ops/b.json is valid\n"]);
});

t.test("validate: links in the place of files that logs.include names", async (t) => {
  const at = t.testdir({
    "secret.txt": "key = a secret",
    other: { "c.json": "another secret" },
    app: {
      "tool.json": JSON.stringify({ name: "app", logs: { include: ["ops/*.json", "linked/c.json"] } }),
      "app.js": "",
      ops: {
        "a.json": t.fixture("symlink", "../../secret.txt"),
        "b.json": t.fixture("symlink", "../b.txt"),
      },
      "b.txt": "{}",
      linked: t.fixture("symlink", "../other"),
    },
  });
  const { code, stdout } = await tool(["validate", "--format", "json"], { cwd: join(at, "app") });
  t.equal(code, 1);
  t.notMatch(stdout, / secret/, "nothing of what is elsewhere is shown");
  t.match(
    JSON.parse(stdout).problems.map(({ message }: { message: string }) => message),
    ["ops/a.json", "linked/c.json"].map((path) => `the link "${path}" leads out of the project directory`),
  );
});

t.test("validate: links that lead out of the static directory", async (t) => {
  const at = t.testdir({
    "secret.txt": "",
    app: {
      "tool.json": JSON.stringify({ name: "app", proxy: { command: "./serve" }, static: { dir: "public" } }),
      serve: "",
      "beside.txt": "",
      public: {
        "a.txt": "",
        inside: t.fixture("symlink", "a.txt"),
        out: t.fixture("symlink", "../../secret.txt"),
        beside: t.fixture("symlink", "../beside.txt"),
      },
    },
  });
  const cwd = join(at, "app");
  const validate = async () => JSON.parse((await tool(["validate", "--format", "json"], { cwd })).stdout).problems;
  const problems = await validate();
  t.equal(problems.length, 1);
  t.match(problems[0], {
    code: "config/linked-file",
    severity: "warning",
    message:
      '"public/beside" leads out of "public", and 1 more like it: such a link is not served: put the file itself there',
  });
  const site = { name: "app", type: "static", static: { dir: "public" } };
  await writeFile(join(cwd, "tool.json"), JSON.stringify(site));
  t.match(await validate(), [{ code: "config/linked-file" }]);
});

t.test("what is not a file in a project is said, and not waited for", { skip: requires("mkfifo") }, async (t) => {
  const pipe = (path: string) => execFileSync("mkfifo", [path]);
  const circle = (path: string) => symlinkSync(basename(path), path);
  const endless = (path: string) => symlinkSync("/dev/zero", path);
  const log = join(".tool", "development.ndjson");
  const rows: [file: string, make: (path: string) => void, argv: string[], said: RegExp, printed?: RegExp][] = [
    ["tool.json", pipe, ["validate"], /^error: cannot read tool\.json: it is not a file\n$/],
    ["tool.json", endless, ["validate"], /^error: cannot read tool\.json: it is not a file\n$/],
    ["tool.json", pipe, ["config"], /^error: cannot read .*tool\.json: it is not a file\n$/],
    ["tool.json", circle, ["validate"], /^error: cannot read tool\.json: its symbolic links lead in a circle\n$/],
    ["tool.json", mkdirSync, ["validate"], /^error: cannot read tool\.json: it is a folder\n$/],
    ["tool.json", mkdirSync, ["config"], /^error: cannot read .*tool\.json: it is a folder\n$/],
    ["package.json", pipe, ["config"], /^(?!.*package\.json: E)/],
    [
      ".toolignore",
      pipe,
      ["build", "--size"],
      /cannot read \.toolignore: it is not a file\n {2}put a file in its place that may be read, or remove it\n/,
    ],
    [".toolignore", pipe, ["validate"], /^$/, /^tool\.json:1:1: error: cannot read \.toolignore: it is not a file/],
    [".toolignore", mkdirSync, ["validate"], /^$/, /^tool\.json:1:1: error: cannot read \.toolignore: it is a folder/],
    [".toolignore", pipe, ["validate", "."], /^error: cannot read \.toolignore: it is not a file\n$/],
    [".gitignore", pipe, ["validate"], /^$/, /is valid\n$/],
    [log, pipe, ["logs"], /^error: cannot read \.tool\/development\.ndjson: it is not a file\n {2}move it away: /],
    [log, endless, ["logs", "-f"], /^error: cannot read \.tool\/development\.ndjson: it is not a file\n/],
  ];
  for (const [file, make, argv, said, printed = /^/] of rows) {
    const cwd = t.testdir({
      "tool.json": '{ "name": "app", "proxy": { "command": "./serve" } }',
      serve: "",
      ".tool": {},
    });
    const path = join(cwd, file);
    rmSync(path, { force: true });
    make(path);
    const { stdout, stderr, signal } = await tool(argv, { cwd });
    t.match(stderr, said, `${argv.join(" ")}: ${file}`);
    t.match(stdout, printed, `${argv.join(" ")}: ${file}`);
    t.equal(signal, null, `${argv.join(" ")}: ${file}: it ends`);
  }
  // A pipe that a shell has opened is read.
  const { stdout } = await shell(`tool validate <(echo '{ "name": "app" }')`, { cwd: t.testdir() });
  t.match(stdout, /is valid\n$/);
});

t.test("run: the tool's own secrets stay out of a hook's environment", async (t) => {
  const config = { name: "app", environment: { AA: "x" }, hooks: { build: "echo $AA:$BB:$TOOL_LOGS_TOKEN:" } };
  const cwd = t.testdir({ "tool.json": JSON.stringify(config) });
  const { stdout } = await tool(["run", "build"], { cwd, env: { TOOL_LOGS_TOKEN: "lgs_x", BB: "y" } });
  t.equal(stdout, "x:y::\n");
});

t.test("run: shells one after another, in the project, with the environment", async (t) => {
  const cwd = t.testdir({
    "tool.json": JSON.stringify({
      name: "app",
      environment: { AA: "from tool.json", BB: "from tool.json" },
      hooks: {
        build: ["echo 1:$AA:$BB:$TOOL_STAGE", "cd / && x=1", "echo 2:$x:$(basename $PWD) && hello"],
        clean: ["echo before", "echo broken >&2; exit 7", "echo never"],
      },
      stages: { production: { hooks: { build: "echo for production" } } },
    }),
    node_modules: { ".bin": { hello: "#!/bin/sh\necho hello from a package\n" } },
  });
  await chmod(join(cwd, "node_modules/.bin/hello"), 0o755);
  const build = await tool(["run", "build"], { cwd, env: { AA: "from the shell" } });
  t.equal(build.code, 0, build.stderr);
  const folder = cwd.split("/").at(-1);
  t.equal(build.stdout, `1:from the shell:from tool.json:staging\n2::${folder}\nhello from a package\n`);
  t.equal((await tool(["run", "build", "--stage", "production"], { cwd })).stdout, "for production\n");

  const clean = await tool(["run", "clean"], { cwd });
  t.equal(clean.code, 1);
  t.equal(clean.stdout, "before\n");
  t.equal(
    clean.stderr,
    "clean: echo before\nclean: echo broken >&2; exit 7\nbroken\nerror: clean failed: echo broken >&2; exit 7 ended with exit code 7\n",
  );
  const json = await tool(["run", "clean", "--format", "json"], { cwd });
  t.match(JSON.parse(json.stdout), { hook: "clean", stage: "staging", commands: [{ exitCode: 0 }, { exitCode: 7 }] });
  t.equal(json.code, 1);
});

t.test("run: a signal ends the hook and all that it started", async (t) => {
  const cwd = t.testdir({
    "tool.json": JSON.stringify({ name: "app", hooks: { build: "sleep 300 & echo $! $$; sleep 300; true" } }),
  });
  const running = spawnTool(["run", "build"], { cwd });
  const pids = await until("the hook's pids", () => /^(\d+) (\d+)\n/.exec(running.stdout()));
  running.kill("SIGINT");
  t.equal((await running.ended).code, 130);
  for (const pid of pids.slice(1).map(Number)) await until(`process ${pid} to be gone`, () => !isRunning(pid));
  t.pass("nothing is left");
});

t.test("docs writes one page that needs nothing else", async (t) => {
  const cache = t.testdir();
  const { code, stdout } = await tool(["docs"], { env: { XDG_CACHE_HOME: cache } });
  t.equal(code, 0);
  t.match(stdout, /^\/.*\/tool\/tool-json-[\w.-]+\.html\n$/);
  const page = await readFile(stdout.trim(), "utf8");
  for (const id of ["name", "function.memory", "redirects.location", "alerts.threshold", "logs.queries"]) {
    t.match(page, `id="${id.replace("redirects.", "redirects._name_.").replace("alerts.", "alerts_.")}"`);
  }
  t.notMatch(page, /<script|src=|undefined|\[object|\*\*/);
});

t.test("docs service writes the page that the service answers at /reference", async (t) => {
  const cache = t.testdir();
  const { code, stdout } = await tool(["docs", "service"], { env: { XDG_CACHE_HOME: cache } });
  t.equal(code, 0);
  t.match(stdout, /^\/.*\/tool\/log-service-[\w.-]+\.html\n$/);
  t.equal(await readFile(stdout.trim(), "utf8"), rpcReference(rpcSchema, version));
  const { stdout: json } = await tool(["docs", "service", "--format", "json"], { env: { XDG_CACHE_HOME: cache } });
  t.same(JSON.parse(json), { path: stdout.trim() });
});

t.test("an early end of the reader is no failure", async (t) => {
  const { stdout, stderr } = await shell("set -o pipefail; tool config --schema | head -c 1; echo $PIPESTATUS");
  t.equal(stdout, "{0\n");
  t.equal(stderr, "");
});
