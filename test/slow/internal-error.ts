// The end of a command that meets a mistake of its own: exit 70, a plain sentence, stdout one valid document. And that
// failures of the outside world are none: exit 1.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import sarifSchema from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" with { type: "json" };
import { Ajv } from "ajv";
import t from "tap";
import type { Command } from "../../cli/command-row.ts";
import { isMistake } from "../../cli/mistake.ts";
import { describeTable } from "../../cli/table.ts";
import { shell, tool } from "../support/cli.ts";

/** Loaded before the command: each of its functions fails as a slip of the programmer does. */
const FAULT = `
const Module = require("node:module");
const load = Module._load;
Module._load = function (request, ...rest) {
  const loaded = load.call(this, request, ...rest);
  if (!/^\\.\\/commands\\//.test(request)) return loaded;
  // Also what a module holds in groups: \`members.ls\`.
  const failing = new Proxy(async () => { return undefined.length; }, { get: () => failing });
  return new Proxy(loaded, { get: () => failing });
};`;

/** The same, from a timer that no command awaits, while the command is still busy. */
const LATE_FAULT = FAULT.replace(
  "return undefined.length;",
  'setTimeout(() => { throw new TypeError("late"); }); return new Promise(() => setTimeout(() => {}, 20_000));',
);

function wordsOf({ name, minWords }: Command): string[] {
  return [...name.split(" "), ...["a", "b"].slice(0, minWords)];
}

const STREAMS = ["logs", "lsp", "run", "start", "service start"];

t.test("every command ends a mistake of its own with 70", async (t) => {
  const cwd = t.testdir({ "fault.cjs": FAULT, "tool.json": '{ "name": "app" }' });
  const env = { NODE_OPTIONS: `--require=${join(cwd, "fault.cjs")}` };
  const commands = describeTable().filter(({ name }) => name !== "version" && name !== "help");
  t.ok(commands.length > 25, "the table is read");
  for (const command of commands) {
    const words = wordsOf(command);
    const { code, stdout, stderr } = await tool([...words, "--format", "json"], { cwd, env });
    t.equal(code, 70, `${command.name}: ${stderr}`);
    t.match(stderr, /^error: internal error: Cannot read properties of undefined/, command.name);
    t.match(stderr, "this is a bug in tool, not in your project", command.name);
    t.notMatch(stderr, /\n\s+at /, `${command.name}: no stack`);
    if (STREAMS.includes(command.name)) t.equal(stdout, "", command.name);
    else t.match(JSON.parse(stdout), { error: { code: "internal", message: /^internal error: / } }, command.name);
  }
});

t.test("the formats of validate, a stack with --verbose, and a mistake that nobody awaits", async (t) => {
  const cwd = t.testdir({ "fault.cjs": FAULT, "late.cjs": LATE_FAULT, "tool.json": '{ "name": "app" }' });
  const run = (file: string, ...argv: string[]) =>
    tool(argv, { cwd, env: { NODE_OPTIONS: `--require=${join(cwd, file)}` } });

  const { $schema: _, id: __, ...schema } = sarifSchema;
  const isSarif = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);
  for (const file of ["fault.cjs", "late.cjs"]) {
    const sarif = await run(file, "validate", "--format", "sarif");
    t.equal(sarif.code, 70, file);
    const log = JSON.parse(sarif.stdout);
    t.ok(isSarif(log), `${file}: valid`, { errors: isSarif.errors });
    t.match(log.runs[0].invocations, [{ executionSuccessful: false, exitCode: 70 }], file);
  }
  const github = await run("fault.cjs", "validate", "--format", "github");
  t.match(github.stdout, /^::error title=internal\/error::internal error: [^\n]+\n$/);
  const text = await run("late.cjs", "deploys");
  t.same([text.code, text.stdout], [70, ""]);
  t.match(text.stderr, "error: internal error: late\n");
  t.match(
    (await run("fault.cjs", "config", "--verbose")).stderr,
    /report it with the lines below\nTypeError: .*\n\s+at /,
  );
  const counted = await run("fault.cjs", "logs", "--count", "--format", "json");
  t.match(JSON.parse(counted.stdout), { error: { code: "internal" } });
});

t.test("a full disk, a closed pipe and a network that is not there are failures", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }' });
  // A port that just was free: nothing listens there.
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  const service = `logs --service http://127.0.0.1:${port} --project app --limit 1`;
  const rows: [line: string, message: RegExp][] = [
    [`tool ${service}`, /ECONNREFUSED/],
    ...(process.platform === "linux"
      ? ([
          ["tool config > /dev/full", /^error: ENOSPC: no space left on device/],
          ["tool validate --format json > /dev/full", /^error: ENOSPC/],
          ["tool --version > /dev/full", /^error: ENOSPC: no space left on device/],
        ] as [string, RegExp][])
      : []),
  ];
  for (const [line, message] of rows) {
    const { code, stderr } = await shell(line, { cwd, env: { TOOL_LOGS_TOKEN: "t" } });
    t.equal(code, 1, `${line}: ${stderr}`);
    t.match(stderr, message, line);
    t.notMatch(stderr, /internal error|\n\s+at |error:[\s\S]*error:/, line);
  }
  // The reader goes away at once; what the command could not write is no mistake of it.
  writeFileSync(join(cwd, "tool.json"), `{ ${'"x": 1, '.repeat(20_000)} "name": "app" }`);
  const closed = await shell("set -o pipefail; tool validate --format json | true; echo $?", { cwd });
  t.match(closed.stdout, /^1\n$/);
  t.equal(closed.stderr, "");
});

t.test("the exit code counts where stderr cannot be written", { skip: process.platform !== "linux" }, async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "A B" }', good: { "tool.json": '{ "name": "app" }' } });
  const rows: [line: string, code: number][] = [
    ["tool validate nope 2>/dev/full", 2],
    ["tool frobnicate 2>/dev/full", 2],
    ["tool logs --file nope error 2>/dev/full", 2],
    ["tool run nohook 2>/dev/full", 2],
    ["tool validate 2>/dev/full", 1],
    ["tool validate >/dev/full 2>/dev/full", 1],
    ["tool validate -C good 2>/dev/full", 0],
  ];
  for (const [line, code] of rows) t.equal((await shell(line, { cwd })).code, code, line);
});

t.test("a working folder that is gone", { skip: process.platform !== "linux" }, async (t) => {
  const cwd = t.testdir({ gone: {}, app: { "tool.json": '{ "name": "app" }' } });
  const inGone = (line: string) =>
    shell(`unset NODE_OPTIONS; mkdir -p gone && cd gone && rmdir ../gone && ${line}`, { cwd });
  t.same((await inGone("tool --version")).code, 0);
  t.match(await inGone(`tool validate -C ${cwd}/app`), { code: 0, stdout: "tool.json is valid\n" });
  const { code, stderr } = await inGone("tool validate");
  t.equal(code, 2);
  t.match(stderr, /^error: there is no folder "\."\n/);
  t.notMatch(stderr, /\n\s+at /);
});

t.test("what is a mistake, and what is the world", (t) => {
  const coded = (code: string) => Object.assign(new Error(code), { code });
  class Foreseen extends Error {}
  const rows: [name: string, thrown: unknown, wanted: boolean][] = [
    ["a slip of types", new TypeError("x is undefined"), true],
    ["a name that is not defined", new ReferenceError("x"), true],
    ["an assertion in words", new Error("the period 1s was not checked"), true],
    ["wrong arguments of Node", Object.assign(new TypeError("the argument"), { code: "ERR_INVALID_ARG_TYPE" }), true],
    ["a mistake that was wrapped", new Error("cannot write", { cause: new TypeError("x") }), true],
    ["what is no error", "text", true],
    ["undefined", undefined, true],
    ["a full disk", coded("ENOSPC"), false],
    ["a full disk that was wrapped", new Error("cannot write", { cause: coded("ENOSPC") }), false],
    ["fetch without a network", new TypeError("fetch failed", { cause: coded("ENOTFOUND") }), false],
    ["a connection that ends", new TypeError("terminated", { cause: coded("UND_ERR_SOCKET") }), false],
    ["all addresses refuse", new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")]), false],
    ["an answer of the cloud", Object.assign(new Error("no"), { $metadata: { httpStatusCode: 400 } }), false],
    ["a class of its own", new Foreseen("no"), false],
    ["a write after the pipe closed", coded("ERR_STREAM_DESTROYED"), false],
    ["DuckDB on a full disk", new Error("IO Error: Could not write file: No space left on device"), false],
  ];
  for (const [name, thrown, wanted] of rows) t.equal(isMistake(thrown), wanted, name);
  t.end();
});
