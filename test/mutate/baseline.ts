// The results of the tests without a change: how long each takes, and which places of the sources it runs. Kept in
// dist for as long as neither the test nor what it imports changes.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Imports, reachedFrom } from "./imports.ts";
import type { Tree } from "./tree.ts";

const LIMIT_MS = 240_000;

export interface Baseline {
  /** Undefined if the test does not pass. */
  readonly ms: number | undefined;
  /** The parts that run of each file that the test's own process loads, as alternating begins and ends. */
  readonly parts: Readonly<Record<string, readonly number[]>>;
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}
interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

type Kept = Record<string, Baseline & { readonly key: string }>;

export class Baselines {
  readonly #root: string;
  readonly #imports: Imports;
  readonly #path: string;
  readonly #kept: Kept;
  readonly #keys = new Map<string, string>();
  readonly #running = new Map<string, Promise<Baseline>>();

  constructor(root: string, imports: Imports) {
    this.#root = root;
    this.#imports = imports;
    this.#path = join(root, "dist/mutate-baselines.json");
    this.#kept = readKept(this.#path);
  }

  /** Returns the duration of a test, if it is known. */
  msOf(test: string): number | undefined {
    const kept = this.#kept[test];
    return kept?.key === this.#keyOf(test) ? kept.ms : undefined;
  }

  /** As it is kept, or by a run in the tree, whose files are unchanged. */
  of(test: string, tree: Tree): Promise<Baseline> {
    const key = this.#keyOf(test);
    const kept = this.#kept[test];
    if (kept?.key === key) return Promise.resolve(kept);
    let run = this.#running.get(test);
    if (run === undefined) {
      run = this.#measured(test, tree).then((baseline) => {
        this.#kept[test] = { key, ...baseline };
        // The machine may have failed it; the next run tries again.
        if (baseline.ms === undefined) return baseline;
        // Another run may have written its own.
        const all = { ...readKept(this.#path), [test]: this.#kept[test] };
        writeFileSync(this.#path, JSON.stringify(all));
        return baseline;
      });
      this.#running.set(test, run);
    }
    return run;
  }

  /** Returns the key of all that the test may read: itself, what it imports, and the vectors that are named there. */
  #keyOf(test: string): string {
    const before = this.#keys.get(test);
    if (before !== undefined) return before;
    const hash = createHash("sha256").update(process.version);
    const vectors = readdirSync(join(this.#root, "test/vectors"));
    for (const file of reachedFrom(this.#imports, test)) {
      let text: string;
      try {
        text = readFileSync(join(this.#root, file), "utf8");
      } catch {
        continue;
      }
      hash.update(file).update(text);
      if (!file.startsWith("test/")) continue;
      for (const name of vectors.filter((name) => text.includes(`${name}"`)))
        hash.update(readFileSync(join(this.#root, "test/vectors", name)));
    }
    const key = hash.digest("hex");
    this.#keys.set(test, key);
    return key;
  }

  async #measured(test: string, tree: Tree): Promise<Baseline> {
    await tree.restore();
    const folder = mkdtempSync(join(tmpdir(), "tool-mutate-parts-"));
    try {
      const { verdict, ms } = await tree.run(test, LIMIT_MS, { NODE_V8_COVERAGE: folder });
      return verdict === "passed" ? { ms, parts: partsIn(folder, tree.directory) } : { ms: undefined, parts: {} };
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

function readKept(path: string): Kept {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}

/** Whether the test's own process runs the place; undefined if it does not load the file. */
export function runs({ parts }: Baseline, file: string, at: number): boolean | undefined {
  const of = parts[file];
  return of && of.findLastIndex((border) => border <= at) % 2 === 0;
}

function partsIn(folder: string, directory: string): Record<string, number[]> {
  const painted = new Map<string, Uint8Array>();
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of coverageIn(join(folder, name))) {
      if (!url.startsWith("file:") || url.includes("node_modules")) continue;
      const file = relative(join(directory, "dist"), fileURLToPath(url)).replace(/\.js$/, ".ts");
      if (file.startsWith("..") || basename(file).includes("generated")) continue;
      const length = Math.max(...functions.flatMap(({ ranges }) => ranges.map(({ endOffset }) => endOffset)));
      const one = new Uint8Array(length);
      // Each range overrules those around it.
      const ranges = functions.flatMap(({ ranges }) => ranges);
      ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
      for (const { startOffset, endOffset, count } of ranges) one.fill(count > 0 ? 1 : 0, startOffset, endOffset);
      const all = painted.get(file);
      if (all === undefined) painted.set(file, one);
      else for (const [at, value] of one.entries()) all[at]! |= value;
    }
  }
  return Object.fromEntries([...painted].map(([file, bytes]) => [file, bordersOf(bytes)]));
}

/** Nothing of a process that was ended while it wrote. */
function coverageIn(path: string): Coverage["result"] {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as Coverage).result;
  } catch {
    return [];
  }
}

function bordersOf(bytes: Uint8Array): number[] {
  const borders: number[] = [];
  for (let at = 0; at <= bytes.length; at++) {
    if ((bytes[at] ?? 0) !== (bytes[at - 1] ?? 0)) borders.push(at);
  }
  return borders;
}
