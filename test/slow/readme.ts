// Every block of the README that is typed into a terminal is typed, in the order of the page: an app is deployed to the
// sandbox in place of an account, a log service and its people are on this machine. `Try it` and `Deploy it here first` are
// readme.test.ts's, which compares what they print, too, and `In a minute` is service-npm-start.ts's. A block that nothing runs fails here.
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { fillInstaller } from "../../cli/release/installer.ts";
import { npmPackageFiles } from "../../cli/release/npm-package.ts";
import { pinnedKeyOf } from "../../cli/release/statement.ts";
import { tarPieces } from "../../cli/release/tar.ts";
import { anyPort } from "../../runtime/port.ts";
import { cliPath, type Outcome, root, shell, spawnTool } from "../support/cli.ts";
import { startMailbox } from "../support/mailbox.ts";
import { CERTIFICATE, releaseOf, startReleaseHost } from "../support/release-host.ts";
import { requires } from "../support/require.ts";
import { until } from "../support/until.ts";

const skip = requires("bash") || requires("curl");
const SERVICE = "https://logs.example.com";

/** The blocks of shell by their heading, in order. */
const blocks = new Map<string, string[]>();
let heading = "";
for (const [, title, block] of readFileSync(join(root, "README.md"), "utf8").matchAll(
  /^#{2,3} (.+)$|^```sh\n([\s\S]*?)^```$/gm,
)) {
  if (title !== undefined) heading = title;
  else blocks.set(heading, [...(blocks.get(heading) ?? []), block!]);
}

const run = new Set<string>();
/** A block of the page, with some of its words replaced. A word that is not there fails. */
function block(title: string, place: number, replaced: Readonly<Record<string, string>> = {}): string {
  run.add(`${title} ${place}`);
  let text = blocks.get(title)?.[place] ?? "";
  if (text === "") throw new Error(`README.md has no block ${place} below ${title}`);
  for (const [word, by] of Object.entries(replaced)) {
    if (!text.includes(word)) throw new Error(`README.md has no longer in its block below ${title}: ${word}`);
    text = text.replaceAll(word, by);
  }
  return text;
}

t.test("every block of the README does what it says", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tool-readme-"));
  const app = join(directory, "hello");
  const env = {
    HOME: directory,
    XDG_STATE_HOME: join(directory, "state"),
    XDG_CONFIG_HOME: join(directory, "config"),
    NO_COLOR: "1",
  };
  const sandboxed = { ...env, TOOL_SANDBOX: "1" };
  const type = (text: string, more: Readonly<Record<string, string>> = env, cwd = app): Promise<Outcome> =>
    shell(`set -e\n${text}`, { cwd, env: more });
  t.teardown(async () => {
    await type("tool sandbox stop", sandboxed, directory);
    rmSync(directory, { recursive: true, force: true });
  });

  await t.test("Install", async (t) => {
    const { bin, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const { host, RELEASES } = await releaseHost(t, version);
    const trusting = { ...env, RELEASES, CURL_CA_BUNDLE: CERTIFICATE, NODE_EXTRA_CA_CERTS: CERTIFICATE };
    const folders = { BINDIR: join(directory, "own/bin"), NPM_CONFIG_PREFIX: join(directory, "npm") };
    const installed = await type(block("Install", 0), { ...trusting, ...folders }, directory);
    t.equal(installed.code, 0, installed.stderr);
    t.equal((await shell(`${folders.BINDIR}/tool version`, { env })).stdout.trim(), `${version}-pro`);
    t.ok(
      host.requests.some(({ path }) => path.endsWith("/RELEASE.sig")),
      "its signature was asked for",
    );
    const npm = { "1.2.3": version, "npm install": "npm install --no-audit" };
    const packed = await type(block("Install", 1, npm), { ...trusting, ...folders }, directory);
    t.equal(packed.code, 0, packed.stderr);
    t.equal((await shell(`${folders.NPM_CONFIG_PREFIX}/bin/tool version`, { env })).stdout.trim(), `${version}-pro`);
    // `.ci/run` does it in a fresh clone.
    t.equal(block("Install", 2), "npm ci && npm run build && npm link\n");
    t.equal(join(root, bin.tool), cliPath);
  });

  t.equal(block("In a minute", 0), "npm start\n");
  block("In a minute", 1);

  // The app of `Try it`, without its last line, which runs it.
  mkdirSync(directory, { recursive: true });
  const [setup, questions] = [block("Try it", 0), block("Try it", 1)];
  await type(setup.replace(/^tool start$/m, ""), env, directory);
  t.match(questions, "tool logs 'status >= 500 and path = /fail'");
  block("Deploy it here first", 0);

  await t.test("Deploy it", async (t) => {
    // Its log is followed until somebody ends it, and without a terminal nobody is asked before a stack is removed.
    const words = { "tool logs -f": "tool url", "tool stack delete": "tool stack delete --yes" };
    const { code, stdout, stderr } = await type(block("Deploy it", 0, words), sandboxed);
    t.equal(code, 0, stderr);
    t.match(stdout, /_app\/hello\/staging\//);
    t.match(stdout, /deleted|removed/i);
  });

  await t.test("Deploy it here first", async (t) => {
    const config = readFileSync(join(app, "tool.json"), "utf8");
    writeFileSync(join(app, "tool.json"), JSON.stringify({ ...JSON.parse(config), stages: { preview: {} } }));
    const { code, stdout, stderr } = await type(block("Deploy it here first", 1));
    t.equal(code, 0, stderr);
    t.match(stdout, /_app\/hello\/preview\//, "a stage of one's own");
    writeFileSync(join(app, "tool.json"), config);
    t.equal((await type("tool stack delete --sandbox --yes")).code, 0);
  });

  await t.test("Variables and secrets", async (t) => {
    writeFileSync(join(app, ".env.staging"), "COLOR=green\n");
    const words = { "tool env add API_KEY -": "printf secret | tool env add API_KEY -" };
    const { code, stdout, stderr } = await type(block("Variables and secrets", 0, words), sandboxed);
    t.equal(code, 0, stderr);
    for (const name of ["API_KEY", "DB_URL", "COLOR"]) t.match(stdout, new RegExp(name));
    t.notMatch(stdout, "postgres://db/app", "values are not listed");
  });

  await t.test("In CI", async (t) => {
    const { code, stdout, stderr } = await type(block("In CI", 0), sandboxed);
    t.equal(code, 0, stderr);
    t.equal(JSON.parse(readFileSync(join(app, "problems.sarif"), "utf8")).version, "2.1.0");
    t.match(JSON.parse(stdout.slice(stdout.indexOf("{"))), { url: /^http:/ });
  });

  await t.test("A log service", (t) => logService(t, directory, env));

  await t.test("none was left out", (t) => {
    const all = [...blocks].flatMap(([title, texts]) => texts.map((_, place) => `${title} ${place}`));
    t.same(
      all.filter((name) => !run.has(name)),
      [],
    );
    t.end();
  });
});

function withoutOptional(manifest: Buffer): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(manifest.toString()), optionalDependencies: undefined }));
}

/** A Git host with a release, whose command is that of this project, and the address of its releases. */
async function releaseHost(t: Test, version: string) {
  const { privateKey } = generateKeyPairSync("ed25519");
  const host = await startReleaseHost(t);
  const filled = { origin: host.origin, edition: "pro", keys: [pinnedKeyOf(privateKey)] };
  const files = { "bin/tool": `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n` };
  const bundles = join(root, "dist/bin");
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  // Without the packages with binaries, for which npm would ask a registry.
  const packed = npmPackageFiles({ root, bundles, version, lock, notices: "" }).map((file) =>
    file.path === "package/package.json" ? { ...file, content: withoutOptional(file.content) } : file,
  );
  const npm = [...tarPieces(packed, 0)];
  const release = releaseOf({ version, key: privateKey, files })
    .set("install.sh", Buffer.from(fillInstaller(readFileSync(join(root, "cli/release/install.sh"), "utf8"), filled)))
    .set(`tool-${version}.tgz`, gzipSync(Buffer.concat(npm)));
  host.releases.set(version, release);
  return { host, RELEASES: `${host.pages}/acme/tool/releases` };
}

async function logService(t: Test, directory: string, env: Readonly<Record<string, string>>): Promise<void> {
  const app = join(directory, "hello");
  const port = await anyPort();
  const url = `http://127.0.0.1:${port}`;
  const type = (text: string, cwd: string) => shell(`set -e\n${text}`, { cwd, env });
  const [init, start] = block("A log service", 0, { [SERVICE]: url }).split(/^(?=TOOL_SMTP_URL=)/m) as [string, string];
  const initialized = await type(init, directory);
  t.equal(initialized.code, 0, initialized.stderr);
  t.match(initialized.stdout + initialized.stderr, `${url}/sign-in/link/`, "a link that signs ann in");
  const mailbox = await startMailbox(t);
  const words = /^TOOL_SMTP_URL=\S+ \\\n {2}tool (.*)\n$/.exec(start)?.[1]?.split(" ");
  const service = spawnTool([...words!, "--address", `127.0.0.1:${port}`], {
    cwd: directory,
    env: { ...env, TOOL_SMTP_URL: mailbox.url },
  });
  t.teardown(async () => {
    service.kill("SIGTERM");
    await service.ended;
  });
  await until("the service to listen", () => service.messages.length > 0);

  const lines = block("A log service", 1, { [SERVICE]: url })
    .trimEnd()
    .split("\n");
  const [login, add, send, ask, ci] = lines.map((line) => line.replace(/ +#.*$/, ""));
  const signingIn = spawnTool(login!.split(" ").slice(1), { cwd: app, env });
  t.teardown(() => signingIn.kill("SIGKILL"));
  const code = await until("the code", () => /^ {4}(\d{3} \d{3})$/m.exec(signingIn.stderr())?.[1]);
  const mail = await mailbox.next("ann@example.com");
  const link = /\/sign-in\/confirm\/(\S+)/.exec(mail.link)?.[1];
  const confirmed = await fetch(`${url}/confirm_sign_in`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ link, code }),
  });
  if (confirmed.status !== 200) throw new Error(await confirmed.text());
  t.match(await signingIn.ended, { code: 0 });

  t.match(await type(add!, app), { code: 0 }, add ?? "");
  const sends = async (entries: number, more: Readonly<Record<string, string>> = {}) => {
    const started = spawnTool([...send!.split(" ").slice(1), "--address", "127.0.0.1:0"], {
      cwd: app,
      env: { ...env, ...more },
    });
    t.teardown(() => started.kill("SIGKILL"));
    const at = await until("the app to listen", () => started.messages[0] as { url: string } | undefined);
    t.equal((await fetch(new URL("/fail", at.url))).status, 500);
    const lines = await until("the entry in the service", async () => {
      const { code, stdout, stderr } = await type(ask!, app);
      // The project is there once the first entries are.
      if (code !== 0 && !/no project/i.test(stderr)) throw new Error(stderr);
      const lines = stdout.split("\n").filter((text) => text.includes("/fail"));
      return lines.length === entries ? lines : undefined;
    });
    for (const line of lines) t.match(line, '"status":500');
    started.kill("SIGTERM");
    t.match(await started.ended, { code: 0 });
  };
  await sends(1);

  // There is no clipboard where tests run.
  const token = await type(ci!.replace(" --copy", ""), app);
  t.equal(token.code, 0, token.stderr);
  await sends(2, { TOOL_CONFIG: token.stdout.trim() });

  const made = await type(`TOKEN=$(${block("Alerts", 0).trim()})\necho "$TOKEN"`, directory);
  t.equal(made.code, 0, made.stderr);
  const [first, second] = block("Alerts", 1, { [SERVICE]: url, '"shop"': '"hello"' }).split(/^(?=curl .*add_alert)/m);
  const withToken = { cwd: directory, env: { ...env, TOKEN: made.stdout.trim() } };
  const { id } = JSON.parse((await shell(first!, withToken)).stdout) as { id: string };
  const alert = await shell(second!.replace("<id>", id), withToken);
  t.match(JSON.parse(alert.stdout), { id: /./ });
}
