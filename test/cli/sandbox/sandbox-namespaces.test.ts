// Functions in namespaces of their own: what they see of this machine, and that all else is as without them. A machine that
// refuses them is a program in place of `unshare`.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { TEST_IDENTITY } from "../../../cli/sandbox/function/environment.ts";
import { type FunctionOptions, LocalFunction } from "../../../cli/sandbox/function/function.ts";
import { refusalOfNamespaces } from "../../../cli/sandbox/function/namespaces-here.ts";
import { below } from "../../../cli/sandbox/function/process-tree.ts";
import { openWatchdog } from "../../../cli/sandbox/function/watchdog.ts";
import { startAws } from "../../support/aws/index.ts";
import { requiresNamespaces } from "../../support/require-namespaces.ts";
import { testSandbox } from "../../support/sandbox.ts";
import { activeFunction, answerOf, foldersOf, handlerFunction } from "../../support/sandbox-function.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const here = dirname(fileURLToPath(import.meta.url));
const nodeRuntime = resolve(here, "../../../cli/sandbox/cloud/lambda/node-runtime.js");

const newFolder = foldersOf(t);

/** A program with a text of its own. */
function program(text: string): string {
  const file = join(newFolder(), "program");
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

const allowed = { skip: await requiresNamespaces() };

const refusing = program("echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1");

/** A function whose handler is the code, or that has a command of its own. */
function functionOf(
  t: { teardown(handler: () => void): void },
  handler: string,
  { unshare, ...options }: Partial<FunctionOptions> & { readonly unshare?: string | undefined } = {},
): LocalFunction {
  const directory = newFolder();
  return handlerFunction(t, {
    ...{ directory, handler },
    ...(unshare !== undefined && { namespaces: { unshare, hides: [openWatchdog().folder], keeps: [directory] } }),
    ...options,
  });
}

/** Looks for secrets where a process of this user finds them. */
const LOOKS = `
const fs = require("node:fs");
const attempt = (read) => {
  try {
    return read();
  } catch (error) {
    return error.code;
  }
};
const { spawnSync } = require("node:child_process");
exports.handler = async ({ daemon, other, folder, key, otherFolder }) => ({
  unmounted: spawnSync("sh", ["-c", 'umount -l "$0" 2> /dev/null; cat "$1"', folder, key], { encoding: "utf8" }).stdout,
  unmountedByRoot: spawnSync(
    "unshare",
    ["--user", "--map-root-user", "--mount", "sh", "-c", 'umount -l "$0" 2> /dev/null; cat "$1"', folder, key],
    { encoding: "utf8" },
  ).stdout,
  daemon: attempt(() => fs.readFileSync("/proc/" + daemon + "/environ", "latin1").includes("SECRET_OF_THE_DAEMON")),
  other: attempt(() => fs.readFileSync("/proc/" + other + "/environ", "latin1").includes("SECRET_OF_THE_OTHER")),
  anybody: fs.readdirSync("/proc").some((pid) => {
    const environ = attempt(() => fs.readFileSync("/proc/" + pid + "/environ", "latin1"));
    return /SECRET_OF_THE_(?:DAEMON|OTHER)/.test(environ);
  }),
  files: attempt(() => fs.readdirSync(folder).sort()),
  key: attempt(() => fs.readFileSync(key, "utf8")),
  code: attempt(() => fs.readdirSync(otherFolder).sort()),
  signal: attempt(() => process.kill(daemon, 0)),
  own: [fs.existsSync(__filename), fs.existsSync(process.env.TMPDIR), process.cwd() === __dirname],
  isFirst: process.pid === 1,
  uid: process.getuid(),
});`;

const MACHINES = [
  ["namespaces of its own", "unshare", allowed],
  ["a machine that refuses them", refusing, {}],
] as const;

for (const [name, unshare, row] of MACHINES) {
  t.test(`what a function sees of the daemon and of another function: ${name}`, row, async (t) => {
    process.env.SECRET_OF_THE_DAEMON = "secret";
    t.teardown(() => delete process.env.SECRET_OF_THE_DAEMON);
    const folder = newFolder();
    const key = join(folder, "access.json");
    for (const file of [key, join(folder, "journal")]) writeFileSync(file, "the key");
    // The variables of this process are as they were at its start.
    const daemon = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    t.teardown(() => daemon.kill("SIGKILL"));
    const other = new LocalFunction({ command: [process.execPath, nodeRuntime], directory: newFolder() });
    t.teardown(() => other.destroy());
    writeFileSync(join(other.options.directory, "index.js"), "exports.handler = async () => process.env.TMPDIR;");
    Object.assign(other.options, { env: { SECRET_OF_THE_OTHER: "secret" } });
    const otherFolder = answerOf(await other.invoke({}));
    const aws = await startAws(t, { freezes: false, hides: [folder], unshare });
    const invoke = await activeFunction(aws.state, { "index.js": LOOKS });
    const event = { daemon: daemon.pid, other: other.pid, folder, key, otherFolder };
    const seen = answerOf(await invoke(JSON.stringify(event)));
    const uid = process.getuid!();
    const own = { own: [true, true, true], isFirst: false, uid };
    t.same(
      seen,
      unshare === refusing
        ? {
            ...{ daemon: true, other: true, anybody: true, files: ["access.json", "journal"], key: "the key" },
            ...{
              code: [],
              signal: true,
              unmounted: "the key",
              unmountedByRoot: allowed.skip === false ? "the key" : "",
              ...own,
            },
          }
        : {
            ...{ daemon: "ENOENT", other: "ENOENT", anybody: false, files: [], key: "ENOENT" },
            ...{ code: "ENOENT", signal: "ESRCH", unmounted: "", unmountedByRoot: "", ...own },
          },
    );
  });
}

const exited = (how: string) => ({
  errorType: "Runtime.ExitError",
  errorMessage: `Runtime exited with error: ${how}`,
});

const stateOf = (pid: number) => /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];

const WAYS = [
  ["without", undefined, {}],
  ["with", "unshare", allowed],
] as const;

for (const [way, unshare, row] of WAYS) {
  t.test(`how a function ends, ${way} namespaces of its own`, row, async (t) => {
    for (const [code, expected] of [
      ["process.exit(3)", exited("exit status 3")],
      ["process.exit(137)", exited("exit status 137")],
      ["process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})", exited("signal: killed")],
      ["process.kill(process.pid, 'SIGSEGV'); await new Promise(() => {})", exited("signal: segmentation fault")],
      ["process.kill(process.pid, 'SIGTERM'); await new Promise(() => {})", exited("signal: terminated")],
      ["process.abort()", exited("signal: aborted")],
      ["process.kill(0, 'SIGKILL'); await new Promise(() => {})", exited("signal: killed")],
      ["process.kill(-process.pid, 'SIGKILL'); await new Promise(() => {})", exited("signal: killed")],
    ] as const) {
      const target = functionOf(t, code, { unshare });
      t.same(answerOf(await target.invoke({})), expected, code);
      await target.idle();
      t.match(target.output, `Error: ${expected.errorMessage}\nRuntime.ExitError\n`, code);
      t.notMatch(target.output, "unshare", code);
      target.destroy();
    }
    const missing = functionOf(t, "", { unshare, command: ["/nonexistent/bootstrap"] });
    t.same(answerOf(await missing.invoke({})), {
      errorType: "Runtime.InvalidEntrypoint",
      errorMessage: "Error: fork/exec /nonexistent/bootstrap: spawn /nonexistent/bootstrap ENOENT",
    });
  });

  t.test(`the variables and the output of a function, ${way} namespaces of its own`, row, async (t) => {
    // No program that loads it can start.
    const libraries = newFolder();
    writeFileSync(join(libraries, "libmount.so.1"), "no library");
    const env = {
      IFS: ",",
      LD_LIBRARY_PATH: libraries,
      PATH: "/nonexistent:/bin",
      SHLVL: "7",
      user: "x",
      script: "a b",
    };
    const code = "console.error('an error'); console.log('a line'); return { ...process.env, pwd: process.cwd() };";
    const target = functionOf(t, code, { unshare, env });
    const { AWS_LAMBDA_RUNTIME_API, TMPDIR, ...variables } = answerOf(await target.invoke({}));
    t.match(variables, env);
    t.same(
      Object.keys(variables)
        .filter((name) => !/^(?:AWS_|LAMBDA_)/.test(name))
        .sort(),
      [...Object.keys(env), "LANG", "TZ", "_HANDLER", "pwd"].sort(),
    );
    t.equal(variables.pwd, target.options.directory);
    await until("both lines", () => /^a line$/m.test(target.output) && /^an error$/m.test(target.output));
  });

  t.test(`memory above the limit, ${way} namespaces of its own`, row, async (t) => {
    const code = `
      const held = [];
      while (held.length < 64) {
        held.push(Buffer.alloc(16 * 1024 * 1024, 1));
        require("node:child_process").spawnSync("sleep", ["0.02"]);
      }
      await new Promise(() => {});`;
    const identity = { ...TEST_IDENTITY, memoryMiB: 192 };
    const target = functionOf(t, code, { unshare, identity });
    t.same(answerOf(await target.invoke({})), exited("signal: killed"));
    await target.idle();
    t.match(target.output, /\tMemory Size: 192 MB\tMax Memory Used: 192 MB\t.*Status: error\t/);
  });

  t.test(`stopped between two requests, ${way} namespaces of its own`, row, async (t) => {
    const code =
      'return require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).pid > 0;';
    const target = functionOf(t, code, { unshare });
    for (const count of [1, 2]) {
      t.equal(answerOf(await target.invoke({})), true);
      await target.idle();
      const all = below(target.pid!).map((pid) => readFileSync(`/proc/${pid}/status`, "latin1"));
      t.equal(all.filter((status) => /^Name:\s+sleep$/m.test(status)).length, count);
      await until("all to be stopped", () => below(target.pid!).every((pid) => stateOf(pid) === "T"));
    }
  });

  t.test(`SIGTERM reaches a function with an extension, ${way} namespaces of its own`, row, async (t) => {
    const said = join(newFolder(), "said");
    const target = functionOf(t, "return process.pid;", { unshare });
    // Registered as the runtime is loaded, which waits for it.
    writeFileSync(
      join(target.options.directory, "index.js"),
      "throw Object.assign(new Error(), { code: 'ERR_REQUIRE_ESM' });",
    );
    writeFileSync(
      join(target.options.directory, "index.mjs"),
      `import { writeFileSync } from "node:fs";
      const headers = { "Lambda-Extension-Name": "own" };
      const url = "http://" + process.env.AWS_LAMBDA_RUNTIME_API + "/2020-01-01/extension/register";
      await fetch(url, { method: "POST", headers, body: '{"events":[]}' });
      process.on("SIGTERM", () => {
        writeFileSync(${JSON.stringify(said)}, "");
        process.kill(process.pid, "SIGKILL");
      });
      export const handler = async () => 1;`,
    );
    t.equal(answerOf(await target.invoke({})), 1);
    await target.idle();
    const pid = target.pid!;
    await target.shutDown();
    await until("its end", () => !existsSync(`/proc/${pid}/environ`));
    t.ok(existsSync(said));
  });
}

t.test("variables that shells take for their own are passed on", allowed, async (t) => {
  const env = { OPTIND: "abc", PPID: "1", LINENO: "x", IFS: "a", ENV: "/nothing" };
  const code = "return Object.fromEntries(Object.keys(event).map((name) => [name, process.env[name]]));";
  const target = functionOf(t, code, { env, unshare: "unshare" });
  t.same(answerOf(await target.invoke(env)), env);
});

t.test("an attempt that does not end is given up", allowed, async (t) => {
  const clock = new TestClock();
  const refusal = refusalOfNamespaces(program("exec sleep 600"), clock);
  await until("the attempt", () => clock.timers.length === 1);
  await clock.advance(10_000);
  t.equal(await refusal, "the attempt took too long");
});

t.test("the working directory does not lead out", allowed, async (t) => {
  const folder = newFolder();
  const directory = join(folder, "between/own");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(folder, "between/secret"), "");
  const namespaces = { unshare: "unshare", hides: [folder], keeps: [directory] };
  const target = functionOf(t, 'return require("node:fs").readdirSync("..");', { directory, namespaces });
  t.same(answerOf(await target.invoke({})), ["own"]);
});

t.test(
  "a folder is hidden whatever its name, and one that is not there, and may come back, is a refusal",
  allowed,
  async (t) => {
    const reads = (folder: string) => `return require("node:fs").readdirSync(${JSON.stringify(folder)});`;
    for (const name of ["a b", "tab\there", "line\nend", "back\\slash", "#", "no-break\u00a0", "wide\u3000x", "é"]) {
      const hidden = join(newFolder(), name);
      mkdirSync(hidden);
      writeFileSync(join(hidden, "secret"), "");
      const target = functionOf(t, reads(hidden), { namespaces: { unshare: "unshare", hides: [hidden], keeps: [] } });
      t.same(answerOf(await target.invoke({})), [], JSON.stringify(name));
    }
    const gone = join(newFolder(), "gone");
    const target = functionOf(t, "", { namespaces: { unshare: "unshare", hides: [gone], keeps: [] } });
    t.match(answerOf(await target.invoke({})), { errorType: "Runtime.NoNamespaces", errorMessage: gone });
  },
);

t.test("one that lost its parent is ended when it has, and no process can end process 1", allowed, async (t) => {
  const code = `
    const fs = require("node:fs");
    const { spawn, spawnSync } = require("node:child_process");
    const state = (pid) => /^State:\\s+(\\w)/m.exec(fs.readFileSync("/proc/" + pid + "/status", "latin1"))?.[1];
    const own = () => fs.readdirSync("/proc").filter((pid) => Number(pid) > 0);
    spawnSync("sh", ["-c", "(exec sleep 0.05) & exit"]);
    try { process.kill(1, "SIGKILL"); } catch {}
    spawnSync("sh", ["-c", "kill -9 $(cat /proc/1/task/1/children)"]);
    for (;;) {
      const states = own().flatMap((pid) => { try { return state(pid); } catch { return []; } });
      if (!states.includes("Z")) break;
      spawnSync("sleep", ["0.01"]);
    }
    return own().includes("1");`;
  const target = functionOf(t, code, { unshare: "unshare" });
  t.equal(answerOf(await target.invoke({})), true);
});

for (const [name, text, expected] of [
  ["at once", "echo 'unshare: no room' >&2; exit 1", "unshare: no room"],
  ["without a word", "exit 9", "ended with exit status 9"],
  ["in its second half", 'case "$*" in *--pid*) exec unshare "$@" ;; esac; echo "too many" >&2; exit 1', "too many"],
] as const) {
  t.test(`a start that fails ${name}, although others did not`, allowed, async (t) => {
    const target = functionOf(t, "", { unshare: program(text) });
    const { errorType, errorMessage } = answerOf(await target.invoke({}));
    t.equal(errorType, "Runtime.NoNamespaces");
    t.match(errorMessage, "the function gets no namespaces of its own: ");
    t.match(errorMessage, expected);
    await target.idle();
    t.match(target.output, `Error: ${errorMessage}\nRuntime.NoNamespaces\n`, "it is in the log");
  });
}

for (const [name, unshare, row] of MACHINES) {
  t.test(`a deployed app, and what tool sandbox and the log say: ${name}`, row, async (t) => {
    const programs = newFolder();
    if (unshare !== "unshare") writeFileSync(join(programs, "unshare"), readFileSync(unshare), { mode: 0o755 });
    const sandbox = testSandbox(t, { PATH: `${programs}:${process.env.PATH}` });
    const app = newFolder();
    const source = `const { readdirSync } = require("node:fs");
      require("node:http").createServer((_, res) => {
        res.end(JSON.stringify({ files: readdirSync(${JSON.stringify(sandbox.folder)}) }));
      }).listen(process.env.PORT);`;
    writeFileSync(join(app, "app.js"), source);
    writeFileSync(join(app, "tool.json"), '{ "name": "seen" }');
    const deployed = await sandbox.tool(app, "deploy");
    t.equal(deployed.code, 0, deployed.stderr);
    const { files } = JSON.parse((await sandbox.ask("seen", "staging")).body);
    const log = readFileSync(join(sandbox.folder, "daemon.log"), "utf8");
    const said = "functions get no namespaces of their own, and see what you see: ";
    const shown = (await sandbox.tool(app, "sandbox")).stdout;
    const { namespaces } = JSON.parse((await sandbox.tool(app, "sandbox", "--format", "json")).stdout);
    if (unshare === "unshare") {
      t.same(files, []);
      t.same(namespaces, { allowed: true, reason: null });
      t.match(shown, "\n  hidden    other processes, and the sandbox's files\n");
      t.notMatch(log, said);
    } else {
      const reason = "unshare: unshare failed: Operation not permitted";
      t.ok(files.includes("access.json"));
      t.same(namespaces, { allowed: false, reason });
      t.match(shown, `\n  hidden    nothing: no namespaces (${reason})\n`);
      t.equal(log.split(`${said}${reason}\n`).length, 2, "once");
    }
  });
}
