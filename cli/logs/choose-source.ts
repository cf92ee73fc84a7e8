import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Query, stagesNamed } from "../../grammar/query/index.ts";
import type { Context } from "../context.ts";
import { hasCredentials } from "../open-platform.ts";
import { refused } from "../refused.ts";
import type { ConfiguredService } from "./configured-service.ts";
import type { DeployedLogRequest } from "./deployed-log.ts";
import type { Block } from "./line-blocks.ts";
import { followFiles, type OnRead, readFailureReason, readRotated, readStreamLines, STDIN } from "./read-files.ts";
import type { Chosen, EntrySource } from "./source.ts";

/**
 * Chooses the first that applies: `--file`; `--service`; stdin, if it is a FIFO or a regular file, nothing is followed and neither
 * `--sandbox` nor `--cloud` is given; without `--cloud`, the log service that has the app's entries; the log of the deployed app,
 * merged with the development log if the app is not in the sandbox; the development log alone.
 */
export async function chooseSource(
  context: Context,
  request: {
    readonly files: readonly string[];
    readonly follow: boolean;
    readonly live: boolean;
    readonly sinceMs: number | undefined;
    readonly untilMs: number | undefined;
    readonly query: Query;
    readonly limit: number;
    /** The address of a log service; empty for none. */
    readonly service: string;
    /** That of the service of tool.json, too; empty for the one that it names. */
    readonly project: string;
    /** Whether `--sandbox` names the log of the app in the sandbox. */
    readonly sandbox: boolean;
    /** Whether `--cloud` names the log that the platform keeps. */
    readonly cloud: boolean;
  },
): Promise<Chosen> {
  const { files, follow, sinceMs, cloud } = request;
  if (files.length > 0) return fileSource(context, files, follow, sinceMs);
  if (request.service !== "") return (await import("./service-source.ts")).serviceSource(context, request);
  if (!follow && !request.sandbox && !cloud && request.project === "" && stdinHoldsData()) {
    const totalBytes = fstatSync(0).isFile() ? fstatSync(0).size : undefined;
    return {
      ok: true,
      source: {
        sinceMs,
        note: undefined,
        // A file is read as a whole.
        live: totalBytes === undefined,
        limitsToNewest: false,
        evidence: "entries",
        totalBytes,
        async *inputs(signal, onRead) {
          yield stdinBlocks(context, signal, onRead);
        },
      },
    };
  }
  if (cloud) return platformSource(context, request);
  const configured = await (await import("./configured-service.ts")).configuredService(context, request);
  if (configured.service !== undefined) {
    const service = withProject(configured.service, request.project);
    return (await import("./service-source.ts")).configuredSource(context, request, service);
  }
  if (request.project !== "") {
    if (configured.remark !== undefined) return refused(configured.remark);
    return refused("--project names a project of a log service", "give --service, too");
  }
  const chosen = await platformSource(context, request);
  const { remark } = configured;
  if (!chosen.ok || remark === undefined) return chosen;
  const note = chosen.source.note === undefined ? remark : `${chosen.source.note}\n${remark}`;
  return { ok: true, source: { ...chosen.source, note } };
}

/** The log of the deployed app as the platform keeps it, and the development log. */
async function platformSource(
  context: Context,
  request: DeployedLogRequest & { readonly cloud: boolean },
): Promise<Chosen> {
  const { follow, sinceMs } = request;
  const development = developmentSource(context, follow, sinceMs);
  const { deployedSource } = await import("./deployed-log.ts");
  const isWritten = development.ok && (follow || hasDevelopmentLog(context.directory));
  const deployed = await deployedSource(context, request, isWritten ? development.source : undefined);
  if (deployed !== undefined) return { ok: true, source: deployed };
  if (request.cloud && !(await hasCredentials(context.io.env))) {
    const hint = "set CLOUD_PROFILE, or CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY";
    return refused("CloudWatch cannot be asked: there are no AWS credentials on this machine", hint);
  }
  if (!development.ok) {
    const isPiped = follow && stdinHoldsData();
    return isPiped ? refused(development.problems[0].message, "to follow what is piped in, add --file -") : development;
  }
  const asksForDeployed = stagesNamed(request.query).some(({ name }) => name !== "development");
  if (!asksForDeployed || !isThere(join(context.directory, "tool.json"))) return development;
  if (await hasCredentials(context.io.env)) return development;
  const unread = "only the development log was read: the log of the deployed app needs AWS credentials";
  return { ok: true, source: { ...development.source, unread } };
}

const DEVELOPMENT_LOG = ".tool/development.ndjson";

async function fileSource(
  context: Context,
  patterns: readonly string[],
  follow: boolean,
  sinceMs: number | undefined,
): Promise<Chosen> {
  const list = async () => [...new Set((await Promise.all(patterns.map((p) => expand(context.directory, p)))).flat())];
  const names = new Map<string, string>();
  for (const pattern of patterns) {
    const matches = await expand(context.directory, pattern);
    const path = matches[0];
    if (path === undefined)
      return refused(
        `no file matches ${JSON.stringify(pattern)}`,
        "quote the pattern, so that the shell does not expand it",
      );
    for (const file of matches) {
      // Each file that a pattern matches gets its own name.
      names.set(
        file,
        matches.length === 1 && file === resolve(context.directory, pattern) ? pattern : nameOf(context, file),
      );
      const wrong = file === "-" ? undefined : unreadable(file, follow);
      if (wrong !== undefined) return refused(`cannot read ${JSON.stringify(names.get(file))}: ${wrong}`);
    }
  }
  const paths = await list();
  if (follow && paths.includes("-") && paths.length > 1) {
    return refused("stdin cannot be followed together with files", "omit -f, or the files");
  }
  const source: EntrySource = {
    sinceMs,
    note: undefined,
    live: follow || paths.includes("-"),
    limitsToNewest: false,
    evidence: "entries",
    saysWhenCaughtUp: follow && !paths.includes("-"),
    totalBytes: follow ? undefined : sizeOf(paths),
    async *inputs(signal, onRead) {
      if (follow && !paths.includes("-")) {
        yield followFiles(list, { signal, clock: context.io.clock });
        return;
      }
      for (const path of paths) {
        yield path === "-" ? stdinBlocks(context, signal, onRead) : { path, name: names.get(path) ?? path };
      }
    },
  };
  return { ok: true, source };
}

/** The file of that name, or the files that a pattern matches, sorted by name. */
async function expand(directory: string, pattern: string): Promise<string[]> {
  if (pattern === "-") return ["-"];
  const path = resolve(directory, pattern);
  // A file may be named [a].ndjson.
  if (!/[*?[{]/.test(pattern) || statSync(path, { throwIfNoEntry: false }) !== undefined) return [path];
  const { glob } = await import("tinyglobby");
  const paths = await glob(pattern, { cwd: directory, absolute: true, dot: true, expandDirectories: false });
  return paths.sort();
}

function unreadable(path: string, follow: boolean): string | undefined {
  try {
    if (statSync(path).isDirectory()) return "it is a folder";
    // Opening a FIFO would wait for its writer.
    if (statSync(path).isFile()) closeSync(openSync(path, "r"));
    return undefined;
  } catch (error) {
    return follow && (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : readFailureReason(error);
  }
}

/** The path relative to the working directory, if that is shorter. */
function nameOf({ directory }: Context, path: string): string {
  const name = relative(directory, path);
  return name.startsWith("..") ? path : name;
}

/** Undefined if one is not a regular file. */
function sizeOf(paths: readonly string[]): number | undefined {
  let total = 0;
  for (const path of paths) {
    const stats = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile()) return undefined;
    total += stats.size;
  }
  return total;
}

/** The service of tool.json with the project that `--project` names, if that is another one. CloudWatch is no other way to it. */
function withProject(service: ConfiguredService, project: string): ConfiguredService {
  const { otherwise: _, ...address } = service.address;
  if (project === "" || project === address.project) return service;
  const absent = `leave out --project for that of tool.json: ${address.project}`;
  return { ...service, address: { ...address, project, absent } };
}

async function* stdinBlocks({ io }: Context, signal: AbortSignal, onRead: OnRead): AsyncGenerator<Block> {
  const stop = () => io.stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  const chunks = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of io.stdin) {
        onRead((chunk as Buffer).length);
        yield chunk as Buffer;
      }
    } catch (error) {
      // Destroyed above, because it is no longer needed.
      if (!signal.aborted) throw error;
    }
  };
  try {
    yield* readStreamLines(STDIN, chunks());
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Not so for a terminal, /dev/null and a closed stdin. */
function stdinHoldsData(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isFile();
  } catch {
    return false;
  }
}

/** Why nothing can be read at a path; undefined if there is a file, or nothing. */
function notAFile(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isFile()) return undefined;
    return stats.isDirectory() ? "it is a folder" : "it is not a file";
  } catch (error) {
    return readFailureReason(error);
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function hasDevelopmentLog(directory: string): boolean {
  const path = join(directory, DEVELOPMENT_LOG);
  return isThere(path) || isThere(`${path}.1`);
}

function developmentSource(
  { directory, io }: Context,
  follow: boolean,
  sinceMs: number = io.nowMs() - 24 * 60 * 60 * 1000,
): Chosen {
  const path = join(directory, DEVELOPMENT_LOG);
  for (const name of [DEVELOPMENT_LOG, `${DEVELOPMENT_LOG}.1`]) {
    const why = notAFile(join(directory, name));
    if (why !== undefined)
      return refused(`cannot read ${name}: ${why}`, "move it away: tool start writes the log to a file of that name");
  }
  const hasLog = hasDevelopmentLog(directory);
  if (!hasLog && !isThere(join(directory, "tool.json"))) {
    return refused(
      `there is no log to read: neither tool.json nor ${DEVELOPMENT_LOG} is in ${directory}`,
      "name a log with --file, or a project with -C",
    );
  }
  const note = hasLog
    ? `reading ${DEVELOPMENT_LOG}, the log of tool start`
    : `${DEVELOPMENT_LOG} does not exist yet: tool start writes it`;
  return {
    ok: true,
    source: {
      sinceMs,
      note,
      isAbsent: !hasLog,
      live: follow,
      // The end of this log is what just happened; the first entries would be yesterday's.
      limitsToNewest: !follow,
      evidence: "entries",
      saysWhenCaughtUp: follow,
      totalBytes: undefined,
      async *inputs(signal) {
        yield readRotated(path, { sinceMs, follow, signal, clock: io.clock });
      },
    },
  };
}
