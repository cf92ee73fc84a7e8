import { readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Clock } from "../grammar/units/clock.ts";
import { decide, type IgnoreRule, parseIgnore, ROOT } from "../schema/ignore/index.ts";
import { isShownByPages, startedFiles } from "../schema/index.ts";
import { look } from "./file-cache.ts";

export interface ServedFolderOptions {
  readonly type: "server" | "static";
  /** The project's folder, absolute. */
  readonly directory: string;
  /** Below it: what is served. */
  readonly dir: string;
  /** The command that starts the app; undefined for a static site. */
  readonly command?: string | undefined;
}

/** .toolignore and package.json are checked again after this time: doing so for each request would cost two calls. */
const RECHECK_MS = 100;

/** Says of the files in the served directory which are never served, and why. */
export class ServedFolder {
  readonly #options: ServedFolderOptions;
  readonly #clock: Clock;
  /** A server app that names no directory of its own: its sources are in the same folder. */
  readonly #isProject: boolean;
  #ignoreMark = "";
  #rules: readonly IgnoreRule[] = [];
  #started: ReadonlySet<string> = new Set();
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ServedFolderOptions, clock: Clock) {
    this.#clock = clock;
    this.#options = options;
    this.#isProject = options.type === "server" && resolve(options.directory, options.dir) === options.directory;
  }

  /** Checks whether .toolignore changed; true if earlier decisions may no longer hold. */
  refresh(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#checkedMs < RECHECK_MS) return false;
    this.#checkedMs = nowMs;
    const { directory, command } = this.#options;
    const started =
      command === undefined ? [] : startedFiles(command, onDisk(directory)).map((file) => join(directory, file));
    this.#started = new Set(started.flatMap((path) => realPath(path)?.toLowerCase() ?? []));
    const path = join(directory, ".toolignore");
    const stats = look(path);
    const mark = stats === undefined ? "" : `${stats.ino}-${stats.size}-${stats.mtimeMs}-${stats.ctimeMs}`;
    if (mark === this.#ignoreMark) return false;
    this.#ignoreMark = mark;
    this.#rules = parseIgnore(readText(path) ?? "");
    return true;
  }

  /** Why a file is not served, in words for people. `real` has no links left, `root` is the served directory's. */
  refusal(real: string, root: string): string | undefined {
    const below = segmentsBelow(root, real);
    if (below === undefined) return "it is outside the served directory";
    const hidden = below.find(isHidden);
    if (hidden !== undefined) return `${hidden} begins with a dot`;
    // Compared without case: some file systems do so as well.
    if (below.length === 1 && below[0]!.toLowerCase() === "tool.json") return "it is the configuration";
    if (this.#started.has(real.toLowerCase())) return "the app's command names it";
    const rule = this.#ignoredBy(real);
    if (rule !== undefined) return `.toolignore leaves it out (line ${rule.line}: ${rule.text})`;
    if (!this.#isProject || isShownByPages(below.join("/"))) return undefined;
    return 'a server app without a static.dir of its own shows pages, styles, images, fonts and media only: write "dir": "public" for others';
  }

  #ignoredBy(real: string): IgnoreRule | undefined {
    if (this.#rules.length === 0) return undefined;
    const names = segmentsBelow(realPath(this.#options.directory) ?? this.#options.directory, real);
    if (names === undefined) return undefined;
    // As in the build: names in node_modules may begin with a dot.
    const options = {
      rules: this.#rules,
      isNeeded: (at: readonly string[]) => at.lastIndexOf("node_modules", -2) >= 0,
    };
    let decision = ROOT;
    for (const [i, name] of names.entries()) decision = decide(decision, name, i < names.length - 1, options);
    return decision.reason?.kind === "rule" ? decision.reason.rule : undefined;
  }
}

/** `.well-known` is meant to be requested (RFC 8615); every other dotfile is private until it is renamed. */
export function isHidden(segment: string): boolean {
  return segment.startsWith(".") && segment !== ".well-known";
}

/** The names from a folder down to a path; undefined for one that is not below it. */
function segmentsBelow(root: string, path: string): string[] | undefined {
  const below = relative(root, path);
  if (below === "" || below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) return undefined;
  return below.split(sep);
}

function onDisk(directory: string) {
  return {
    kind: (path: string) => {
      const stats = look(join(directory, path));
      return stats?.isFile() ? ("file" as const) : stats?.isDirectory() ? ("directory" as const) : undefined;
    },
    read: (path: string) => readText(join(directory, path)),
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
