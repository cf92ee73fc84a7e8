// Commands on the sandbox while something is killed: the daemon, a function, or the command itself. Afterwards the same
// command ends well, what was answered is there, the app answers with what was deployed last, and no process is left.
// SANDBOX_ROUNDS=50 node dist/test/slow/sandbox-commands.js; SEED=1 draws the same rounds again.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { isRunning, spawnTool, tool } from "../support/cli.ts";
import { processesWith } from "../support/processes.ts";
import { randomOf } from "../support/random.ts";
import { gone, testSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

const ROUNDS = Number(process.env.SANDBOX_ROUNDS ?? 8);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

const source = (version: number) => `require("http").createServer((request, response) => {
  setTimeout(() => response.end("${version}"), request.url === "/slow" ? 200 : 0);
}).listen(process.env.PORT);
`;

type Victim = "daemon" | "function" | "command";

t.test(`${ROUNDS} rounds, SEED=${SEED}`, async (t) => {
  const draw = randomOf(SEED);
  const sandbox = testSandbox(t);
  const app = join(t.testdir(), "app");
  mkdirSync(app);
  let version = 0;
  const write = (config: object = {}) => {
    version += 1;
    writeFileSync(join(app, "app.js"), source(version));
    writeFileSync(join(app, "tool.json"), JSON.stringify({ name: "rounds", ...config }));
  };
  const run = (...argv: string[]) => sandbox.tool(app, ...argv);
  write();
  t.equal((await run("deploy")).code, 0);
  let deployed: number = version;

  /** The command of each action; gives back the version that staging answers with once it has ended well. */
  const ACTIONS: Record<string, () => { argv: string[]; after: number | undefined }> = {
    deploy() {
      write();
      return { argv: ["deploy"], after: version };
    },
    "deploy another stage"() {
      write();
      return { argv: ["deploy", "production"], after: deployed };
    },
    "stack apply"() {
      const names = ["a", "b", "c"].filter(() => draw.chance(0.5));
      const stages = Object.fromEntries(names.map((name) => [name, {}]));
      write({ stages });
      return { argv: ["stack", "apply", "--yes"], after: deployed };
    },
    "stack delete": () => ({ argv: ["stack", "delete", "--yes", "--logs"], after: undefined }),
    url: () => ({ argv: ["url"], after: deployed }),
  };

  for (let round = 1; round <= ROUNDS; round += 1) {
    const name = draw.chance(0.12)
      ? "stack delete"
      : draw.pick(["deploy", "deploy", "deploy another stage", "stack apply", "url"]);
    const victim = draw.pick<Victim>(["daemon", "daemon", "function", "command"]);
    const { argv, after } = ACTIONS[name]!();
    const delayMs = draw.below(1_500);
    const title = `round ${round}: ${name}, kill the ${victim} after ${delayMs} ms`;

    const { pid: daemon, port } = sandbox.daemon();
    const requests = [0, 1, 2].map(() => sandbox.ask("rounds", "staging", "/slow").catch(() => undefined));
    const command = spawnTool(["-C", app, ...argv], { env: sandbox.env });
    await sleep(delayMs);
    // A command that starts another daemon may start functions, too, which are in a folder of their own.
    const folders = readdirSync(sandbox.env.TMPDIR!).filter((name) => name.startsWith("tool-functions-"));
    // It may have ended before.
    if (victim === "command") command.kill("SIGKILL");
    else if (victim === "daemon") process.kill(daemon, "SIGKILL");
    else for (const pid of sandbox.functions()) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    const { code, stderr } = await command.ended;
    await Promise.all(requests);
    if (victim === "daemon") {
      await gone(daemon);
      const left = () => folders.flatMap((name) => processesWith(`TMPDIR=${sandbox.env.TMPDIR}/${name}`));
      await until("the end of its functions", () => left().length === 0);
    }
    // A deploy tries its version before it counts: if that was killed, it says so, and nothing has changed.
    const isTried = /cannot run, so \w+ stays as it was: Runtime exited with error: signal: killed/.test(stderr);
    if (victim === "function") {
      t.equal(code, isTried && argv[0] === "deploy" ? 1 : 0, `${title}: the command does not mind: ${stderr}`);
      if (isTried) {
        t.equal((await sandbox.ask("rounds", "staging")).body, String(deployed), `${title}: the app is as it was`);
      }
    }

    const again = await run(...argv);
    t.equal(again.code, 0, `${title}: again: ${again.stderr}`);
    if (after === undefined) {
      t.equal((await sandbox.ask("rounds", "staging")).status, 404, `${title}: nothing answers`);
      write();
      t.equal((await run("deploy")).code, 0, `${title}: a deploy after it`);
      deployed = version;
    } else deployed = after;
    t.equal((await sandbox.ask("rounds", "staging")).body, String(deployed), `${title}: the app`);
    const status = JSON.parse((await run("stack", "--format", "json")).stdout);
    t.match(status.stack.state, /^(CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/, `${title}: the stack`);
    // Other programs may take a port that is free for a moment.
    const isSaid = [stderr, again.stderr].join().includes(`port ${port} is taken`);
    t.ok(sandbox.daemon().port === port || isSaid, `${title}: the same port`);
  }

  const { pid } = sandbox.daemon();
  await run("stack", "delete", "--yes", "--logs");
  await tool(["sandbox", "stop"], { env: sandbox.env });
  t.notOk(isRunning(pid));
  await until("the end of all functions", () => sandbox.functions().length === 0);
  t.notMatch(readFileSync(join(sandbox.folder, "daemon.log"), "utf8"), /Error/, "no bug of the daemon");
});
