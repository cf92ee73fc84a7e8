import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Context } from "../context.ts";
import { LineSplitter } from "./line-splitter.ts";
import { followFiles, type LineBatch, readFiles, readRotated } from "./read-files.ts";

/** Where entries come from. */
export interface Source {
  /** The time asked for. Without one the development log goes back a day; other inputs have no bound. */
  readonly sinceMs: number | undefined;
  /** Said once on stderr before the first entry. */
  readonly note: string | undefined;
  /** Lines come while time passes: each batch is shown at once. */
  readonly live: boolean;
  lines(signal: AbortSignal): AsyncIterable<LineBatch>;
}

/** A source, or what is wrong with the words that name it. */
export type Chosen = { readonly source: Source } | { readonly message: string; readonly hint?: string };

/** `--file` before stdin (a FIFO or a regular file, and nothing followed) before the development log. */
export async function chooseSource(
  context: Context,
  asked: {
    readonly files: readonly string[];
    readonly follow: boolean;
    readonly sinceMs: number | undefined;
  },
): Promise<Chosen> {
  const { files, follow, sinceMs } = asked;
  if (files.length > 0) return fileSource(context, files, follow, sinceMs);
  if (!follow && stdinHoldsData()) {
    return { source: { sinceMs, note: undefined, live: true, lines: (signal) => stdinLines(context, signal) } };
  }
  return developmentSource(context, follow, sinceMs);
}

export const DEVELOPMENT_LOG = ".tool/development.ndjson";

async function fileSource(
  context: Context,
  patterns: readonly string[],
  follow: boolean,
  sinceMs: number | undefined,
): Promise<Chosen> {
  const list = async () => [...new Set((await Promise.all(patterns.map((p) => expand(context.directory, p)))).flat())];
  for (const pattern of patterns) {
    const found = await expand(context.directory, pattern);
    const path = found[0];
    if (path === undefined)
      return {
        message: `no file matches ${JSON.stringify(pattern)}`,
        hint: "quote a pattern, so that the shell leaves it alone",
      };
    for (const file of found) {
      const wrong = file === "-" ? undefined : unreadable(file, follow);
      if (wrong !== undefined) return { message: `cannot read ${JSON.stringify(pattern)}: ${wrong}` };
    }
  }
  const paths = await list();
  if (follow && paths.includes("-") && paths.length > 1) {
    return {
      message: "stdin is not followed beside files",
      hint: "it ends when its writer does: leave out -f, or the files",
    };
  }
  const source: Source = {
    sinceMs,
    note: undefined,
    live: follow || paths.includes("-"),
    async *lines(signal) {
      if (paths.includes("-")) {
        for (const path of paths) yield* path === "-" ? stdinLines(context, signal) : readFiles([path]);
      } else if (follow) yield* followFiles(list, signal);
      else yield* readFiles(paths);
    },
  };
  return { source };
}

/** A name that stands for itself, or the files that a pattern matches, sorted by name. */
async function expand(directory: string, pattern: string): Promise<string[]> {
  if (pattern === "-") return ["-"];
  const path = resolve(directory, pattern);
  // A file may be called [a].ndjson.
  if (!/[*?[{]/.test(pattern) || statSync(path, { throwIfNoEntry: false }) !== undefined) return [path];
  const { glob } = await import("tinyglobby");
  const found = await glob(pattern, { cwd: directory, absolute: true, dot: true, expandDirectories: false });
  return found.sort();
}

function unreadable(path: string, follow: boolean): string | undefined {
  try {
    if (statSync(path).isDirectory()) return "it is a folder";
    // A FIFO would wait here for its writer.
    if (statSync(path).isFile()) closeSync(openSync(path, "r"));
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return follow ? undefined : "there is no such file";
    return code === "EACCES" ? "permission denied" : message;
  }
}

async function* stdinLines({ io }: Context, signal: AbortSignal): AsyncGenerator<LineBatch> {
  const splitter = new LineSplitter();
  const stop = () => io.stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of io.stdin) yield splitter.push(chunk as Buffer);
  } catch (error) {
    // Destroyed above: reading was no longer wanted.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  yield splitter.end();
}

/** A terminal, /dev/null and a closed stdin hold no log. */
function stdinHoldsData(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isFile();
  } catch {
    return false;
  }
}

function developmentSource(
  { directory, io }: Context,
  follow: boolean,
  sinceMs: number = io.nowMs() - 24 * 60 * 60 * 1000,
): Chosen {
  const path = join(directory, DEVELOPMENT_LOG);
  const isThere = (file: string) => statSync(file, { throwIfNoEntry: false }) !== undefined;
  const hasLog = isThere(path) || isThere(`${path}.1`);
  if (!hasLog && !isThere(join(directory, "tool.json"))) {
    return {
      message: `there is no log to read: neither tool.json nor ${DEVELOPMENT_LOG} is in ${directory}`,
      hint: "name a log with --file, or a project with -C",
    };
  }
  const note = hasLog
    ? `reading ${DEVELOPMENT_LOG}, the log of tool start`
    : `${DEVELOPMENT_LOG} is not there yet: tool start writes it`;
  return {
    source: { sinceMs, note, live: follow, lines: (signal) => readRotated(path, { sinceMs, follow, signal }) },
  };
}
