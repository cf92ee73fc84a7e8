// A PostgreSQL of this process alone: a cluster in a temporary folder, run by an ordinary user, that ends with the process. It
// sorts texts by ICU's rules for English unless told otherwise, so that whatever depends on the locale shows.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { until } from "./until.ts";

export interface TestPostgres {
  /** Makes a database unless it is there, and returns its address. */
  database(name: string): Promise<string>;
  /** Runs a statement in a database. */
  run(database: string, sql: string): Promise<readonly Record<string, unknown>[]>;
  /** The folder of its socket. */
  readonly socket: string;
  /** Ends the server as a crash does. */
  kill(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
}

const USER = "tool";
/** Debian has the programs of each version in a folder of its own, beside the path. */
const DEBIAN = "/usr/lib/postgresql";

/** The folder of its programs; undefined if it is not installed. */
function programs(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, "bin")), ...(process.env.PATH ?? "").split(":")];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** Whether a test must be skipped, as `requires` says it. */
export function requiresPostgres(): string | false {
  if (process.env.TOOL_TEST_REQUIRE === "all" || programs() !== undefined) return false;
  return "PostgreSQL is not installed (Debian: apt-get install postgresql)";
}

let running: Promise<TestPostgres> | undefined;

/** The server of this process, which the first call starts. */
export function testPostgres(): Promise<TestPostgres> {
  running ??= startPostgres();
  return running;
}

/** A name for the database of a folder: what opens the records of the same folder gets the same ones. */
export const databaseOf = (directory: string) =>
  `records_${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`;

async function startPostgres(): Promise<TestPostgres> {
  const bin = programs();
  if (bin === undefined) throw new Error(String(requiresPostgres()));
  const folder = mkdtempSync(join(tmpdir(), "tool-pg-"));
  const owner = ownerOf();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const log = join(folder, "log");
  const as = { ...owner, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" } };
  const locale = ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"];
  const made = ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions", ...locale];
  execFileSync(join(bin, "initdb"), made, { ...as, stdio: "pipe" });
  const settings = {
    listen_addresses: "",
    unix_socket_directories: folder,
    // It need not survive a crash of the machine.
    fsync: "off",
    full_page_writes: "off",
    shared_buffers: "32MB",
    max_connections: "200",
    autovacuum: "off",
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const start = async () => {
    const output = openSync(log, "a");
    const command = ["-c", GUARD, folder, join(bin, "postgres"), "-D", data, ...options];
    const guard = spawn("sh", command, { ...as, stdio: ["pipe", output, output] });
    closeSync(output);
    guard.unref();
    (guard.stdin as Socket).unref();
    await until(
      "PostgreSQL answers",
      () => answers(folder),
      () => readFileSync(log, "utf8"),
    );
  };
  await start();
  const names = new Map<string, Promise<unknown>>();
  const addressOf = (name: string) => `postgres://${USER}@localhost/${name}?host=${encodeURIComponent(folder)}`;
  const run = (database: string, sql: string) =>
    withClient(folder, database, async (client) => (await client.query(sql)).rows);
  return {
    socket: folder,
    run,
    async database(name) {
      const made = names.get(name) ?? run("postgres", `create database "${name}" template template0`);
      names.set(name, made);
      await made;
      return addressOf(name);
    },
    async kill() {
      const file = join(data, "postmaster.pid");
      process.kill(Number.parseInt(readFileSync(file, "utf8"), 10), "SIGQUIT");
      await until("PostgreSQL ends", () => !existsSync(file));
    },
    start,
  };
}

/** Ends the server and removes its folder when this process is gone, however that ended: then the input is at its end. */
const GUARD = '"$@" & pid=$!; cat > /dev/null; kill -QUIT $pid; wait $pid; rm -rf "$0"';

/** The user that runs it, as it refuses to run as root. */
function ownerOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" })));
  return { uid: uid!, gid: gid! };
}

const answers = (socket: string) => withClient(socket, "postgres", () => Promise.resolve(true)).catch(() => false);

async function withClient<T>(host: string, database: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ host, database, user: USER });
  client.on("error", () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
