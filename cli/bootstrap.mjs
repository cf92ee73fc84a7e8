// The first steps of `npm start` and `npm test` on a clone: install if the lockfile changed, build if a source did.
// Plain JavaScript on Node alone: it runs before anything is installed or compiled.
import { execFile, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lookup } from "node:dns/promises";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const example = "examples/node-server";
const dataFolder = ".tool/service";
const tokenFile = ".tool/service.token";

/** Browsers and most systems look up names below localhost as this machine (RFC 6761, section 6.3). */
const OWN_HOST = "tool.localhost";

/** Before the log service is started again, which is tried for as long as the app runs. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** A process that ends sooner did not start. */
const STABLE_MS = 10_000;
/** A little more than the log service takes to answer what is under way; one that is stopped answers nothing. */
const STOP_MS = 12_000;
/** Length of what it wrote while it started, from the end. */
const MAX_SAID_LENGTH = 10_000;

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `tool needs Node 20.19 or newer, this is ${process.version}: install a newer Node (24 is recommended).`,
  );
  process.exit(1);
}

const [, , task, ...words] = process.argv;
if (task !== "prepare" && task !== "start") {
  console.error("usage: node cli/bootstrap.mjs prepare|start");
  process.exit(2);
}
prepare();
if (task === "start") start(words);

function prepare() {
  step("node_modules/.tool-stamp", hash(["package-lock.json", "package.json"]) + process.version, "npm ci", [
    "ci",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ]);
  step("dist/.tool-stamp", hash(sources()), "npm run build", ["run", "--silent", "build"]);
}

/** Runs npm unless the stamp says that it ran on exactly this input. The stamp goes first, so that a failure runs again. */
function step(stampPath, stamp, name, args) {
  const file = join(root, stampPath);
  if (existsSync(file) && readFileSync(file, "utf8") === stamp) return;
  rmSync(file, { force: true });
  const begin = Date.now();
  console.log(`${name} ...`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { status, error } = spawnSync(npm, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) {
    console.error(`${name} failed${error ? `: ${error.message}` : ""}. What it printed is above.`);
    process.exit(status ?? 1);
  }
  console.log(`${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stamp);
}

/** Every file that the build reads, and none that it writes: it would run once more. */
function sources() {
  const folders = ["grammar", "schema", "language-server", "vscode-extension", "cli", "runtime", "logservice", "test"];
  const paths = ["package.json", "package-lock.json", "tsconfig.json"];
  const walk = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory() && entry.name !== "node_modules" && entry.name !== "dist") walk(path);
      // A link with which an editor locks a file leads nowhere.
      else if (entry.isFile() && /\.(tsx?|mjs|ohm|json|css)$/.test(entry.name) && !entry.name.includes(".generated."))
        paths.push(path);
    }
  };
  for (const folder of folders) if (existsSync(join(root, folder))) walk(folder);
  return paths.sort();
}

function hash(paths) {
  const sum = createHash("sha256");
  for (const path of paths) sum.update(`${path}\0`).update(readFileSync(join(root, path)));
  return sum.digest("hex");
}

/**
 * The example app behind the proxy, beside a log service that gets its log, and what to try once it answers.
 * TOOL_APP_ADDRESS and TOOL_SERVICE_ADDRESS say where, as `--address` does.
 */
async function start(args) {
  const cli = "node dist/bin/cli.cjs";
  const service = await startService();
  const signedIn = service && signIn(service);
  const sandbox = service && (await joinSandbox(service, signedIn));
  const address = process.env.TOOL_APP_ADDRESS;
  const words = [...(address ? ["--address", address] : []), ...(service ? ["--logs-url", service.url] : []), ...args];
  const child = spawn(process.execPath, ["dist/bin/cli.cjs", "-C", example, "start", "--no-env", ...words], {
    cwd: root,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: service ? { ...process.env, TOOL_LOGS_TOKEN: service.token, TOOL_LOGS_URL: service.url } : process.env,
  });
  child.on("message", async (message) => {
    if (message?.type !== "listening") return;
    const person = await signedIn;
    const address = message.url.replace(/\/$/, "");
    // Cookies ignore ports: where the log service has no host of its own, the app gets another one.
    const isShared = person !== undefined && new URL(person.url).hostname === "127.0.0.1";
    const url = isShared ? address.replace("//127.0.0.1:", "//localhost:") : address;
    console.log(`
  The app of ${example} answers at ${url}
${service ? `  Its log is kept by the log service at ${service.url}\n` : ""}${
  person ? `  The web UI: this link signs ${person.email} in, once, and shows the log:\n    ${person.url}\n` : ""
}
  Try, in another terminal of this folder:
    curl -i '${url}/api/orders/42?fail=1'
    ${cli} -C ${example} logs 'status >= 400'
    ${cli} -C ${example} logs -f
    ${cli} -C ${example} deploy --sandbox
${service ? `    TOOL_LOGS_TOKEN=$(cat ${tokenFile}) ${cli} -C ${example} logs --service ${service.url} -f\n` : ""}`);
  });
  // Ctrl-C reaches the child by the terminal's process group; this process only waits for it to finish.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("exit", async (code, signal) => {
    // After the app, whose last entries it still takes.
    await service?.stop();
    await sandbox?.leave();
    process.exit(code ?? (signal === "SIGINT" ? 130 : 1));
  });
}

/**
 * The log service on :5000 or the next free port, with its data below .tool, started again where it ends by itself;
 * undefined where it cannot run here.
 */
async function startService() {
  const isMade = existsSync(join(root, dataFolder, "records.sqlite"));
  const made = runTool(
    isMade
      ? ["service", "token", "add", "--scope", "all", "--description", "npm start", "--data", dataFolder]
      : ["service", "init", "--data", dataFolder],
    !isMade || !existsSync(join(root, tokenFile)),
  );
  if (made === undefined) return undefined;
  if (made !== "") writeFileSync(join(root, tokenFile), made, { mode: 0o600 });
  let child = runService(process.env.TOOL_SERVICE_ADDRESS);
  const url = await child.url;
  if (url === undefined) {
    console.log(`The log service does not run here, the app does without it: ${child.said().trim()}`);
    return undefined;
  }
  child.showErrors();

  const stopping = new AbortController();
  /** Restarts it until the end: the app's entries wait for it, and its address stays the same. */
  const keepRunning = async () => {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      const how = await child.ended;
      if (stopping.signal.aborted) return;
      if (child.livedMs() > STABLE_MS) waitMs = FIRST_WAIT_MS;
      console.log(`The log service ended (${how}) and is started again in ${waitMs / 1000} s; the app runs on.`);
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      child = runService(new URL(url).host);
      child.showErrors();
      if ((await child.url) !== undefined) console.log(`The log service is at ${url} again.`);
    }
  };
  const kept = keepRunning();
  return {
    url,
    token: readFileSync(join(root, tokenFile), "utf8"),
    async stop() {
      stopping.abort();
      child.end();
      await kept;
    },
  };
}

/**
 * Tells the sandbox of the log service, so that what is deployed there with `--sandbox` sends its entries to it. The app starts
 * without waiting for the link of the web UI, whose host is the page's.
 */
async function joinSandbox({ url, token }, signedIn) {
  // Built by now.
  const { SandboxFolder } = await import(pathToFileURL(join(root, "dist/cli/sandbox/folder.js")).href);
  const folder = SandboxFolder.of(process.env);
  const write = (pageUrl) => {
    try {
      folder.writeLogService({ url, token, pageUrl });
    } catch (error) {
      console.log(`What is deployed with --sandbox is not in the log service: ${error.message}`);
    }
  };
  write(url);
  let isOver = false;
  void signedIn.then((person) => {
    if (person !== undefined && !isOver) write(new URL(person.url).origin);
  });
  return {
    async leave() {
      isOver = true;
      folder.removeLogService(url);
    },
  };
}

/** A link that signs the person at this machine in, on a host that no app here has; undefined where that cannot be. */
async function signIn({ url: serviceUrl, token }) {
  const { hostname, port } = new URL(serviceUrl);
  if (hostname !== "127.0.0.1") return undefined;
  const isNamed = await lookup(OWN_HOST).then(
    ({ address }) => address === "127.0.0.1" || address === "::1",
    () => false,
  );
  const where = [
    "--data",
    dataFolder,
    "--format",
    "json",
    "--public-url",
    isNamed ? `http://${OWN_HOST}:${port}` : serviceUrl,
  ];
  const email = `${userName().replace(/[^A-Za-z0-9._-]/g, "") || "you"}@localhost`;
  for (const words of [
    ["service", "sign-in", email],
    ["service", "owner", "add", email],
  ]) {
    const made = await promisify(execFile)(process.execPath, ["dist/bin/cli.cjs", ...words, ...where], {
      cwd: root,
    }).catch(() => undefined);
    if (made === undefined) continue;
    const url = new URL(JSON.parse(made.stdout).sign_in_url);
    const view = await viewOfExample(serviceUrl, token);
    if (view !== undefined) url.searchParams.set("next", view);
    return { email, url: url.href };
  }
  return undefined;
}

/** The path of the page that shows the log of the example; undefined if the service does not say which team it is of. */
async function viewOfExample(serviceUrl, token) {
  const { name } = JSON.parse(readFileSync(join(root, example, "tool.json"), "utf8"));
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const answer = await fetch(`${serviceUrl}/get_account`, { method: "POST", headers, body: "{}" }).catch(
    () => undefined,
  );
  if (!answer?.ok) return undefined;
  const { account } = await answer.json();
  return `/t/${encodeURIComponent(account.team_id)}/p/${encodeURIComponent(name)}/events`;
}

/** Some containers run under a user that the system has no name for. */
function userName() {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

/** The log service's process, at the address or, without one, where it finds a port. */
function runService(address) {
  const beginMs = Date.now();
  const words = ["service", "start", "--data", dataFolder, ...(address ? ["--address", address] : [])];
  // A group of its own: Ctrl-C must not end it before the app has sent its last entries.
  const child = spawn(process.execPath, ["dist/bin/cli.cjs", ...words], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    detached: process.platform !== "win32",
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    if (said.length < MAX_SAID_LENGTH) said += text;
  });
  const ended = new Promise((done) => child.once("exit", (code, signal) => done(signal ?? `exit code ${code}`)));
  return {
    /** Undefined where it ended before it listened. */
    url: Promise.race([
      ended.then(() => undefined),
      new Promise((done) => child.once("message", ({ url }) => done(url.replace(/\/$/, "")))),
    ]),
    /** How it ended. */
    ended,
    said: () => said,
    livedMs: () => Date.now() - beginMs,
    showErrors() {
      process.stderr.write(said);
      child.stderr.on("data", (text) => process.stderr.write(text));
    },
    end() {
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
    },
  };
}

/** The output of a command of ours, as one line; "" if it is not wanted, undefined if it failed, which is printed. */
function runTool(words, isWanted) {
  if (!isWanted) return "";
  const { status, stdout, stderr } = spawnSync(process.execPath, ["dist/bin/cli.cjs", ...words], {
    cwd: root,
    encoding: "utf8",
  });
  if (status === 0) return stdout.trim();
  console.log(`The log service does not run here, the app does without it: ${stderr.trim()}`);
  return undefined;
}
