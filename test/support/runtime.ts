// Real servers over loopback for the runtime's tests: a project folder, an app of test/apps, and raw HTTP.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Entry } from "../../grammar/entry.ts";
import { renderProblem } from "../../grammar/problem.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { type ProxyServerOptions, type RunningServer, serve } from "../../runtime/index.ts";
import { type Config, checkConfig, type ResolvedConfig, withDefaults } from "../../schema/index.ts";
import { TestClock } from "./test-clock.ts";
import { until } from "./until.ts";

export const apps = resolve(dirname(fileURLToPath(import.meta.url)), "../../../test/apps");

/** A file's text, `{ "bytes": n }` of zeros, or `{ "link": target }`. */
export type File = string | { readonly bytes: number } | { readonly link: string };

export interface Project {
  readonly config?: object;
  /** A program below test/apps; undefined for a static site. */
  readonly app?: string | undefined;
  /** In place of `app`: the shell command itself. */
  readonly command?: string;
  readonly files?: Readonly<Record<string, File>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly commit?: string;
  readonly isDevelopment?: boolean;
  /** The machine's by default. */
  readonly clock?: Clock;
}

export interface Running extends RunningServer {
  /** What it was started with, for a change of some of it. */
  readonly options: ProxyServerOptions;
  readonly directory: string;
  readonly entries: Entry[];
  /** Waits until the entries hold one that this accepts. */
  entry(accepts: (entry: Entry) => boolean): Promise<Entry>;
}

interface Test {
  teardown(handler: () => Promise<void>): void;
}

async function turned(clock: TestClock, promise: Promise<unknown>): Promise<void> {
  let isSettled = false;
  void promise.finally(() => {
    isSettled = true;
  });
  await until("the end of the server", async () => {
    await clock.advance(100);
    return isSettled;
  });
}

/** The time of all files of a project, so that Last-Modified is known. */
export const MODIFIED = new Date("2024-05-06T07:08:09Z");

export function makeProject(files: Readonly<Record<string, File>> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), "tool-runtime-"));
  writeFiles(directory, files);
  return directory;
}

export function writeFiles(directory: string, files: Readonly<Record<string, File>>): void {
  for (const [name, file] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    if (typeof file === "object" && "link" in file) {
      symlinkSync(file.link, path);
      continue;
    }
    writeFileSync(path, typeof file === "string" ? file : Buffer.alloc(file.bytes));
    utimesSync(path, MODIFIED, MODIFIED);
  }
}

/** Undefined for a static site. */
export function commandOf(project: Project): string | undefined {
  return project.command ?? (project.app && `exec ${process.execPath} ${join(apps, project.app)}`);
}

export async function start(t: Test, project: Project): Promise<Running> {
  const directory = makeProject(project.files);
  const entries: Entry[] = [];
  const command = commandOf(project);
  const options: ProxyServerOptions = {
    config: configOf(project),
    directory,
    stage: "development",
    version: "development",
    command,
    env: { PATH: process.env.PATH, ...project.env },
    host: "127.0.0.1",
    port: 0,
    log: (batch) => void entries.push(...batch),
    clock: project.clock,
    ...(project.commit !== undefined && { commit: project.commit }),
    isDevelopment: project.isDevelopment,
  };
  const server = await serve(options);
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close();
    return closed;
  };
  t.teardown(async () => {
    const ended = close();
    // Nobody else turns the clock any more, by which the app has some seconds to end.
    if (options.clock instanceof TestClock) await turned(options.clock, ended);
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  const entry = (accepts: (entry: Entry) => boolean) =>
    until(
      "an entry",
      () => entries.find(accepts),
      () => entries.map((found) => JSON.stringify(found)).join("\n"),
    );
  return { ...server, options, close, directory, entries, entry };
}

/** What a tool.json with this configuration comes to. */
export function configOf(project: Project): ResolvedConfig {
  return withDefaults(checkedConfig(project), { env: {} });
}

/** What the project's tool.json says. */
export function writtenConfig(project: Project): Config {
  return { name: "test", type: commandOf(project) === undefined ? "static" : "server", ...project.config };
}

/** The same, once it was checked: without defaults. */
export function checkedConfig(project: Project): Config {
  const text = JSON.stringify(writtenConfig(project), null, 2);
  const { config, problems } = checkConfig(text);
  const errors = problems.filter(({ severity }) => severity === "error");
  if (config === undefined || errors.length > 0) {
    throw new Error(problems.map((problem) => renderProblem(problem, { source: text, file: "tool.json" })).join("\n"));
  }
  return config;
}

export interface RawResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The connection ended before the announced end of the body. */
  readonly cut: boolean;
}

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** One request on a connection of its own, exactly as written. */
export function ask(port: number, { method = "GET", path, headers = {}, body }: Ask): Promise<RawResponse> {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const lines = [`${method} ${path} HTTP/1.1`];
  if (!names.includes("host")) lines.push("Host: example.test");
  if (!names.includes("connection")) lines.push("Connection: close");
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) lines.push(`${name}: ${one}`);
  if (body !== undefined && !names.includes("transfer-encoding"))
    lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return askRaw(
    port,
    Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), Buffer.from(body ?? "")]),
    method === "HEAD",
  );
}

export function askRaw(port: number, bytes: string | Buffer, isHead = false): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    const parts: Buffer[] = [];
    socket.setTimeout(60_000, () => socket.destroy(new Error("no answer within 60 s")));
    socket.on("connect", () => socket.write(bytes));
    socket.on("data", (part) => parts.push(part));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET" || parts.length === 0) reject(error);
    });
    socket.on("close", () => {
      const answer = Buffer.concat(parts);
      if (answer.length > 0) resolve(isHead ? { ...parseResponse(answer), cut: false } : parseResponse(answer));
      else reject(new Error("the connection was closed without an answer"));
    });
  });
}

export function parseResponse(answer: Buffer): RawResponse {
  const end = answer.indexOf("\r\n\r\n");
  const [first = "", ...lines] = answer.toString("latin1", 0, end).split("\r\n");
  const [, status, reason = ""] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(first)!;
  // An interim answer: the real one follows.
  if (status === "100") return parseResponse(answer.subarray(end + 4));
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const rest = answer.subarray(end + 4);
  const value = (name: string) => headers.find(([own]) => own.toLowerCase() === name)?.[1];
  const chunked = value("transfer-encoding") === "chunked";
  const { body, cut } = chunked
    ? dechunk(rest)
    : { body: rest, cut: rest.length < Number(value("content-length") ?? 0) };
  return { status: Number(status), reason, headers, body, cut };
}

function dechunk(bytes: Buffer): { body: Buffer; cut: boolean } {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return { body: Buffer.concat(parts), cut: true };
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (size === 0) return { body: Buffer.concat(parts), cut: false };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** Does a process with this id run? A zombie that nobody has waited for does not count. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/** Its first thread can be a zombie while others still end: only then does its parent hear of it. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" && Number(fields[17]) <= 1;
  } catch {
    return false;
  }
}
