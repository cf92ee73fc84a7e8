// A copy of the project in which one file at a time is changed, and the tests that are run there.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Mutant, programOf } from "./operators.ts";

/** Linked, not copied: nothing here writes to them. */
const LINKED = new Set(["node_modules", ".git"]);

export interface Run {
  readonly isPassed: boolean;
  readonly ms: number;
}

export class Tree {
  readonly directory: string;
  /** Whether the command is the bundle of a changed source. */
  #isBundleChanged = false;

  constructor(root: string) {
    this.directory = mkdtempSync(join(tmpdir(), "tool-mutate-"));
    for (const name of readdirSync(root)) {
      if (LINKED.has(name)) symlinkSync(join(root, name), join(this.directory, name));
      else cpSync(join(root, name), join(this.directory, name), { recursive: true });
    }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Runs the tests one after the other with the change, until one fails. `undefined` if all pass. */
  async killerOf(
    { file, begin, end, replacement }: Mutant,
    tests: readonly { readonly test: string; readonly limitMs: number; readonly isCommand: boolean }[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    // The bundle of the change before, unless another one is made below.
    if (!tests.some(({ isCommand }) => isCommand)) await this.restore(signal);
    const path = join(this.directory, file);
    const built = join(this.directory, "dist", file.replace(/\.ts$/, ".js"));
    const [source, program] = [readFileSync(path, "utf8"), readFileSync(built, "utf8")];
    const changed = source.slice(0, begin) + replacement + source.slice(end);
    try {
      writeFileSync(path, changed);
      writeFileSync(built, asBuilt(changed));
      let isBundled = false;
      for (const { test, limitMs, isCommand } of tests) {
        if (isCommand && !isBundled) {
          this.#isBundleChanged = true;
          // What cannot be bundled is noticed by anybody.
          if (!(await this.#node(["cli/build/bundle.mjs"], 120_000, signal)).isPassed) return "the bundle";
          isBundled = true;
        }
        if (!(await this.run(test, limitMs, signal)).isPassed) return test;
      }
      return undefined;
    } finally {
      writeFileSync(path, source);
      writeFileSync(built, program);
    }
  }

  /** The bundle as it was. */
  async restore(signal: AbortSignal): Promise<void> {
    if (!this.#isBundleChanged) return;
    await this.#node(["cli/build/bundle.mjs"], 120_000, signal);
    this.#isBundleChanged = false;
  }

  run(test: string, limitMs: number, signal: AbortSignal): Promise<Run> {
    return this.#node([join("dist", test.replace(/\.ts$/, ".js"))], limitMs, signal);
  }

  #node(args: readonly string[], limitMs: number, signal: AbortSignal): Promise<Run> {
    const beganMs = performance.now();
    const child = spawn(process.execPath, args, {
      cwd: this.directory,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, TAP_BAIL: "1" },
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
    const timer = setTimeout(end, limitMs);
    signal.addEventListener("abort", end, { once: true });
    let isFailed = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      // The first line that fails decides; the others need not be waited for.
      if (/^\s*not ok (?!.*# (?:skip|todo))/im.test(text)) {
        isFailed = true;
        end();
      }
    });
    return new Promise((done) => {
      child.once("close", (code) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        end();
        done({ isPassed: code === 0 && !isFailed, ms: performance.now() - beganMs });
      });
    });
  }
}

/** As the build makes it, but for maps: types taken off, and imports of the files that are built. */
const asBuilt = (source: string) =>
  programOf(source).replace(/((?:\bfrom|\bimport)\s*\(?\s*["']\.[^"']*)\.ts(["'])/g, "$1.js$2");
