// A copy of the project in which one file at a time is changed, and the tests that are run there.
import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programOf } from "./operators.ts";

/** Linked, not copied: nothing here writes to them. */
const LINKED = new Set(["node_modules", ".git"]);
const LAYER = "dist/layer";
const LEAST_LIMIT_MS = 20_000;
const MOST_LIMIT_MS = 240_000;
const TOOL_LIMIT_MS = 240_000;

export interface Run {
  readonly verdict: "passed" | "failed" | "late";
  readonly ms: number;
  readonly output: string;
}

export interface Chosen {
  readonly test: string;
  /** What it takes unchanged. */
  readonly ms: number;
  /** Whether the command that it starts has the change. */
  readonly isCommand: boolean;
  /** Whether it starts processes, listens or waits: a busy machine alone may make it fail. */
  readonly isTimed: boolean;
}

export class Tree {
  readonly directory: string;
  readonly #signal: AbortSignal;
  /** Whether the command is the bundle of a changed source. */
  #isBundleChanged = false;

  constructor(root: string, files: readonly string[], signal: AbortSignal) {
    this.#signal = signal;
    this.directory = mkdtempSync(join(tmpdir(), "tool-mutate-"));
    for (const name of readdirSync(root)) {
      if (LINKED.has(name)) symlinkSync(join(root, name), join(this.directory, name));
      else
        cpSync(join(root, name), join(this.directory, name), { recursive: true, filter: (path) => !isPackage(path) });
    }
    // All files as a changed one is written, so that the positions of a run are those of the sources.
    for (const file of files) writeFileSync(this.#built(file), asBuilt(readFileSync(join(root, file), "utf8")));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Runs the tests one after the other with the changed file, until one fails. `undefined` if all pass. */
  async killerOf(file: string, changed: string, tests: readonly Chosen[]): Promise<string | undefined> {
    const [source, program] = [readFileSync(this.#source(file), "utf8"), readFileSync(this.#built(file), "utf8")];
    const change = (to: readonly [source: string, program: string]) => {
      writeFileSync(this.#source(file), to[0]);
      writeFileSync(this.#built(file), to[1]);
    };
    const [as, was] = [[changed, asBuilt(changed)] as const, [source, program] as const];
    let isBundled = false;
    try {
      change(as);
      for (const { test, ms, isCommand, isTimed } of tests) {
        if (this.#signal.aborted) return undefined;
        if (isCommand && !isBundled) {
          if (!(await this.#bundle())) return "the bundle";
          isBundled = true;
        } else if (!isBundled && this.#isBundleChanged) {
          // The bundle of the change before.
          change(was);
          await this.restore();
          change(as);
        }
        const limitMs = Math.min(MOST_LIMIT_MS, Math.max(LEAST_LIMIT_MS, 5 * ms));
        const first = await this.run(test, limitMs);
        if (first.verdict === "passed") continue;
        if (first.verdict === "failed" && !isTimed) return test;
        // It may have been the machine: a second time, by what the unchanged test takes now.
        let nowMs = ms;
        if (first.verdict === "late") {
          change(was);
          if (isBundled) await this.restore();
          const unchanged = await this.run(test, MOST_LIMIT_MS);
          change(as);
          if (isBundled && !(await this.#bundle())) return "the bundle";
          if (unchanged.verdict !== "passed") continue;
          nowMs = unchanged.ms;
        }
        const again = await this.run(test, Math.min(MOST_LIMIT_MS, Math.max(LEAST_LIMIT_MS, 5 * nowMs)));
        if (again.verdict === "failed") return test;
        if (again.verdict === "late" && 4 * nowMs < again.ms) return `${test}, which does not end`;
      }
      return undefined;
    } finally {
      change(was);
    }
  }

  /** Which of the changed files the type checker refuses. Each lies beside its source, so that one run is enough. */
  async refused(changes: readonly { readonly file: string; readonly changed: string }[]): Promise<boolean[]> {
    const names = changes.map(({ file }, i) => file.replace(/\.ts$/, `.changed-${i}.ts`));
    try {
      for (const [i, { changed }] of changes.entries()) writeFileSync(this.#source(names[i]!), changed);
      const { output } = await this.#node(["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."], TOOL_LIMIT_MS);
      return names.map((name) => output.split("\n").some((line) => line.startsWith(`${name}(`)));
    } finally {
      for (const name of names) rmSync(this.#source(name), { force: true });
    }
  }

  /** The bundle as it was. */
  async restore(): Promise<void> {
    if (this.#isBundleChanged) await this.#bundle();
    this.#isBundleChanged = false;
  }

  async #bundle(): Promise<boolean> {
    this.#isBundleChanged = true;
    return (await this.#node(["cli/build/bundle.mjs", "--own"], TOOL_LIMIT_MS)).verdict === "passed";
  }

  run(test: string, limitMs: number, env: Readonly<Record<string, string>> = {}): Promise<Run> {
    return this.#node([join("dist", test.replace(/\.ts$/, ".js"))], limitMs, env);
  }

  #source = (file: string) => join(this.directory, file);
  #built = (file: string) => join(this.directory, "dist", file.replace(/\.ts$/, ".js"));

  #node(args: readonly string[], limitMs: number, env: Readonly<Record<string, string>> = {}): Promise<Run> {
    const beganMs = performance.now();
    const child = spawn(process.execPath, args, {
      cwd: this.directory,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, TAP_BAIL: "1", ...env },
      // A group of its own: what the test started ends with it.
      detached: true,
    });
    const end = () => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It ended.
      }
    };
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, limitMs);
    this.#signal.addEventListener("abort", end, { once: true });
    let isFailed = false;
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      // The first line that fails decides; the others need not be waited for.
      if (/^\s*not ok (?!.*# (?:skip|todo))/im.test(text)) {
        isFailed = true;
        end();
      }
    });
    return new Promise((done) => {
      child.once("close", (code) => {
        clearTimeout(timer);
        this.#signal.removeEventListener("abort", end);
        end();
        const ms = performance.now() - beganMs;
        done({ verdict: isFailed ? "failed" : isLate ? "late" : code === 0 ? "passed" : "failed", ms, output });
      });
    });
  }
}

const isLarge = (path: string) => path.endsWith(".vsix") || path.endsWith(`/${LAYER}`);

/** As the build makes it, but for maps: types taken off, and imports of the files that are built. */
const asBuilt = (source: string) =>
  programOf(source).replace(/((?:\bfrom|\bimport)\s*\(?\s*["']\.[^"']*)\.ts(["'])/g, "$1.js$2");
