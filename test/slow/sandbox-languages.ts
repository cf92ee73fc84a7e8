// From a folder to an app in the sandbox, in each language and for a static site: the examples, built by real compilers.
// Then a change, a rollback, a domain of its own and away; the log is followed while it is asked.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { root, spawnTool, until } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { ask, testSandbox } from "../support/sandbox.ts";

t.setTimeout(900_000);

const LANGUAGES = [
  { example: "node-server", needs: "node", path: "/api/orders/42", answers: /"id":42/ },
  { example: "static-site", needs: "node", path: "/", answers: /<html/ },
  { example: "python-server", needs: "python3", path: "/", answers: /./ },
  { example: "go-server", needs: "go", path: "/", answers: /./ },
  { example: "java-server", needs: "mvn", path: "/", answers: /./ },
] as const;

for (const { example, needs, path, answers } of LANGUAGES) {
  t.test(example, { skip: requires(needs), timeout: 300_000 }, async (t) => {
    const sandbox = testSandbox(t, { HOME: process.env.HOME ?? "", GOCACHE: join(t.testdir(), "go") });
    const app = join(t.testdir(), "app");
    cpSync(join(root, "examples", example), app, { recursive: true, filter: (from) => !from.endsWith(".tool") });
    const config = JSON.parse(readFileSync(join(app, "tool.json"), "utf8"));
    const { name } = config;
    const run = (...argv: string[]) => sandbox.tool(app, ...argv);

    const first = await run("deploy", "production", "--format", "json");
    t.equal(first.code, 0, first.stderr);
    t.match(JSON.parse(first.stdout), { stage: "production", version: "1", outcome: "created" });
    const followed = spawnTool(["-C", app, "logs", "-f", "-S", "1m"], { env: sandbox.env });
    t.teardown(() => followed.kill("SIGKILL"));
    const answer = await sandbox.ask(name, "production", path);
    t.ok(answer.status < 500, `${answer.status}: ${answer.body.slice(0, 200)}`);
    t.match(answer.body, answers);
    await until("the entry of the request", () => /"message":"response"/.test(followed.stdout()), 30_000);
    followed.kill("SIGINT");
    t.equal((await followed.ended).code, 130);

    writeFileSync(
      join(app, "tool.json"),
      JSON.stringify({
        ...config,
        headers: { "/*": { "X-Second": "yes" } },
        stages: { production: { domain: "a.example.com" } },
      }),
    );
    const second = await run("deploy", "production", "--format", "json");
    t.equal(second.code, 0, second.stderr);
    t.equal(JSON.parse(second.stdout).version, "2");
    t.equal((await sandbox.ask(name, "production", path)).headers["x-second"], "yes");
    const applied = await run("stack", "apply", "--yes");
    t.equal(applied.code, 0, applied.stderr);
    const { port } = sandbox.daemon();
    t.equal((await ask(port, "a.example.com", path)).headers["x-second"], "yes", "under its domain");
    t.equal((await run("rollback", "--stage", "production")).code, 0);
    t.equal((await ask(port, "a.example.com", path)).headers["x-second"], undefined);
    t.match((await run("metrics", "--stage", "production")).stdout, /^Requests +[1-9]/m);
    t.equal((await run("stack", "delete", "--yes", "--logs")).code, 0);
    t.equal((await ask(port, "a.example.com", path)).status, 403);
  });
}
