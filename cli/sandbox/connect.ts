// From a command to its sandbox: finds the daemon of this person, or starts it.

import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock, Timer } from "../../grammar/units/clock.ts";
import { version } from "../version.ts";
import { proofOf, type SandboxLanguage, type SandboxMail, type SandboxStatus } from "./control.ts";
import { type Access, SandboxFolder } from "./folder.ts";
import { inheritedFiles } from "./inherited-files.ts";
import { signatureHeaders } from "./signature.ts";

/** A running sandbox, as commands use it. */
export interface Sandbox {
  readonly folder: SandboxFolder;
  readonly access: Access;
  readonly port: number;
  /** Whether this machine resolves `*.localhost`. */
  readonly resolvesNames: boolean;
  status(): Promise<SandboxStatus>;
  /** Throws an `AppInUse` if the name belongs to another folder. */
  claim(app: string, directory: string, options: { readonly deploys: boolean }): Promise<void>;
  /** Whether the code of a version is as it was deployed. */
  isWhole(app: string, version: string): Promise<boolean>;
  mails(): Promise<readonly SandboxMail[]>;
  languages(): Promise<readonly SandboxLanguage[]>;
  /** Why functions have no namespaces of their own; undefined if they have. */
  refusalOfNamespaces(): Promise<string | undefined>;
  /** Resolves when the daemon is gone. */
  stop(): Promise<void>;
}

/** The sandbox cannot run, or refuses. */
export class SandboxError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}

interface Effects {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Says a line to the person who waits. */
  readonly say: (text: string) => void;
}

/** It gives back memory when it is idle (daemon.ts), and needs little for what is young. */
const NODE_FLAGS = ["--expose-gc", "--max-semi-space-size=2"];

const PASSED = ["PATH", "HOME", "LANG", "TMPDIR", "TZ", "TOOL_SANDBOX_IDLE_MS"];

/** Time for a daemon to answer or to listen. It does within a fraction of a second; a busy machine may take longer. */
const START_MS = 20_000;
const ANSWER_MS = 5_000;
/** It may ask programs for their version first, or start one. */
const LANGUAGES_MS = 30_000;
/** A thousand mails of the longest kind. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const STOP_MS = 10_000;

/** The running sandbox; undefined if none runs. */
export async function findSandbox(env: Effects["env"], clock: Clock): Promise<Sandbox | undefined> {
  const folder = SandboxFolder.of(env);
  return folder.exists ? running(folder, clock) : undefined;
}

/** Ends the sandbox, also one that does not answer. Returns whether there was one. */
export async function stopSandbox(env: Effects["env"], clock: Clock): Promise<boolean> {
  const folder = SandboxFolder.of(env);
  if (!folder.exists) return false;
  const sandbox = await running(folder, clock);
  if (sandbox !== undefined) {
    await sandbox.stop();
    return true;
  }
  const pid = await silentDaemon(env);
  if (pid === undefined) return false;
  process.kill(pid, "SIGTERM");
  await ended(pid, SandboxFolder.of(env), clock);
  return true;
}

/** The process of a daemon that runs and does not answer; undefined if there is none. */
export async function silentDaemon(env: Effects["env"]): Promise<number | undefined> {
  const folder = SandboxFolder.of(env);
  if (!folder.exists) return undefined;
  const { livingOwnerOf } = await import("../../logservice/admin.ts");
  const pid = await livingOwnerOf(folder.path).catch(() => undefined);
  return pid !== undefined && isDaemon(pid, folder) ? pid : undefined;
}

/** A number alone proves nothing: the file that holds it may be damaged, or the process another one by now. */
function isDaemon(pid: number, { path }: SandboxFolder): boolean {
  const words = wordsOf(pid);
  return words.some((word) => /(?:sandbox-daemon\.cjs|daemon-process\.js)$/.test(word)) && words.includes(path);
}

/** The command line of a process; empty if it has ended, or gave its memory back and is about to. */
function wordsOf(pid: number): readonly string[] {
  try {
    const words =
      process.platform === "linux"
        ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
        : execFileSync("ps", ["-p", String(pid), "-o", "args="], { encoding: "utf8" }).split(" ");
    return words.filter((word) => word !== "");
  } catch {
    return [];
  }
}

/** The running sandbox, started if none runs, or one of another build of the tool does. */
export async function connectSandbox({ env, clock, say }: Effects): Promise<Sandbox> {
  const folder = SandboxFolder.of(env);
  makeFolder(folder);
  const sandbox = await running(folder, clock);
  if (sandbox !== undefined && folder.daemon()?.build === build()) return sandbox;
  if (sandbox !== undefined) {
    say("the sandbox of another version of tool is replaced");
    await sandbox.stop();
  }
  const portBefore = folder.access().port;
  const begun = clock.monotonicMs();
  for (let tries = 0; ; tries += 1) {
    // Again now and then: the one that was there at first may have just ended.
    if (tries % 50 === 0) await start(folder, { env, clock });
    const sandbox = await running(folder, clock);
    if (sandbox !== undefined) {
      if (portBefore !== undefined && portBefore !== sandbox.port) {
        say(`port ${portBefore} is taken: the sandbox is at port ${sandbox.port} from now on`);
      }
      return sandbox;
    }
    if (clock.monotonicMs() - begun > START_MS) {
      throw new SandboxError(
        "the sandbox runs and does not answer",
        `tool sandbox stop ends it; its log is ${folder.log}`,
      );
    }
    await clock.sleep(20);
  }
}

function makeFolder(folder: SandboxFolder): void {
  try {
    folder.make();
    folder.access();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SandboxError(
      code === undefined ? message : `the sandbox's folder ${folder.path} cannot be written: ${reasonOf(error)}`,
      code === undefined
        ? undefined
        : "make room or give yourself access to it, or set XDG_STATE_HOME to another folder",
      { cause: error },
    );
  }
}

/** The daemon that answers with the proof that it knows our key. Whoever else has the port gets nothing from us. */
async function running(folder: SandboxFolder, clock: Clock): Promise<Sandbox | undefined> {
  const daemon = folder.daemon();
  if (daemon === undefined || !isAlive(daemon.pid)) return undefined;
  const access = folder.access();
  const { port } = daemon;
  const nonce = randomBytes(16).toString("hex");
  const call = (operation: string, input: object) => callDaemon({ access, port, clock }, operation, input);
  const status = async () => {
    const response = (await call("status", { nonce })) as SandboxStatus;
    if (response.proof !== proofOf(nonce, access.secretAccessKey)) throw new SandboxError("another program answered");
    return response;
  };
  let resolvesNames: boolean;
  try {
    ({ resolvesNames } = await status());
  } catch {
    return undefined;
  }
  return {
    folder,
    access,
    port,
    resolvesNames,
    status,
    async claim(app, directory, { deploys }) {
      await call("claim", { app, directory, deploys });
    },
    async languages() {
      try {
        return ((await call("languages", {})) as { languages: SandboxLanguage[] }).languages;
      } catch (error) {
        // A daemon of another build; the next command that works on it replaces it.
        if (error instanceof SandboxError) return [];
        throw error;
      }
    },
    async refusalOfNamespaces() {
      try {
        return ((await call("namespaces", {})) as { refusal: string | null }).refusal ?? undefined;
      } catch (error) {
        // Likewise.
        if (error instanceof SandboxError) return "the sandbox is of another version of tool";
        throw error;
      }
    },
    isWhole: async (app, version) => ((await call("whole", { app, version })) as { isWhole: boolean }).isWhole,
    mails: async () => ((await call("mails", {})) as { mails: SandboxMail[] }).mails,
    async stop() {
      await call("stop", {});
      await ended(daemon.pid, folder, clock);
    },
  };
}

/** Waits for the end of the daemon, which is killed if it takes too long. */
async function ended(pid: number, folder: SandboxFolder, clock: Clock): Promise<void> {
  const begun = clock.monotonicMs();
  while (isAlive(pid)) {
    const isOurs = isDaemon(pid, folder);
    // Another process has its number by now. One that is ending has no command line any more.
    if (!isOurs && wordsOf(pid).length > 0) return;
    if (isOurs && clock.monotonicMs() - begun > STOP_MS) kill(pid);
    await clock.sleep(20);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // An ended process that its parent has not asked for yet (proc(5), the states Z and X).
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]$/.test(stat.charAt(stat.lastIndexOf(")") + 2));
  } catch {
    return true;
  }
}

function callDaemon(
  { access, port, clock }: { readonly access: Access; readonly port: number; readonly clock: Clock },
  operation: string,
  input: object,
): Promise<unknown> {
  const limitMs = /^(?:languages|namespaces)$/.test(operation) ? LANGUAGES_MS : ANSWER_MS;
  const body = Buffer.from(JSON.stringify(input));
  const host = `127.0.0.1:${port}`;
  const signedRequest = { method: "POST", target: `/${operation}`, headers: { host }, body };
  const scope = { accessKeyId: access.accessKeyId, region: "local", service: "sandbox" };
  const headers = {
    ...signatureHeaders(signedRequest, scope, access.secretAccessKey, clock.nowMs()),
    "content-length": body.length,
  };
  return new Promise((resolve, reject) => {
    const req = request(
      { host: "127.0.0.1", port, method: "POST", path: signedRequest.target, headers, agent: false },
      (res) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        res.on("data", (part: Buffer) => {
          parts.push(part);
          bytes += part.length;
          if (bytes > MAX_ANSWER_BYTES) req.destroy(new Error("a longer answer than any"));
        });
        res.on("error", reject);
        res.on("end", () => {
          try {
            const answer = JSON.parse(Buffer.concat(parts).toString());
            if (res.statusCode === 200) resolve(answer);
            else reject(refusalOf(answer));
          } catch (error) {
            reject(error);
          }
        });
      },
    );
    // In all, for what comes may come slowly.
    const timer = clock.after(limitMs, () => req.destroy(new Error("no answer in time")));
    req.once("close", () => timer.stop());
    req.on("error", reject);
    req.end(body);
  });
}

function refusalOf(answer: { readonly __type?: string; readonly message?: string }): SandboxError {
  if (answer.__type !== "AppInUse") return new SandboxError(`the sandbox refused: ${answer.message}`);
  const { app, owner, directory } = JSON.parse(answer.message ?? "{}");
  return new SandboxError(
    `the sandbox has another app of the name ${JSON.stringify(app)}: it is deployed from ${owner}, and this is ${directory}`,
    `give one of them another "name" in tool.json, or remove that one: tool -C ${owner} stack delete --sandbox`,
  );
}

/** Starts the daemon apart from this process: it lives on when the command and its terminal are gone. */
async function start(folder: SandboxFolder, { env, clock }: Pick<Effects, "env" | "clock">): Promise<void> {
  const log = openSync(folder.log, "a", 0o600);
  const nothing = openSync("/dev/null", "r");
  try {
    const stdio: (number | "ignore" | "ipc")[] = ["ignore", log, log, "ipc"];
    // Whatever the shell has open, as the lock of a script: the daemon would hold it until it ends.
    const inherited = inheritedFiles();
    for (let at = stdio.length; at <= Math.max(...inherited); at++) {
      stdio.push(inherited.includes(at) ? nothing : "ignore");
    }
    const child = spawn(process.execPath, [...NODE_FLAGS, daemonFile(), folder.path, build()], {
      cwd: folder.path,
      detached: true,
      stdio,
      // The variables that it needs and that functions get from it: nothing of this shell's secrets.
      env: Object.fromEntries(PASSED.map((name) => [name, env[name]])),
    });
    let timer: Timer | undefined;
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      // It says once that it listens, that another one does already, or why it cannot.
      child.once("message", (message: { readonly problem?: string }) => {
        if (message.problem === undefined) resolve();
        else reject(failed(folder, message.problem));
      });
      child.once("exit", (code) => reject(failed(folder, `the sandbox ended with exit code ${code}`)));
      timer = clock.after(START_MS, () => {
        child.kill("SIGKILL");
        reject(failed(folder, "the sandbox does not start"));
      });
    });
    timer?.stop();
    child.removeAllListeners();
    if (child.connected) child.disconnect();
    child.unref();
  } finally {
    closeSync(log);
    closeSync(nothing);
  }
}

function failed(folder: SandboxFolder, message: string): SandboxError {
  return new SandboxError(message, `its log is ${folder.log}`);
}

/** The daemon's program, beside the bundle of the command or what was compiled. */
function daemonFile(): string {
  const here = import.meta.url;
  // In a bundle the address is a path.
  return here.startsWith("file:")
    ? join(dirname(fileURLToPath(here)), "daemon-process.js")
    : join(dirname(here), "sandbox-daemon.cjs");
}

/** Tells the builds of the daemon apart. */
function build(): string {
  const { size, mtimeMs } = statSync(daemonFile());
  return `${version} ${size} ${Math.floor(mtimeMs)}`;
}

const reasonOf = (error: unknown) => (error as Error).message.replace(/^[A-Z]+: /, "").replace(/, .*$/, "");
