import type { Directory } from "./directory.ts";

/** `npm start` may run a script that runs another one. */
const MAX_SCRIPTS = 4;

/** Interpreters find a file without its ending. */
const ENDINGS = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".rb"];

/** The files that start if a command names a folder: `node .`, `go run .`, `python package`. */
const ENTRIES = ["index.js", "index.mjs", "index.cjs", "index.ts", "main.go", "__main__.py"];

/**
 * The files of the project that a command starts, relative to its folder: those that its words name, directly, as a
 * module (`gunicorn app:app`), as a folder (`node .`) or through a script of package.json (`npm start`). A file that is
 * only an argument is among them as well: nothing tells it from a program.
 */
export function startedFiles(command: string, directory: Pick<Directory, "kind" | "read">): string[] {
  const files = new Set<string>();
  follow(command, 0);
  return [...files];

  function follow(text: string, depth: number): void {
    const words = text.split(/[\s;&|()<>"'`]+/).filter((word) => word !== "");
    const folders = [""];
    for (const [i, word] of words.entries()) {
      if (words[i - 1] === "cd") folders.push(join(folders.at(-1)!, word) ?? "");
      // `--require=./setup.js`, `CONFIG=prod.yml`
      for (const part of word.split("=")) for (const folder of folders) add(folder, part);
      const script = depth < MAX_SCRIPTS ? scriptOf(words, i) : undefined;
      if (script !== undefined) follow(script, depth + 1);
    }
  }

  function add(folder: string, word: string): void {
    const path = join(folder, word);
    if (path === undefined) return;
    for (const ending of ENDINGS) addFile(path + ending);
    const [, dotted] = /^((?:\w+\.)*\w+)(?::[\w.()]+)?$/.exec(word) ?? [];
    if (dotted !== undefined) {
      const module = join(folder, dotted.replaceAll(".", "/"))!;
      addFile(`${module}.py`);
      addFile(`${module}/__init__.py`);
      addFile(`${module}/__main__.py`);
    }
    if (path !== "" && directory.kind(path) !== "directory") return;
    // A folder's name is an argument of many commands; `.` is the project itself.
    if (path === "" && !/^\.\/*$/.test(word)) return;
    const main = mainOf(join(path, "package.json")!);
    const started = main === undefined ? undefined : join(path, main);
    if (started !== undefined) for (const ending of [...ENDINGS, "/index.js"]) addFile(started + ending);
    for (const entry of ENTRIES) addFile(join(path, entry)!);
  }

  function addFile(path: string): void {
    if (path !== "" && directory.kind(path) === "file") files.add(path);
  }

  /** The script of package.json that the word at `i` means: of `npm start`, `yarn serve`, `pnpm run serve`. */
  function scriptOf(words: readonly string[], i: number): string | undefined {
    if (!/^(?:npm|yarn|pnpm|bun)$/.test(words[i]!)) return undefined;
    const [name] = words.slice(i + 1).filter((word) => !/^-|^(?:run|run-script)$/.test(word));
    const script = (manifest("package.json")?.scripts as Record<string, unknown> | undefined)?.[name ?? ""];
    return typeof script === "string" ? script : undefined;
  }

  function mainOf(path: string): string | undefined {
    const main = manifest(path)?.main;
    return typeof main === "string" && main !== "" ? main : undefined;
  }

  function manifest(path: string): Record<string, unknown> | undefined {
    try {
      const value: unknown = JSON.parse((directory.read(path) ?? "").replace(/^\ufeff/, ""));
      return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** A path below the project's folder, without `.` and `..`; undefined for one that leads out of it. */
function join(folder: string, path: string): string | undefined {
  if (/^[/~$\\]/.test(path)) return undefined;
  const segments = folder === "" ? [] : folder.split("/");
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join("/");
}
