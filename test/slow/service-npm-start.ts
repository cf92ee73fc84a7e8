// `npm start` in a copy of the project, as people run it: its requests are found in the log service beside it, also those
// that came while that was killed or stopped.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { anyPort } from "../../runtime/port.ts";
import { cleanEnv, root, shell, tool } from "../support/cli.ts";
import { commandOf, processesWith } from "../support/processes.ts";
import { Browser } from "../support/sign-in/browser.ts";
import { until } from "../support/until.ts";

const skip = process.platform === "linux" ? false : "needs /proc";

t.test("what npm start shows is found in its log service", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "npm-start-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  copyProject(folder);
  const processes = () => processesWith(`NPM_START_MARK=${folder}`);
  const processOf = (words: RegExp) => until(`${words}`, () => processes().find((pid) => words.test(commandOf(pid))));

  const child = spawn("npm", ["start"], {
    cwd: folder,
    env: cleanEnv({
      HOME: folder,
      NPM_START_MARK: folder,
      TOOL_APP_ADDRESS: `127.0.0.1:${await anyPort()}`,
      TOOL_SERVICE_ADDRESS: `127.0.0.1:${await anyPort()}`,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  t.teardown(() => {
    for (const pid of processes()) process.kill(pid, "SIGKILL");
  });

  const [, app] = await until(
    "the app",
    () => /answers at (\S+)/.exec(said),
    () => said,
  );
  const [, service] = /log service at (\S+)/.exec(said)!;
  const token = readFileSync(join(folder, ".tool/service.token"), "utf8");
  const ask = async (order: number) =>
    t.ok((await fetch(`${app}/api/orders/${order}`)).status < 500, "the app answers");
  const find = (order: number) =>
    until(`the response about the order ${order}`, async () => {
      const query = `message = response and path = /api/orders/${order}`;
      const env = { TOOL_LOGS_TOKEN: token };
      const cwd = join(folder, "examples/node-server");
      const { stdout } = await tool(["logs", "--service", service!, "--count", query], { cwd, env });
      return stdout.trim() === "1";
    });
  const serviceCommand = /cli\.cjs service start/;

  await ask(1);
  await find(1);

  const [, link] = /The web UI: this link signs \S+ in, once, and shows the log:\n\s+(\S+)/.exec(said)!;
  const { origin, searchParams } = new URL(link!);
  const browser = new Browser();
  const view = await browser.submit(await browser.open(link!));
  t.equal(view.url, `${origin}${searchParams.get("next")}`, "it leads to the log");
  t.match(view.url, /\/t\/default\/p\/orders\/events$/);
  t.match(view.text, /"message":"response"/, "which is there");

  // An app that is deployed in the sandbox is there, too, with nothing set up.
  const cwd = join(folder, "examples/node-server");
  const { typed, printed } = readmeBlocks();
  const lines = typed.trimEnd().split("\n");
  const question = lines.pop()!;
  const env = { HOME: folder, NO_COLOR: "1" };
  const deployed = await shell(`set -e\n${lines.join("\n")}\necho; tool url --sandbox`, { cwd: folder, env });
  t.equal(deployed.code, 0, deployed.stderr);
  t.match(deployed.stderr, `its log in a browser: ${origin}/t/default/p/orders/events\n`);
  // The log is text on a terminal only. Entries are sent after the answer.
  const inTerminal = `script -qec "node dist/bin/cli.cjs -C examples/node-server ${question.replace(/^tool /, "")}" /dev/null`;
  const shown = await until("the entry of the failure", async () => {
    const { stdout } = await shell(inTerminal, { cwd: folder, env });
    return stdout.includes("/api/orders/42") ? stdout.replaceAll("\r", "") : undefined;
  });
  const output = shape(deployed.stderr + shown);
  const expected = printed.split("\n").filter((line) => line !== "" && line !== "...");
  for (const line of expected) t.ok(output.includes(`${shape(line)}\n`), `${line}: ${output}`);
  const address = deployed.stdout.trimEnd().split("\n").at(-1)!;
  t.ok((await fetch(`${address}api/orders/77`)).status < 500, "the deployed app answers");
  await until("its entries", async () => {
    const query = "stage = staging and path = /api/orders/77 and message = request";
    const words = ["logs", "--service", service!, "--count", query];
    return (await tool(words, { cwd, env: { TOOL_LOGS_TOKEN: token } })).stdout.trim() === "1";
  });
  await tool(["sandbox", "stop"], { cwd, env: { HOME: folder } });

  const first = await processOf(serviceCommand);
  process.kill(first, "SIGKILL");
  await ask(2);
  await until("what is said", () => said.includes("The log service ended (SIGKILL) and is started again in 0.5 s"));
  await until("the same address", () => said.includes(`The log service is at ${service} again.`));
  await find(2);
  await find(1);

  const second = await processOf(serviceCommand);
  t.not(second, first);
  process.kill(second, "SIGSTOP");
  await ask(3);
  await sleep(4_000);
  process.kill(second, "SIGCONT");
  await find(3);
  t.equal(await processOf(serviceCommand), second, "it goes on");

  // Ctrl-C ends also what does not answer any more.
  process.kill(second, "SIGSTOP");
  process.kill(await processOf(/^node cli\/bootstrap\.mjs start/), "SIGINT");
  await ended;
  await until("the end of all", () => processes().length === 0);
  t.notOk(existsSync(join(folder, ".local/state/tool/sandbox/logs.json")), "the sandbox is told");
});

/** The lines typed into the second terminal below `In a minute`, and those printed there. */
function readmeBlocks(): { readonly typed: string; readonly printed: string } {
  const section = readFileSync(join(root, "README.md"), "utf8").split("\n## ")[1]!;
  const blocks = (kind: string) =>
    [...section.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text]) => text!);
  return { typed: blocks("sh")[1]!, printed: blocks("text")[0]! };
}

/** Times, ports and the name of this machine are others each time. */
const shape = (text: string) =>
  text
    .replace(/\d\d:\d\d:\d\d\.\d{3}/g, "TIME")
    .replace(/\b\d+(?:\.\d+)?m?s\b/g, "DURATION")
    .replace(/(?:tool\.localhost|127\.0\.0\.1):\d+/g, "HOST");

/** The project with everything that is installed and built, and links instead of copies of packages. */
function copyProject(folder: string): void {
  // Other tests write to .tap while this one copies.
  const left = new Set(["node_modules", ".git", ".tool", ".tap"]);
  cpSync(root, folder, { recursive: true, filter: (path) => !left.has(basename(path)) });
  const packages = join(root, "node_modules");
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(packages)) {
    if (name !== ".tool-stamp") symlinkSync(join(packages, name), join(folder, "node_modules", name));
  }
  const stamp = join(packages, ".tool-stamp");
  if (existsSync(stamp)) cpSync(stamp, join(folder, "node_modules/.tool-stamp"));
}
