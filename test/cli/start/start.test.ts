// `tool start` from outside: a real app behind the real proxy, its log, and that nothing is left running.
import { existsSync } from "node:fs";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { compilationOf } from "../../../cli/start/compile-first.ts";
import { entriesIn, isRunning, listening, spawnTool, startTool, tool } from "../../support/cli.ts";
import { until } from "../../support/until.ts";

const APP = `
const { createServer } = require("node:http");
process.on("SIGTERM", () => { if (process.env.STUBBORN) return console.log("not now"); process.exit(0); });
createServer((request, response) => {
  if (request.url.startsWith("/fail")) response.statusCode = 500;
  response.end(JSON.stringify({ pid: process.pid, a: process.env.AA, b: process.env.BB, stage: process.env.TOOL_STAGE, node: process.env.NODE_ENV, url: request.url }));
}).listen(process.env.PORT);
console.log("app is up");
`;

const project = (config: object = {}) => ({
  "tool.json": JSON.stringify({ name: "app", ...config }, null, 2),
  // Else the nearest package.json above, this project's own, says that app.js is a module.
  "package.json": "{}",
  "app.js": APP,
});

const ask = async (url: string) => (await fetch(url)).json() as Promise<Record<string, unknown>>;

t.test("start, ask, read the log, stop", async (t) => {
  const cwd = t.testdir(project({ environment: { AA: "file", BB: "file" } }));
  const { running, url } = await startTool(cwd, [], { AA: "shell" });
  const answer = await ask(`${url}/orders?x=1`);
  t.match(answer, { a: "shell", b: "file", stage: "development", node: "development", url: "/orders?x=1" });
  t.equal((await fetch(`${url}/fail`)).status, 500);
  await until("both requests to be shown", () => running.stdout().includes("/fail 500"));
  t.match(running.stdout(), `app is at ${url}`);
  t.match(running.stdout(), /^\d\d:\d\d:\d\d\.\d{3} info {2}app is up$/m);
  t.match(running.stdout(), /^\d\d:\d\d:\d\d\.\d{3} info {2}GET \/orders\?x=1 200 [\d.]+ms \d+ B$/m);
  t.match(running.stdout(), /^\d\d:\d\d:\d\d\.\d{3} error GET \/fail 500 [\d.]+ms \d+ B$/m);

  running.kill("SIGTERM");
  const { code, stderr } = await running.ended;
  t.equal(code, 0, "asked to stop, it stopped");
  t.equal(stderr, "");
  t.equal(isRunning(Number(answer.pid)), false, "the app is gone");

  const { stdout } = await tool(["logs", "status >= 500"], { cwd });
  const entries = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  t.match(entries, [
    {
      level: "error",
      message: "response",
      fields: { method: "GET", path: "/fail", status: 500, stage: "development" },
    },
  ]);
  t.equal((await readFile(join(cwd, ".tool/.gitignore"), "utf8")).trim(), "*");
});

t.test("what go run compiles is compiled before the app is timed", async (t) => {
  const rows: [command: string, compilation: string | undefined][] = [
    ["go run .", "go build -o /dev/null ."],
    ["exec go run ./cmd/shop --verbose", "go build -o /dev/null ./cmd/shop"],
    ["go run main.go store.go 8080", "go build -o /dev/null main.go store.go"],
    ["go run . && echo done", "go build -o /dev/null ."],
    ["go run -race .", undefined],
    ["go run example.com/shop@latest", undefined],
    ['go run "$SHOP"', undefined],
    ["go version", undefined],
    ["node app.js", undefined],
  ];
  for (const [command, compilation] of rows) t.equal(compilationOf(command), compilation, command);

  // A compiler that says what it was asked, and whose programs are this app.
  const compiler = `#!/bin/sh
echo "$*" >>asked
case $1 in
  build) [ ! -e refused ] || exit 1; [ ! -e endless ] || exec sleep 600;;
  run) exec node shop.cjs;;
esac
`;
  const files = {
    "tool.json": '{ "name": "shop" }',
    "main.go": "package main\n",
    "shop.cjs": APP,
    bin: { go: compiler },
  };
  const begin = async (cwd: string) => {
    await chmod(join(cwd, "bin/go"), 0o755);
    return { PATH: `${join(cwd, "bin")}:${process.env.PATH}` };
  };
  const compilerCalls = async (cwd: string) => (await readFile(join(cwd, "asked"), "utf8")).trim().split("\n");
  await t.test("once, and what it refuses is said by the start", async (t) => {
    for (const extra of [{}, { refused: "" }]) {
      const cwd = t.testdir({ ...files, ...extra });
      const { running, url } = await startTool(cwd, [], await begin(cwd));
      t.teardown(() => running.kill("SIGKILL"));
      t.equal((await fetch(url)).status, 200);
      t.strictSame(await compilerCalls(cwd), ["build -o /dev/null .", "run ."]);
      t.match(running.stdout(), /^Compiling: go build -o \/dev\/null \.$/m);
      running.kill("SIGTERM");
      t.equal((await running.ended).code, 0);
    }
  });
  await t.test("a signal ends it, and nothing starts", async (t) => {
    const cwd = t.testdir({ ...files, endless: "" });
    const running = spawnTool(["start"], { cwd, env: await begin(cwd) });
    await until("the compiler to run", () => existsSync(join(cwd, "asked")));
    running.kill("SIGINT");
    t.equal((await running.ended).code, 130);
    t.strictSame(await compilerCalls(cwd), ["build -o /dev/null ."]);
  });
});

t.test(
  "a command that the files stand for, and whose file is not there, is said at the start and to the client",
  async (t) => {
    const rows: [files: Record<string, string>, said: RegExp][] = [
      [
        {},
        /^warning: no file here says how the app starts, and there is no \.\/server\n {2}write it into tool\.json: /,
      ],
      [{ "package.json": '{"main":"main"}', "main.js": "" }, /"package\.json" stands for "node app\.js"/],
      [{ "service.rb": "", "notes.txt": "" }, /"proxy": \{ "command": "ruby service\.rb" \}\n/],
      [{ "index.mjs": "", "other.js": "" }, /"proxy": \{ "command": "node index\.mjs" \}\n/],
      [{ "requirements.txt": "", "serve.py": "" }, /"requirements\.txt" stands for "python3? app\.py"/],
    ];
    for (const [files, said] of rows) {
      const cwd = t.testdir({ "tool.json": '{ "name": "app" }', ...files });
      const { running, url } = await startTool(cwd);
      t.match(running.stderr(), said);
      const response = await fetch(url);
      t.equal(response.status, 503);
      t.match(await response.text(), /the app is not available: .*exited before it listened/);
      running.kill("SIGTERM");
      await running.ended;
    }
  },
);

t.test("Ctrl-C is 130 and leaves nothing, a second one does not wait", async (t) => {
  const cwd = t.testdir(project());
  for (const STUBBORN of ["", "1"]) {
    const { running, url } = await startTool(cwd, [], { STUBBORN });
    const { pid } = await ask(url);
    // One that waits for an app which does not hear.
    const waiting = await startTool(cwd, [], { STUBBORN: "1" });
    const { pid: deaf } = await ask(waiting.url);
    waiting.running.kill("SIGINT");
    running.kill("SIGINT");
    if (STUBBORN) {
      await until("what the app says to it", () => running.stdout().includes("not now"));
      t.ok(isRunning(Number(pid)), "the app does not hear");
      running.kill("SIGINT");
    }
    t.equal((await running.ended).code, 130);
    t.equal(waiting.running.child.exitCode, null, "at once");
    waiting.running.kill("SIGKILL");
    await until("the app to be gone", () => !isRunning(Number(pid)) && !isRunning(Number(deaf)));
  }
});

t.test("kill -9 leaves nothing either", async (t) => {
  const { running, url } = await startTool(t.testdir(project()));
  const { pid } = await ask(url);
  running.kill("SIGKILL");
  await running.ended;
  await until("the app to be gone", () => !isRunning(Number(pid)));
  t.pass();
});

t.test("an edit of tool.json is in force on the same port, a bad one says so and changes nothing", async (t) => {
  const cwd = t.testdir(project());
  const path = join(cwd, "tool.json");
  const { running, url } = await startTool(cwd);
  const before = await ask(url);
  await writeFile(path, '{ "name": "app", "memroy": 1 }');
  await until("the problem", () => running.stderr().includes("keeps its previous configuration"));
  t.match(running.stderr(), /^tool\.json:1:18: error: .*memroy/);
  t.equal((await ask(url)).pid, before.pid, "the app goes on");

  // As editors do that write beside and rename.
  const edit = async (config: object) => {
    await writeFile(`${path}.new`, JSON.stringify({ name: "app", ...config }));
    await rename(`${path}.new`, path);
  };
  for (const word of ["two", "three"]) {
    await writeFile(join(cwd, "app.js"), `${APP}// ${word}`);
    await until("the remark on the program", () => running.stdout().includes("app.js changed"));
  }
  await edit({ headers: { "/*": { "X-New": "1" } } });
  await until("the change", () => running.stdout().includes("tool.json reloaded; app keeps running."));
  const response = await fetch(url);
  t.equal(response.headers.get("x-new"), "1");
  const remark =
    'app.js changed, and the app still runs the old one: "node --watch app.js" as stages.development.proxy.command in tool.json runs each new one\n';
  t.equal(running.stdout().split(remark).length, 2, "the remark on a changed program, once");
  t.equal(((await response.json()) as { pid: number }).pid, before.pid, "a header is no reason to restart the app");

  await edit({ environment: { AA: "new" } });
  await until("the restart", () => running.stdout().includes("tool.json reloaded; app restarts."));
  const after = await ask(url);
  t.not(after.pid, before.pid);
  t.equal(after.a, "new");
  t.equal(isRunning(Number(before.pid)), false, "the old app is gone");
  running.kill("SIGTERM");
  await running.ended;
});

t.test("an app that is down is not said to run the old program", async (t) => {
  const cwd = t.testdir({ ...project(), "app.js": "process.exit(1);" });
  const { running, url } = await startTool(cwd);
  t.teardown(() => running.kill("SIGKILL"));
  await until("the app to be down", () => running.stdout().includes("app exited"));
  await writeFile(join(cwd, "app.js"), APP);
  t.equal((await ask(url)).url, "/");
  // The remark on this one comes after any on the other.
  await writeFile(join(cwd, "app.js"), `${APP}// two`);
  await until("the remark on the program", () => running.stdout().includes("app.js changed"));
  t.equal(running.stdout().split("still runs the old one").length, 2);
  running.kill("SIGTERM");
  await running.ended;
});

t.test("a change that another file's fault kept back is in force once that is mended", async (t) => {
  const cwd = t.testdir({ ...project(), errors: { "404.html": "{{.Nope" } });
  const { running, url } = await startTool(cwd);
  t.teardown(() => running.kill("SIGKILL"));
  const change = { name: "app", headers: { "/*": { "X-New": "1" } }, error_pages: { dir: "errors" } };
  await writeFile(join(cwd, "tool.json"), JSON.stringify(change));
  await until("the problem", () => running.stderr().includes("until that is mended"));
  t.match(running.stderr(), /^errors\/404\.html:1:\d+: error: /m);
  t.equal((await fetch(url)).headers.get("x-new"), null);
  await writeFile(join(cwd, "errors/404.html"), "gone");
  await until("the change", () => running.stdout().includes("tool.json reloaded; "));
  t.equal((await fetch(url)).headers.get("x-new"), "1");
  t.equal(running.stderr().split("until that is mended").length, 2, "the problem is said once");
  running.kill("SIGTERM");
  await running.ended;
});

t.test("a fault that is mended while it is being reported is no reason to keep the change back", async (t) => {
  const cwd = t.testdir({ ...project(), errors: { "404.html": "{{.Nope" } });
  const page = join(cwd, "errors/404.html");
  // The command itself mends it, in the middle of its report.
  const hook = join(t.testdirName, "mend.cjs");
  await writeFile(
    hook,
    `const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text, ...rest) => {
      if (String(text).includes("404.html:1:")) require("node:fs").writeFileSync(${JSON.stringify(page)}, "gone");
      return write(text, ...rest);
    };`,
  );
  const { running, url } = await startTool(cwd, [], { NODE_OPTIONS: `--require ${hook}` });
  t.teardown(() => running.kill("SIGKILL"));
  const change = { name: "app", headers: { "/*": { "X-New": "1" } }, error_pages: { dir: "errors" } };
  await writeFile(join(cwd, "tool.json"), JSON.stringify(change));
  await until("the change", () => running.stdout().includes("tool.json reloaded; "));
  t.match(running.stderr(), /^errors\/404\.html:1:\d+: error: /m);
  t.equal((await fetch(url)).headers.get("x-new"), "1");
  running.kill("SIGTERM");
  await running.ended;
});

t.test("while tool.json changes again and again, every request is answered", async (t) => {
  const cwd = t.testdir(project());
  const { running, url } = await startTool(cwd);
  const restarts = () => running.stdout().split("tool.json reloaded; app restarts.").length - 1;
  const pids = new Set<unknown>([(await ask(url)).pid]);
  const statuses = new Map<number, number>();
  let isDone = false;
  const client = async () => {
    while (!isDone) {
      const response = await fetch(`${url}/orders`, { method: pids.size % 2 === 0 ? "GET" : "POST" });
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      pids.add(((await response.json()) as { pid: number }).pid);
    }
  };
  const clients = [client(), client(), client()];
  for (let round = 1; round <= 4; round++) {
    await writeFile(join(cwd, "tool.json"), JSON.stringify({ name: "app", environment: { AA: String(round) } }));
    await until(`restart ${round}`, () => restarts() === round);
    await until("an answer of the new app", async () => {
      const { a, pid } = await ask(url);
      pids.add(pid);
      return a === String(round);
    });
  }
  isDone = true;
  await Promise.all(clients);
  t.same([...statuses.keys()], [200], `${statuses.get(200)} requests`);
  t.equal(pids.size, 5, "the first app and four more");
  running.kill("SIGTERM");
  await running.ended;
});

t.test("a server becomes a static site and a server again", async (t) => {
  const cwd = t.testdir({ ...project(), "index.html": "<h1>hello</h1>" });
  const path = join(cwd, "tool.json");
  const { running, url } = await startTool(cwd);
  const { pid } = await ask(url);
  await writeFile(path, '{ "name": "app", "type": "static" }');
  await until("the file", async () => (await (await fetch(`${url}/`)).text()) === "<h1>hello</h1>");
  await until("the app to be gone", () => !isRunning(Number(pid)));
  await writeFile(path, '{ "name": "app" }');
  await until("the app", async () => (await fetch(`${url}/orders`)).status === 200);
  running.kill("SIGTERM");
  t.equal((await running.ended).code, 0);
});

t.test("an edit mends an app that does not start", async (t) => {
  const cwd = t.testdir(project({ proxy: { command: "exit 3", backoff: { attempts: 1 } } }));
  const { running, url } = await startTool(cwd);
  await until("the failure", () => running.stdout().includes("app unavailable"));
  await writeFile(join(cwd, "tool.json"), JSON.stringify({ name: "app" }));
  await until("the restart", () => running.stdout().includes("app restarts."));
  t.equal((await fetch(url)).status, 200);
  running.kill("SIGTERM");
  await running.ended;
});

t.test("a taken port", async (t) => {
  const cwd = t.testdir(project());
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
  });
  t.teardown(() => other.close());
  const result = await tool(["start", "--address", `127.0.0.1:${port}`], { cwd });
  t.equal(result.code, 1);
  t.equal(result.stdout, "");
  const by = process.platform === "linux" ? ` by [^(]+ \\(process ${process.pid}\\)` : "";
  t.match(
    result.stderr,
    new RegExp(
      `^error: cannot listen on 127\\.0\\.0\\.1:${port}: it is taken${by}\\n  stop that, or use --address 127\\.0\\.0\\.1:\\d+\\n$`,
    ),
  );

  const first = spawnTool(["start"], { cwd });
  const firstUrl = await listening(first);
  const second = spawnTool(["start"], { cwd });
  const secondUrl = await listening(second);
  t.not(firstUrl, secondUrl);
  t.match(second.stdout(), /^Port 3000 is taken.*: listening on \d+ instead\.$/m);
  for (const running of [first, second]) {
    running.kill("SIGTERM");
    await running.ended;
  }
});

t.test("a static site has no command", async (t) => {
  const site = t.testdir({ "tool.json": '{ "name": "site" }', "index.html": "<h1>hello</h1>" });
  const { running, url } = await startTool(site);
  t.equal(await (await fetch(url)).text(), "<h1>hello</h1>");
  running.kill("SIGTERM");
  await running.ended;
  await writeFile(join(site, "tool.json"), '{ "name": "site", "type": "static" }');
  const refused = await tool(["start", "-c", "node app.js"], { cwd: site });
  t.equal(refused.code, 2);
  t.match(refused.stderr, /^error: --command starts a server, and this is a static site\n/);
});

t.test("--command and --format json", async (t) => {
  const cwd = t.testdir({
    ...project({ proxy: { command: "exit 1" } }),
    "other.js": APP.replace("app is up", "other is up"),
  });
  const { running, url } = await startTool(cwd, ["--format", "json", "--command", "node other.js"]);
  await ask(url);
  const messages = () => entriesIn(running.stdout()).map(({ message }) => message);
  await until("the response", () => messages().includes("response"));
  for (const message of ["other is up", "request", "response"]) t.ok(messages().includes(message), message);
  t.match(running.stderr(), `app is at ${url}`);
  running.kill("SIGTERM");
  await running.ended;
});

t.test("an app that does not start is reported, with its last words", async (t) => {
  // The output of the app is shown by itself, too: only the report says how it ended.
  const rows: [command: string, message: string, fields: object][] = [
    ["echo no database >&2; exit 3", "app exited before it listened", { code: 3, output: ["no database"] }],
    [
      "seq 1 30; echo last; kill -9 $$",
      "app exited before it listened",
      { signal: "SIGKILL", output: [...Array.from({ length: 19 }, (_, i) => String(i + 12)), "last"] },
    ],
  ];
  for (const [command, message, fields] of rows) {
    const cwd = t.testdir({ "tool.json": JSON.stringify({ name: "app", proxy: { command } }) });
    const running = spawnTool(["start", "--address", "127.0.0.1:0", "--format", "json"], { cwd });
    const report = await until("the report", () =>
      entriesIn(running.stdout()).find((entry) => entry.message === message),
    );
    running.kill("SIGTERM");
    await running.ended;
    t.equal(report.level, "error", command);
    t.match(report.fields, { command, ...fields }, command);
    t.same(report.fields.output, (fields as { output: string[] }).output, command);
  }
  const cwd = t.testdir({ "tool.json": '{ "name": "app", "proxy": { "command": "echo no database >&2; exit 3" } }' });
  const running = spawnTool(["start", "--address", "127.0.0.1:0"], { cwd });
  await until("the report", () => /no database.*exited before it listened/s.test(running.stdout()));
  running.kill("SIGTERM");
  await running.ended;
  t.match(running.stdout(), /^.*error.*app exited before it listened.*code=3/m, "for people");
});

t.test("for people, what is written at a failed start is shown once", async (t) => {
  const count = (text: string, part: string) => text.split(part).length - 1;
  const rows: [app: string, files: Record<string, string>, shown: Record<string, number>][] = [
    [
      "Node, a module that is missing",
      {
        "app.js": 'console.log("begins [" + process.pid + "]", process.env.PORT); require("missing-thing");',
        "package.json": "{}",
      },
      { begins: 1, "Error: Cannot find module": 1, "._resolveFilename": 1, "the same as before": 2 },
    ],
    [
      "Python, an exception",
      { "app.py": "import sys\nprint('begins', file=sys.stderr)\n{}['missing']\n" },
      { begins: 1, "Traceback (most recent": 1, "KeyError: 'missing'": 1, "the same as before": 2 },
    ],
  ];
  for (const [app, files, shown] of rows) {
    const cwd = t.testdir({ "tool.json": '{ "name": "app" }', ...files });
    const { running } = await startTool(cwd);
    await until("the last try", () => running.stdout().includes("app unavailable"));
    running.kill("SIGTERM");
    await running.ended;
    const text = running.stdout();
    for (const [part, times] of Object.entries(shown)) t.equal(count(text, part), times, `${app}: ${part}`);
    t.equal(count(text, "app exited before it listened"), 4, `${app}: each try, and the reason`);
    const log = await readFile(join(cwd, ".tool/development.ndjson"), "utf8");
    t.equal(count(log, '"output":['), 3, `${app}: the log has all of it`);
  }
});

t.test("what is not there", async (t) => {
  const empty = await tool(["start"], { cwd: t.testdir() });
  t.equal(empty.code, 2);
  t.match(empty.stderr, /^error: there is no tool\.json in .*\n {2}minimal tool.json: \{ "name": "my-app" \}\n$/);
  const address = await tool(["start", "--address", "nowhere"], { cwd: t.testdir(project()) });
  t.equal(address.code, 2);
  t.equal(
    address.stderr,
    'error: "nowhere" is not an address\n  write :3000, 127.0.0.1:8080, 0.0.0.0:3000 or [::1]:3000\n',
  );
});

t.test("the reader of the entries goes away: it stops with the next entry", async (t) => {
  const { running, url } = await startTool(t.testdir(project()), ["--format", "json"]);
  const { pid } = await ask(url);
  running.child.stdout!.destroy();
  await ask(url).catch(() => {});
  t.equal((await running.ended).code, 0);
  t.equal(running.stderr(), `app is at ${url}\n`);
  await until("the app to be gone", () => !isRunning(Number(pid)));
});
