// The messages of the command on Windows: which commands need WSL, and that the others work.
import { join } from "node:path";
import t from "tap";
import { describeTable } from "../../cli/table.ts";
import { refusedHere } from "../../cli/windows.ts";
import { tool } from "../support/cli.ts";
import { startLsp } from "../support/lsp-client.ts";

const REFUSED = [
  "deploy",
  "start",
  "build",
  "run",
  "sandbox",
  "sandbox status",
  "sandbox start",
  "sandbox stop",
  "sandbox mail",
  "sandbox reset",
  "service init",
  "service start",
  "service token",
  "service owner",
  "service sign-in",
  "service check",
  "service backup",
  "service restore",
  "service migrate",
  "service owner",
  "service sign-in",
  "team",
  "team status",
  "team login",
  "team switch",
  "team logout",
  "team add",
  "team members ls",
  "team members add",
  "team members role",
  "team members link",
  "team members rm",
  "team ci",
  "team ci ls",
  "team ci rm",
  "upgrade",
];
const HINT = "use WSL: wsl --install, then install Node and tool there; tool validate and the editor work on Windows";

t.test("each command", async (t) => {
  const names = describeTable().map(({ name }) => name);
  for (const name of REFUSED) t.ok(names.includes(name), `there is a command ${name}`);
  for (const name of names) {
    const expected = REFUSED.includes(name)
      ? { message: `tool ${name} does not run on Windows`, hint: HINT }
      : undefined;
    t.same(refusedHere("win32", name), expected, `${name} on Windows`);
    for (const platform of ["linux", "darwin", "freebsd"] as const) {
      t.equal(refusedHere(platform, name), undefined, `${name} on ${platform}`);
    }
  }
});

t.test("the command on a Node that says it is on Windows", async (t) => {
  const folder = t.testdir({
    "preload.cjs": 'Object.defineProperty(process, "platform", { value: "win32" });',
    app: {
      "tool.json": '{ "name": "app", "hooks": { "build": "echo built > built" }, "stages": { "beta": {} } }',
      "app.js": "throw new Error('started');",
    },
    wrong: { "tool.json": '{ "name": "app", "type": "serve" }' },
  });
  const NODE = { NODE_OPTIONS: `--require ${join(folder, "preload.cjs")}` };
  const run = (argv: readonly string[], cwd = "app", stdin?: string) =>
    tool(argv, {
      cwd: join(folder, cwd),
      env: NODE,
      ...(stdin !== undefined && { stdin }),
    });

  const refused: [argv: string[], command: string][] = [
    [["start"], "start"],
    [["start", "--address", "127.0.0.1:0", "--format", "json"], "start"],
    [[], "deploy"],
    [["beta"], "deploy"],
    [["deploy", "production", "--no-build", "--verbose"], "deploy"],
    [["run", "build"], "run"],
    [["build", "--size"], "build"],
    [["service", "init", "--data", "data"], "service init"],
    [["team", "login", "--email", "ann@example.com"], "team login"],
    [["service", "token", "ls", "--data", "data"], "service token"],
  ];
  for (const [argv, command] of refused) {
    t.same(
      await run(argv),
      { code: 1, signal: null, stdout: "", stderr: `error: tool ${command} does not run on Windows\n  ${HINT}\n` },
      `tool ${argv.join(" ")}`,
    );
  }

  t.match(await run(["validate"]), { code: 0, stderr: "" });
  t.match(await run(["validate"], "wrong"), { code: 1, stdout: /"type"/ });
  t.match(await run(["config"]), { code: 0, stdout: /"name": "app"/ });
  t.match(await run(["logs", "--file", "-"], "app", '{"level":"error","message":"bad"}\n'), { code: 0, stdout: /bad/ });
  t.match(await run(["help", "start"]), { code: 0, stdout: /--address/ });
  const editor = startLsp({ env: NODE });
  t.match(await editor.initialize(), { result: { capabilities: { completionProvider: {} } } }, "the editor");
  t.equal(await editor.stop(), 0);
});
