// Each command once, started as people do: on the package for npm, by each Node that `.ci/run` has, a command that lacks a file
// or that this Node cannot run fails here. The other tests hold what commands do.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import t from "tap";
import { root, startProcesses, startTool, tool } from "../support/cli.ts";
import { openApp } from "../support/deployed-app.ts";
import { startLsp } from "../support/lsp-client.ts";
import { slow } from "../support/slow.ts";

startProcesses();

const started = new Set<string>();

interface Row {
  /** The file in cli/commands. */
  readonly file: string;
  readonly words: string;
  readonly code?: number;
  readonly says: RegExp;
}

const LOGS = {
  alerts: { errors: { query: "status >= 500", operator: ">", threshold: 1, interval: "1m", notify: "ops" } },
  notifications: { ops: { type: "email", email_addresses: ["ops@example.com"] } },
};

const inFolder: readonly Row[] = [
  { file: "validate", words: "validate", says: /^tool\.json is valid$/m },
  { file: "config", words: "config", says: /"name": "app"/ },
  { file: "build", words: "build --size", says: /\d/ },
  { file: "run", words: "run build", says: /^built$/m },
  { file: "docs", words: "docs", says: /\.html$/m },
  { file: "completion", words: "completion bash", says: /complete / },
  { file: "logs", words: "logs --file app.log --count error", says: /^1$/m },
  { file: "alerts", words: "alerts test --file app.log", says: /errors/ },
  { file: "sandbox", words: "sandbox", says: /^the sandbox is not running$/m },
  { file: "team", words: "team", says: /^nobody is signed in$/m },
  { file: "upgrade", words: "upgrade", code: 1, says: /npm / },
  { file: "service", words: "service init --data data --team acme", says: /^lgs_\w+$/m },
  {
    file: "service-people",
    words: "service owner add ann@example.com --team acme --data data",
    says: /ann@example\.com/,
  },
  { file: "service-check", words: "service check --data data", says: /no damage found/ },
];

const deployed: readonly Row[] = [
  { file: "deploy", words: "", says: /^https:/m },
  { file: "deploy", words: "staging", says: /^https:/m },
  { file: "deploys", words: "deploys", says: /^staging .* current$/m },
  { file: "url", words: "url", says: /^https:/m },
  { file: "rollback", words: "rollback", says: /staging/ },
  { file: "prune", words: "prune", says: /staging/ },
  { file: "env", words: "env add WORD=two", says: /WORD/ },
  { file: "metrics", words: "metrics", says: /requests/ },
  { file: "stack", words: "stack", says: /staging/ },
  { file: "domains", words: "domains ls", says: /^the account has no domains$/m },
];

t.test("in a folder", slow(), async (t) => {
  const cwd = t.testdir({
    "tool.json": JSON.stringify({ name: "app", hooks: { build: "echo built" }, logs: LOGS }),
    "package.json": "{}",
    "app.js": 'require("node:http").createServer((_, response) => response.end("here")).listen(process.env.PORT);',
    "app.log":
      '{"time":"2026-01-15T12:00:00Z","level":"error","message":"a"}\n{"time":"2026-01-15T12:00:01Z","level":"info","message":"b"}\n',
  });
  const env = { XDG_CONFIG_HOME: join(cwd, "config"), XDG_CACHE_HOME: join(cwd, "cache") };
  for (const { file, words, code = 0, says } of inFolder) {
    const outcome = await tool(words.split(" "), { cwd, env });
    t.equal(outcome.code, code, `tool ${words}`) || t.comment(outcome.stderr);
    t.match(outcome.stdout + outcome.stderr, says, `what tool ${words} says`);
    started.add(file);
  }

  const { running, url } = await startTool(cwd);
  t.teardown(() => running.kill("SIGKILL"));
  t.equal(await (await fetch(url)).text(), "here", "tool start");
  running.kill("SIGTERM");
  t.equal((await running.ended).code, 0, "tool start ends");
  started.add("start");

  const client = startLsp();
  await client.initialize({ capabilities: {} });
  t.equal(await client.stop(), 0, "tool lsp ends");
  started.add("lsp");
});

t.test("of a deployed app", slow(), async (t) => {
  const { app, configure } = await openApp(t, {});
  for (const { file, words, says } of deployed) {
    // Rollback goes back from this one.
    if (words === "staging") configure({ environment: { WORD: "two" } });
    const outcome = await app.tool(words.split(" ").filter(Boolean));
    t.equal(outcome.code, 0, `tool ${words}`.trim()) || t.comment(outcome.stderr);
    t.match(outcome.stdout + outcome.stderr, says, `what ${`tool ${words}`.trim()} says`);
    started.add(file);
  }
});

t.test("each command was started", slow(), (t) => {
  const commands = readdirSync(join(root, "cli/commands")).map((name) => basename(name, ".ts"));
  t.same([...started].sort(), commands.sort());
  t.end();
});
