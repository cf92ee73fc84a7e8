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
  /** The duration of the unchanged test. */
  readonly ms: number;
  /** Whether the command that it starts has the change. */
  readonly isCommand: boolean;
  /** Whether it starts processes, listens or waits: a busy machine alone may make it fail. */
  readonly isTimed: boolean;
}

export class Tree {
  readonly directory: string;
  readonly #signal: AbortSignal;
  /** The changed source that the command is the bundle of. */
  #bundled: string | undefined;

  constructor(root: string, files: readonly string[], signal: AbortSignal) {
    this.#signal = signal;
    this.directory = mkdtempSync(join(tmpdir(), "tool-mutate-"));
    for (const name of readdirSync(root)) {
      const [from, to] = [join(root, name), join(this.directory, name)];
      if (LINKED.has(name)) symlinkSync(from, to);
      else cpSync(from, to, { recursive: true, filter: (path) => !isLarge(path) });
    }
    if (existsSync(join(root, LAYER))) symlinkSync(join(root, LAYER), join(this.directory, LAYER));
    // All files as a changed one is written, so that the positions of a run are those of the sources.
    for (const file of files) writeFileSync(this.#built(file), asBuilt(readFileSync(join(root, file), "utf8")));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The test, or what else fails with the changed file; `undefined` if all passes. */
  async killerOf(file: string, changed: string, chosen: Chosen): Promise<string | undefined> {
    const { test, ms, isCommand, isTimed } = chosen;
    const [source, program] = [readFileSync(this.#source(file), "utf8"), readFileSync(this.#built(file), "utf8")];
    const write = (source: string, program: string) => {
      writeFileSync(this.#source(file), source);
      writeFileSync(this.#built(file), program);
    };
    // The bundle of the change before must not be what a test starts.
    if (!isCommand) await this.restore();
    const change = () => {
      write(changed, asBuilt(changed));
      return !isCommand || this.#bundle(changed);
    };
    try {
      if (!(await change())) return "the bundle";
      const first = await this.run(test, limitOf(ms));
      if (first.verdict === "passed" || this.#signal.aborted) return undefined;
      if (first.verdict === "failed" && !isTimed) return test;
      // It may have been the machine: once more, by what the unchanged test takes now.
      let nowMs = ms;
      if (first.verdict === "late") {
        write(source, program);
        await this.restore();
        const unchanged = await this.run(test, MOST_LIMIT_MS);
        if (unchanged.verdict !== "passed") return undefined;
        nowMs = unchanged.ms;
        if (!(await change())) return "the bundle";
      }
      const again = await this.run(test, limitOf(nowMs));
      if (again.verdict === "failed") return test;
      return again.verdict === "late" && 4 * nowMs < again.ms ? `${test}, which does not end` : undefined;
    } finally {
      write(source, program);
    }
  }

  /** Which of the changed files the type checker refuses. Each is next to its source, so one run is enough. */
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
    if (this.#bundled !== undefined) await this.#bundle(undefined);
  }

  /** For the sources as they are now: with the change, or without one. */
  async #bundle(changed: string | undefined): Promise<boolean> {
    if (changed !== undefined && this.#bundled === changed) return true;
    this.#bundled = changed;
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
      // Under load a test may take longer than the 30 s that tap gives it when it is run alone.
      env: { ...process.env, TAP_BAIL: "1", TAP_TIMEOUT: "300", ...env },
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

const limitOf = (ms: number) => Math.min(MOST_LIMIT_MS, Math.max(LEAST_LIMIT_MS, 5 * ms));

const isLarge = (path: string) => path.endsWith(".vsix") || path.endsWith(`/${LAYER}`);

/** As the build makes it, but for maps: types taken off, and imports of the files that are built. */
const asBuilt = (source: string) =>
  programOf(source).replace(/((?:\bfrom|\bimport)\s*\(?\s*["']\.[^"']*)\.ts(["'])/g, "$1.js$2");
