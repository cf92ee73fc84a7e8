// Functions in namespaces of their own: what they see of this machine, and that all else is as without them. Each row runs
// on a machine that refuses them, too, which is a program in place of `unshare`.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { type InvokeResult, LocalFunction } from "../../../cli/sandbox/function/function.ts";
import { refusalOfNamespaces } from "../../../cli/sandbox/function/namespaces-here.ts";
import { startAws } from "../../support/aws/index.ts";
import { activeFunction } from "../../support/sandbox-function.ts";

const here = dirname(fileURLToPath(import.meta.url));
const nodeRuntime = resolve(here, "../../../cli/sandbox/cloud/lambda/node-runtime.js");

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-namespaces-")));
t.teardown(() => rmSync(scratch, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => {
  folders += 1;
  const path = join(scratch, String(folders));
  mkdirSync(path);
  return path;
};

/** A program with a text of its own. */
function program(text: string): string {
  const file = join(newFolder(), "program");
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

const refusal = await refusalOfNamespaces();
const allowed = refusal === undefined ? {} : { skip: `this machine refuses namespaces: ${refusal}` };

const refusing = program("echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1");

const answerOf = (result: InvokeResult) =>
  result.kind === "document" ? JSON.parse(result.payload.toString()) : (result as { error: object }).error;

/** Looks for secrets where a process of this user finds them. */
const LOOKS = `
const fs = require("node:fs");
const attempt = (read) => {
  try {
    return read();
  } catch (error) {
    return error.code;
  }
};
exports.handler = async ({ daemon, other, folder, key, otherFolder }) => ({
  daemon: attempt(() => fs.readFileSync("/proc/" + daemon + "/environ", "latin1").includes("SECRET_OF_THE_DAEMON")),
  other: attempt(() => fs.readFileSync("/proc/" + other + "/environ", "latin1").includes("SECRET_OF_THE_OTHER")),
  anybody: fs.readdirSync("/proc").some((pid) => {
    const environ = attempt(() => fs.readFileSync("/proc/" + pid + "/environ", "latin1"));
    return /SECRET_OF_THE_(?:DAEMON|OTHER)/.test(environ);
  }),
  files: attempt(() => fs.readdirSync(folder).sort()),
  key: attempt(() => fs.readFileSync(key, "utf8")),
  code: attempt(() => fs.readdirSync(otherFolder).sort()),
  signal: attempt(() => process.kill(daemon, 0)),
  own: [fs.existsSync(__filename), fs.existsSync(process.env.TMPDIR), process.cwd() === __dirname],
  isFirst: process.pid === 1,
  uid: process.getuid(),
});`;

for (const [name, unshare, row] of [
  ["namespaces of its own", "unshare", allowed],
  ["a machine that refuses them", refusing, {}],
] as const) {
  t.test(`what a function sees of the daemon and of another function: ${name}`, row, async (t) => {
    process.env.SECRET_OF_THE_DAEMON = "secret";
    t.teardown(() => delete process.env.SECRET_OF_THE_DAEMON);
    const folder = newFolder();
    const key = join(folder, "access.json");
    for (const file of [key, join(folder, "journal")]) writeFileSync(file, "the key");
    // The variables of this process are as they were at its start.
    const daemon = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    t.teardown(() => daemon.kill("SIGKILL"));
    const other = new LocalFunction({ command: [process.execPath, nodeRuntime], directory: newFolder() });
    t.teardown(() => other.destroy());
    writeFileSync(join(other.options.directory, "index.js"), "exports.handler = async () => process.env.TMPDIR;");
    Object.assign(other.options, { env: { SECRET_OF_THE_OTHER: "secret" } });
    const otherFolder = answerOf(await other.invoke({}));
    const aws = await startAws(t, { freezes: false, hides: [folder], unshare });
    const invoke = await activeFunction(aws.state, { "index.js": LOOKS });
    const event = { daemon: daemon.pid, other: other.pid, folder, key, otherFolder };
    const seen = answerOf(await invoke(JSON.stringify(event)));
    const uid = process.getuid!();
    const own = { own: [true, true, true], isFirst: false, uid };
    t.same(
      seen,
      unshare === refusing
        ? {
            ...{ daemon: true, other: true, anybody: true, files: ["access.json", "journal"], key: "the key" },
            ...{ code: [], signal: true, ...own },
          }
        : {
            ...{ daemon: "ENOENT", other: "ENOENT", anybody: false, files: [], key: "ENOENT" },
            ...{ code: "ENOENT", signal: "ESRCH", ...own },
          },
    );
  });
}
