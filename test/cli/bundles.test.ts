// The installed files: dist/bin, small and complete.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import t from "tap";
import { cleanEnv, cliPath, root } from "../support/cli.ts";

const bin = join(root, "dist/bin");
const installed = readdirSync(bin, { recursive: true, encoding: "utf8" }).filter((name) =>
  statSync(join(bin, name)).isFile(),
);
const files = installed.filter((name) => name.endsWith(".cjs"));
/** A tree that was built before may hold the files of commands that are gone; a fresh clone does not. */
const MAX_MB = 10.6;

t.test(`all that is installed, the web UI with it, is at most ${MAX_MB} MB`, (t) => {
  const bytes = installed.reduce((sum, name) => sum + statSync(join(bin, name)).size, 0);
  t.ok(bytes > 1e6, "there is a build");
  t.ok(
    installed.some((name) => name.startsWith(join("ui", "assets"))),
    "and a web UI",
  );
  t.ok(bytes <= MAX_MB * 1e6, `${(bytes / 1e6).toFixed(1)} MB`);
  t.end();
});

t.test("every command has its file, and every file that one requires by path is there", (t) => {
  for (const name of readdirSync(join(root, "cli/commands"))) {
    t.ok(files.includes(join("commands", `${basename(name, ".ts")}.cjs`)), name);
  }
  for (const name of files) {
    const source = readFileSync(join(bin, name), "utf8");
    for (const [, path] of source.matchAll(/require\("(\.{1,2}\/[^"]+\.cjs)"\)/g)) {
      t.ok(files.includes(join(name, "..", path!)), `${name} requires ${path}`);
    }
  }
  t.end();
});

// Read as properties at each call, the exports of shared modules made a scan of a log take twice as long.
t.test("what is shared is kept in constants", (t) => {
  const sources = files
    .filter((name) => name.startsWith("commands/"))
    .map((name) => ({ name, source: readFileSync(join(bin, name), "utf8") }));
  t.ok(
    sources.some(({ source }) => /\}=require\("\.\/shared-\w+\.cjs"\)\[/.test(source)),
    "some are shared",
  );
  for (const { name, source } of sources) t.notMatch(source, /module\.exports=require\("\.\/shared-/, name);
  t.end();
});

t.test("a shared file is not a part of the bundles that require it", (t) => {
  // A message of the checker of tool.json, and a header of the proxy.
  const marks = { "shared-schema": "unknown key ", "shared-proxy": "x-forwarded-for" };
  for (const [file, mark] of Object.entries(marks)) {
    const holders = files.filter((name) => readFileSync(join(bin, name), "utf8").includes(mark));
    t.match(holders.join(" "), file, `${file} has it`);
    t.same(
      holders.filter((name) => readFileSync(join(bin, name), "utf8").includes(`${file}.cjs`)),
      [],
      holders.join(", "),
    );
  }
  t.end();
});

/** The most that Node loads of dist/bin, in KB of text: a start takes longer with each of them, whatever of it is used. */
const LOADED: readonly (readonly [line: string, maxKB: number])[] = [
  ["--version", 2],
  ["--help", 75],
  ["help logs", 75],
  ["sandbox", 103],
  ["logs --file log.ndjson", 538],
  ["logs --file log.ndjson level=error|count", 538],
  ["logs --file log.ndjson status>=500", 538],
  ["logs --file log.ndjson level==error", 650],
  ["logs", 816],
  ["validate", 868],
  ["config", 829],
  ["run build", 845],
  ["build --size", 1_074],
  ["start --address nowhere", 1_090],
  ["deploy", 2_030],
  ["url", 1_619],
];

t.test("what a command loads", async (t) => {
  const cwd = t.testdir({
    "tool.json": '{ "name": "app" }',
    "app.js": "",
    "log.ndjson": '{"timestamp":"2026-01-15T12:00:00.000Z","level":"info","message":"hello","fields":{}}\n',
    // Told by Node itself: what it was asked to require, by the size of its file.
    "count.cjs": `
      const { Module } = require("node:module");
      const { statSync, writeFileSync } = require("node:fs");
      process.on("exit", () => {
        const files = Object.keys(Module._cache).filter((file) => file.endsWith(".cjs") && file !== __filename);
        writeFileSync("loaded.json", JSON.stringify(files.map((file) => [file, statSync(file).size])));
      });`,
  });
  for (const [line, maxKB] of LOADED) {
    spawnSync(process.execPath, ["-r", join(cwd, "count.cjs"), cliPath, ...line.split(" ")], { cwd, env: cleanEnv() });
    const loaded: [string, number][] = JSON.parse(readFileSync(join(cwd, "loaded.json"), "utf8"));
    const kilobytes = loaded.reduce((sum, [, bytes]) => sum + bytes, 0) / 1_000;
    const names = loaded.map(([file]) => basename(file, ".cjs")).join(", ");
    t.ok(kilobytes <= maxKB, `${line}: ${kilobytes.toFixed(0)} KB of ${maxKB}: ${names}`);
    t.ok(kilobytes > maxKB / 2, `${line}: the bound is near`);
    rmSync(join(cwd, "loaded.json"));
  }
});
