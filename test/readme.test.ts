// The README's example, typed into two terminals as it is there, prints what it says. `tool` and the port are the test's.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { anyPort } from "../runtime/port.ts";
import { checkConfig } from "../schema/index.ts";
import { cliPath, root } from "./support/cli.ts";
import { requires } from "./support/require.ts";

const skip = requires("bash") || requires("curl") || requires("script");

/** The lines typed into terminals there, and the lines printed, one after the other. */
function blocksOf(heading: string): { readonly typed: string[]; readonly printed: string[] } {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const section = readme.slice(readme.indexOf(`### ${heading}\n`)).split(/\n##+ /)[0]!;
  const blocks = (kind: string) =>
    [...section.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text]) => text!);
  return { typed: blocks("sh"), printed: blocks("text") };
}

/** Times, process ids and durations are others each time. */
const shape = (text: string) =>
  text
    .replace(/\d\d:\d\d:\d\d\.\d{3}/g, "TIME")
    .replace(/(pid|port)=\d+/g, "$1=N")
    .replace(/\d+(?:\.\d+)?m?s\b/g, "DURATION");

t.test("each tool.json of the README is valid", (t) => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const texts = [...readme.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
  t.ok(texts.length >= 2);
  for (const text of texts) t.strictSame(checkConfig(text).problems, [], text);
  t.end();
});

t.test("the example of the README does what it says, in two terminals", { skip }, async (t) => {
  const { typed, printed } = blocksOf("Try it");
  const [first = "", second = ""] = typed;
  const port = await anyPort();
  const directory = mkdtempSync(join(tmpdir(), "tool-readme-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const command = `tool() { "${process.execPath}" "${cliPath}" "$@"; }`;
  // A terminal prints for people; the port and the wait for it are the test's.
  const begun = spawn(
    "bash",
    [
      "-c",
      `set -e\n${command}\n${first.replace("tool start", `exec script -qec '"${process.execPath}" "${cliPath}" start --address 127.0.0.1:${port}' /dev/null`)}`,
    ],
    {
      cwd: directory,
      env: { ...process.env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let said = "";
  const listening = new Promise<void>((done) => {
    begun.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text.replaceAll("\r", "");
      if (said.includes("app listening") && said.endsWith("\n")) done();
    });
  });
  const ended = new Promise((done) => begun.once("close", done));
  t.teardown(() => begun.kill("SIGKILL"));
  await Promise.race([listening, ended]);
  t.equal(shape(said).replaceAll(`:${port}`, ":3000"), shape(printed[0]!));
  const answer = spawnSync(
    "bash",
    [
      "-c",
      `set -e\n${command}\ntool() { script -qec "'${process.execPath}' '${cliPath}' logs '$2'" /dev/null; }\n${second.replaceAll(":3000", `:${port}`)}`,
    ],
    { cwd: join(directory, "hello"), encoding: "utf8", timeout: 60_000, env: { ...process.env, NO_COLOR: "1" } },
  );
  t.equal(answer.status, 0, answer.stderr);
  t.equal(shape(answer.stdout.replaceAll("\r", "")), shape(printed[1]!));
  begun.kill("SIGTERM");
  await ended;

  const here = blocksOf("Deploy it here first");
  const stateHome = mkdtempSync(join(tmpdir(), "tool-readme-state-"));
  const env = { ...process.env, NO_COLOR: "1", XDG_STATE_HOME: stateHome };
  t.teardown(() => {
    spawnSync(process.execPath, [cliPath, "sandbox", "stop"], { env });
    rmSync(stateHome, { recursive: true, force: true });
  });
  const lines = here.typed[0]!.trimEnd().split("\n");
  // The log is text on a terminal only.
  const [deploy, curl, logs] = lines.map((line) =>
    line.startsWith("tool logs")
      ? line.replace(
          /^tool logs (.*)$/,
          (_, words) => `script -qec "'${process.execPath}' '${cliPath}' logs ${words}" /dev/null`,
        )
      : line,
  );
  const deployed = spawnSync("bash", ["-c", `set -e\n${command}\n{ ${deploy}\n${curl}\n${logs}\n} 2>&1`], {
    cwd: join(directory, "hello"),
    encoding: "utf8",
    timeout: 60_000,
    env,
  });
  t.equal(shapeHere(deployed.stdout.replaceAll("\r", "")), shapeHere(here.printed[0]!));
});

/** Ports, sizes and the form of the URL depend on the machine. */
const shapeHere = (text: string) =>
  shape(text)
    .replace(/:40\d\d\//g, ":PORT/")
    .replace(/^http:.*$/m, "URL")
    .replace(/^in a browser: .*\n/m, "")
    .replace(/\d+(?:\.\d+)? KB/g, "SIZE")
    .replace(/\(\d+(?:\.\d+)?s\)/g, "(DURATION)")
    .replace(/\(DURATION\)/g, "(TIME)")
    .replace(/^(stack|publish.*|role.*|activate) \(.*\)$/gm, "$1");
