// The answers of `tool start`: the rows of vectors/http*.json once more, all of them through one process of the real
// command. Its folder and its tool.json become each suite's in turn, and an edit is in force without a restart: so this
// also shows that nothing of a configuration outlives it. No row is left out.
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { type Running, startTool } from "../support/cli.ts";
import {
  checkLogs,
  checkResponse,
  httpSuites,
  inRealTime,
  type Suite,
  sendRow,
  titleOf,
} from "../support/http-rows.ts";
import { ask, commandOf, configOf, type File, writeFiles, writtenConfig } from "../support/runtime.ts";
import { until } from "../support/until.ts";

// Not below this project, whose package.json would say that an app is a module.
const directory = mkdtempSync(join(tmpdir(), "tool-start-"));
writeFileSync(join(directory, "tool.json"), '{ "name": "before-all", "type": "static" }');
const { running, url } = await startTool(directory, ["--format", "json"]);
const port = Number(new URL(url).port);
const entries = entriesOf(running);

t.teardown(async () => {
  running.kill("SIGTERM");
  await running.ended;
  rmSync(directory, { recursive: true });
});

for (const [index, suite] of httpSuites().entries()) {
  t.test(suite.name, async (t) => {
    let limit: boolean | undefined;
    for (const row of suite.rows.map(inRealTime)) {
      const isLimited = row.status === 504 || writtenConfig(suite).proxy?.timeout === undefined;
      if (isLimited !== limit) await become(isLimited ? suite : withPatience(suite), `suite-${index}-${isLimited}`);
      limit = isLimited;
      await t.test(titleOf(row), async (t) => {
        if (row.logs === undefined) return checkResponse(t, row, await sendRow(port, row));
        const before = await marked();
        checkResponse(t, row, await sendRow(port, row));
        checkLogs(t, row, entries().slice(before, (await marked()) - MARK_ENTRIES));
      });
    }
  });
}

t.test("the process of all these rows is still the first, and ends as it should", async (t) => {
  t.equal(entries().filter(({ message }) => message === "request failed inside the proxy").length, 0);
  running.kill("SIGTERM");
  const { code, stdout } = await running.ended;
  t.equal(code, 0);
  t.notMatch(stdout, /app exited/, "no app went down by itself");
});

/**
 * The suite for rows that do not ask for its `proxy.timeout`. The command runs by the time of the machine, and one that
 * stopped for longer than the suite's timeout would answer 504 to any of them.
 */
function withPatience(suite: Suite): Suite {
  return { ...suite, config: { ...suite.config, proxy: { ...writtenConfig(suite).proxy, timeout: 25 } } };
}

/** The name is new each time, so that each suite is an edit. */
async function become(suite: Suite, name: string): Promise<void> {
  for (const file of readdirSync(directory)) {
    if (file !== "tool.json" && file !== ".tool") rmSync(join(directory, file), { recursive: true });
  }
  const command = commandOf(suite);
  const config = writtenConfig(suite);
  const pages = `${configOf(suite).error_pages.dir}/`;
  writeFiles(
    directory,
    filesOf(suite, (file) => !file.startsWith(pages)),
  );
  const proxy = { ...config.proxy, ...(command !== undefined && { command }) };
  const changes = () => running.stderr().split("tool.json reloaded; ").length;
  const before = changes();
  // As editors do that write beside and rename.
  writeFileSync(join(directory, "tool.json.new"), JSON.stringify({ ...config, name, proxy }, null, 2));
  renameSync(join(directory, "tool.json.new"), join(directory, "tool.json"));
  await until(`${suite.name} to be in force`, () => {
    if (running.stderr().includes("keeps its previous configuration")) throw new Error(running.stderr());
    return changes() > before;
  });
  // A page with a broken template is refused in an edit of tool.json, and lived with where it comes later.
  writeFiles(
    directory,
    filesOf(suite, (file) => file.startsWith(pages)),
  );
  // An app that starts says so, and that is none of what a request made.
  if (command !== undefined) await ask(port, { path: "/" });
}

/** Without a tool.json: rows with one ask whether it is served, and the project's own is there for that. */
function filesOf(suite: Suite, has: (file: string) => boolean): Record<string, File> {
  return Object.fromEntries(Object.entries(suite.files ?? {}).filter(([file]) => file !== "tool.json" && has(file)));
}

/** Its request and its response. */
const MARK_ENTRIES = 2;
let marks = 0;

/** How many entries there are once all are there that earlier requests made: this request's own are the last. */
async function marked(): Promise<number> {
  const id = `mark-${++marks}`;
  await ask(port, { path: "/", headers: { "X-Request-Id": id } });
  const isResponse = ({ message, fields }: Entry) => message === "response" && fields.id === id;
  return until("the mark in the log", () => entries().findIndex(isResponse) + 1);
}

/** Returns the entries that a running command has written so far; each line is read once. */
function entriesOf(running: Running): () => readonly Entry[] {
  const entries: Entry[] = [];
  let readTo = 0;
  return () => {
    const end = running.stdout().lastIndexOf("\n") + 1;
    for (const line of running.stdout().slice(readTo, end).split("\n")) if (line !== "") entries.push(JSON.parse(line));
    readTo = end;
    return entries;
  };
}
