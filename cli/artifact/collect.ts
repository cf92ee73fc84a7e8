import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../grammar/units/clock.ts";
import {
  decide,
  type IgnoreDecision,
  type IgnoreOptions,
  type IgnoreRule,
  mayHold,
  parseIgnore,
  ROOT,
  vainRule,
} from "../../schema/ignore/index.ts";
import type { FileIdentity } from "../io.ts";
import type { BuildProblem } from "./problem.ts";

/** A file of the deployment. Names are separated by `/`; the name of a folder ends with `/`. */
export type FoundFile = { readonly name: string; readonly bytes: number } & (
  | { readonly kind: "file"; readonly path: string; readonly isExecutable: boolean; readonly modifiedMs: number }
  | { readonly kind: "link"; readonly target: string }
  /** An empty folder. */
  | { readonly kind: "folder" }
);

export interface LeftOut {
  /** The path of a folder ends with `/` and stands for everything in it. */
  readonly path: string;
  readonly reason: string;
}

export interface Collected {
  readonly files: readonly FoundFile[];
  readonly leftOut: readonly LeftOut[];
  readonly problems: readonly BuildProblem[];
  /** Lines of .toolignore that have no effect. */
  readonly warnings: readonly BuildProblem[];
}

export interface CollectOptions {
  /** Absolute. */
  readonly directory: string;
  /** The text of .toolignore. */
  readonly ignore: string;
  readonly clock: Clock;
  /** Patterns that are applied before those of .toolignore, with what they exclude in words. */
  readonly usual?: readonly { readonly pattern: string; readonly why: string }[];
  /** Files that this process is writing to, such as a redirected stdout. */
  readonly written?: readonly FileIdentity[];
  /** Folders of the project's root that are included although their names start with a dot. */
  readonly needed?: readonly string[];
}

/** Names in the project's root that are never part of a deployment, whatever .toolignore says. So is `.git` anywhere. */
const OURS: Readonly<Record<string, string>> = {
  ".tool": "tool's own files",
  "out.zip": "what tool build writes",
};

/** How long the walk may block the process from handling a signal. */
const TURN_MS = 20;

/**
 * Walks the project and returns every file with its size, and every excluded path with the reason. Does not follow links.
 */
export async function collectFiles(options: CollectOptions): Promise<Collected> {
  const root = realpathSync(options.directory);
  const files: FoundFile[] = [];
  const leftOut: LeftOut[] = [];
  const problems: BuildProblem[] = [];
  const vain = new Map<IgnoreRule, string>();
  const usual = (options.usual ?? []).map(({ pattern, why }) => ({ ...parseIgnore(pattern)[0]!, why }));
  const rules: (IgnoreRule & { readonly why?: string })[] = [...usual, ...parseIgnore(options.ignore)];
  const ignore: IgnoreOptions = {
    rules,
    isNeeded: (names) => names.lastIndexOf("node_modules", -2) >= 0 || options.needed?.includes(names[0]!) === true,
  };
  let turnedMs = options.clock.monotonicMs();

  await walk("", root, ROOT);
  const warnings = [...vain].map(([rule, hint]) => ({
    code: "artifact/vain-line",
    message: `line ${rule.line} of .toolignore, ${rule.text}, has no effect`,
    hint,
  }));
  return { files, leftOut, problems, warnings };

  async function walk(prefix: string, path: string, folder: IgnoreDecision): Promise<void> {
    const entries = listFolder(prefix, path);
    if (entries === undefined) return;
    if (entries.length === 0 && prefix !== "" && folder.reason === undefined) {
      files.push({ kind: "folder", name: prefix, bytes: 0 });
    }
    for (const entry of entries) {
      const name = prefix + entry.name;
      const isFolder = entry.isDirectory();
      const fullName = isFolder ? `${name}/` : name;
      const own = entry.name === ".git" ? "Git's own files" : prefix === "" ? OURS[entry.name] : undefined;
      if (own !== undefined) {
        leftOut.push({ path: fullName, reason: own });
        continue;
      }
      const decision = decide(folder, entry.name, isFolder, ignore);
      if (decision.reason !== undefined) {
        const rule = isFolder ? vainRule(decision, ignore) : undefined;
        if (rule !== undefined) vain.set(rule, `${fullName} is excluded with everything in it: ${reasonOf(decision)}`);
        const before = { files: files.length, leftOut: leftOut.length };
        if (isFolder && mayHold(decision, ignore)) await walk(fullName, join(path, entry.name), decision);
        // One line for a folder, unless something in it is included.
        if (files.length === before.files) {
          leftOut.length = before.leftOut;
          leftOut.push({ path: fullName, reason: reasonOf(decision) });
        }
        continue;
      }
      if (isFolder) {
        const before = { files: files.length, leftOut: leftOut.length };
        await walk(fullName, join(path, entry.name), decision);
        const rule = decision.broughtBack;
        if (rule !== undefined && files.length === before.files && leftOut.length > before.leftOut) {
          vain.set(
            rule,
            `it re-includes the folder ${fullName} but not its contents: write ${rule.text.replace(/\/$/, "")}/**`,
          );
        }
      } else addFile(entry, name, join(path, entry.name));
      if (options.clock.monotonicMs() - turnedMs > TURN_MS) {
        await turn();
        turnedMs = options.clock.monotonicMs();
      }
    }
  }

  function listFolder(prefix: string, path: string): Dirent[] | undefined {
    try {
      const entries = readdirSync(path, { withFileTypes: true });
      // Node replaces invalid UTF-8 by this character, so the file has another name.
      if (entries.some(({ name }) => name.includes("\ufffd"))) {
        for (const bytes of readdirSync(path, { encoding: "buffer" })) {
          if (Buffer.from(bytes.toString()).equals(bytes)) continue;
          const escapedName = prefix + bytes.toString("latin1").replace(/[\x80-\xff]/g, escaped);
          problems.push({
            code: "artifact/name",
            message: `the name of ${escapedName} is not UTF-8`,
            hint: "rename it: an archive and the platform know names in UTF-8 only",
          });
        }
        return entries.filter(({ name }) => !name.includes("\ufffd"));
      }
      return entries;
    } catch (error) {
      problems.push(unreadableFile(prefix === "" ? "the project's folder" : prefix, error));
      return undefined;
    }
  }

  function addFile(entry: Dirent, name: string, path: string): void {
    try {
      if (entry.isFile()) {
        const { size, mode, mtimeMs, dev, ino } = lstatSync(path);
        if (options.written?.some((file) => file.dev === dev && file.ino === ino)) {
          leftOut.push({ path: name, reason: "the output of this command" });
          return;
        }
        files.push({ kind: "file", name, path, bytes: size, isExecutable: (mode & 0o100) !== 0, modifiedMs: mtimeMs });
      } else if (entry.isSymbolicLink()) {
        const target = targetOf(path, root);
        if (target.isInside)
          files.push({ kind: "link", name, target: target.path, bytes: Buffer.byteLength(target.path) });
        else {
          problems.push({
            code: "artifact/outside-link",
            message: `${name} is a link to ${target.path}, outside the project`,
            hint: "copy its target into the project (hooks.prebuild can do it), or exclude the link in .toolignore",
          });
        }
      } else leftOut.push({ path: name, reason: `no file but ${typeOf(entry)}` });
    } catch (error) {
      problems.push(unreadableFile(name, error));
    }
  }

  function reasonOf({ reason }: IgnoreDecision): string {
    if (reason?.kind === "dotfile") return `a dotfile: a line such as \`!${reason.name}\` in .toolignore includes it`;
    const rule = reason!.rule as IgnoreRule & { readonly why?: string };
    return rule.why ?? `line ${rule.line} of .toolignore: ${rule.text}`;
  }
}

/** The target of a link, relative so that it works in the deployment. For a link to the outside, its target as written. */
function targetOf(path: string, root: string): { readonly isInside: boolean; readonly path: string } {
  const written = readlinkSync(path);
  const folder = dirname(path);
  const named = resolve(folder, written);
  let real = named;
  try {
    // Resolves links to links.
    real = realpathSync(path);
  } catch {
    // The target does not exist. The app may create it.
  }
  if (!isBelow(root, real) || !isBelow(root, named)) return { isInside: false, path: written };
  return { isInside: true, path: isAbsolute(written) ? relative(folder, named) || "." : written };
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function typeOf(entry: Dirent): string {
  return entry.isSocket() ? "a socket" : entry.isFIFO() ? "a pipe" : "a device";
}

/** The problem for a file that cannot be read, with the system's reason. Rethrows other errors. */
export function unreadableFile(name: string, error: unknown): BuildProblem {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  const reasons: Record<string, string> = {
    EACCES: "permission denied",
    ENOENT: "it was removed in the meantime",
    EPERM: "permission denied",
    EISDIR: "it is a folder",
    ELOOP: "its symbolic links lead in a circle",
  };
  return {
    code: "artifact/unreadable",
    message: `cannot read ${name}: ${reasons[code] ?? message}`,
    hint: "make it readable, or exclude it in .toolignore",
  };
}

function escaped(char: string): string {
  return `\\x${char.charCodeAt(0).toString(16)}`;
}
