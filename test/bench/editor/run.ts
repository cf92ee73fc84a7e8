// Typing in tool.json over stdio: what a keystroke waits for, in files of 10 KB, 100 KB and 1 MB, beside a plain JSON
// server that takes turns with ours. `npm run bench:editor`; with ROUNDS and EDITS for a shorter run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../../support/cli.ts";
import { configText } from "./config-text.ts";
import { METHODS } from "./methods.ts";
import { PULLS, Subject, URI } from "./subject.ts";

const SIZES = (process.env.SIZES ?? "10000,100000,1000000").split(",").map(Number);
const ROUNDS = Number(process.env.ROUNDS ?? 60);
const EDITS = Number(process.env.EDITS ?? 10_000);
const STARTS = 15;
/** The rounds that the compiler of the engine needs to have seen everything once. */
const WARM_UP_ROUNDS = 5;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-editor-"));
  const bundle = join(folder, "rival.cjs");
  await build({
    entryPoints: [join(root, "test/bench/editor/rival.ts")],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "cjs",
    mainFields: ["module", "main"],
    logLevel: "error",
  });
  const rival = [bundle, join(root, "schema/tool.schema.json")];
  try {
    await starts(rival);
    for (const bytes of SIZES) {
      await requests(bytes, rival);
      await cancellations(bytes);
      await processorTime(bytes, rival);
      await memory(bytes, rival);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function starts(rival: readonly string[]): Promise<void> {
  const initialize = new Map<string, number[]>();
  const diagnostics: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    for (const [name, argv] of [["ours"], ["rival", rival]] as const) {
      const begin = performance.now();
      const { client } = new Subject(name, argv);
      await client.initialize({ capabilities: {} });
      push(initialize, name, performance.now() - begin);
      if (name === "ours") {
        client.open(URI, '{ "name": "app", "typ": 1 }');
        await client.receive("textDocument/publishDiagnostics");
        diagnostics.push(performance.now() - begin);
      }
      await client.stop();
    }
  }
  print("\nstart");
  row("spawn -> initialize", initialize.get("ours")!, initialize.get("rival")!);
  row("spawn -> diagnostics pushed", diagnostics, undefined, "debounce of 120 ms included");
}

/** Each request right after a keystroke, so that nothing is known of that version of the text. */
async function requests(bytes: number, rival: readonly string[]): Promise<void> {
  const text = configText(bytes);
  const subjects = [new Subject("ours"), new Subject("rival", rival)];
  for (const subject of subjects) await subject.open(text);
  const cold = [];
  for (const subject of subjects) cold.push((await subject.ask("textDocument/diagnostic")).ms);
  const times = new Map<string, number[]>();
  const busy = new Map<string, number[]>();
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const { method, isShared, params } of METHODS) {
      for (const subject of subjects) {
        if (subject.name === "rival" && !isShared) continue;
        const time = await subject.typeAndAsk(method, params(subject));
        if (round < 0) continue;
        push(times, `${subject.name} ${method}`, time.ms);
        push(busy, `${subject.name} ${method}`, time.busyMs);
      }
    }
  }
  print(`\n${size(bytes)}, after a keystroke each; opened, diagnostics after ${cold.map(ms).join(" against ")}`);
  for (const { method } of METHODS) {
    const name = method.slice("textDocument/".length);
    row(name, times.get(`ours ${method}`)!, times.get(`rival ${method}`));
    row("  at work", busy.get(`ours ${method}`)!, busy.get(`rival ${method}`));
  }
  for (const { client } of subjects) await client.stop();
}

async function cancellations(bytes: number): Promise<void> {
  const subject = new Subject("ours");
  await subject.open(configText(bytes));
  const first = await subject.cancel("textDocument/diagnostic");
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    subject.type();
    times.push(await subject.cancel("textDocument/diagnostic"));
  }
  row("diagnostic, cancelled", times, undefined, `the very first ${ms(first)}`);
  await subject.client.stop();
}

/** Measures the processor time of a keystroke and its diagnostics, whatever else runs on the machine. */
async function processorTime(bytes: number, rival: readonly string[]): Promise<void> {
  const spent: string[] = [];
  for (const subject of [new Subject("ours"), new Subject("rival", rival)]) {
    await subject.open(configText(bytes));
    for (let i = 0; i < 2 * WARM_UP_ROUNDS; i++) await subject.typeAndAsk("textDocument/diagnostic");
    const before = subject.cpuMs();
    for (let i = 0; i < ROUNDS; i++) await subject.typeAndAsk("textDocument/diagnostic");
    spent.push(`${subject.name} ${((subject.cpuMs() - before) / ROUNDS).toFixed(1)} ms`);
    await subject.client.stop();
  }
  print(`  ${"diagnostic, processor time".padEnd(30)} ${spent.join(", ")}`);
}

/** Resident memory after the first diagnostics, and on the way to many edits with diagnostics after every tenth. */
async function memory(bytes: number, rival: readonly string[]): Promise<void> {
  for (const subject of [new Subject("ours"), new Subject("rival", rival)]) {
    await subject.open(configText(bytes), PULLS);
    await subject.ask("textDocument/diagnostic");
    const seen = [`opened ${subject.residentMiB().toFixed(0)}`];
    for (let edit = 1; edit <= EDITS; edit++) {
      subject.type();
      if (edit % 10 === 0) await subject.ask("textDocument/diagnostic");
      if (edit === EDITS / 10 || edit % (EDITS / 2) === 0) seen.push(`${edit} ${subject.residentMiB().toFixed(0)}`);
    }
    print(`  memory, MiB after edits: ${subject.name.padEnd(5)} ${seen.join(", ")}`);
    await subject.client.stop();
  }
}

function push(map: Map<string, number[]>, key: string, value: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function quantile(values: readonly number[], q: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]!;
}

/** Median, 95th percentile, and the smallest and largest. */
function spreadText(values: readonly number[]): string {
  const [p50, p95] = [quantile(values, 0.5), quantile(values, 0.95)];
  return `p50 ${ms(p50)}, p95 ${ms(p95)} (${ms(Math.min(...values))} to ${ms(Math.max(...values))})`;
}

function row(what: string, ours: readonly number[], rival?: readonly number[], note?: string): void {
  const beside = rival && `; rival ${spreadText(rival)}; ${(quantile(ours, 0.5) / quantile(rival, 0.5)).toFixed(2)}x`;
  print(`  ${what.padEnd(30)} ${spreadText(ours)}${beside ?? ""}${note === undefined ? "" : `; ${note}`}`);
}

const ms = (value: number) => value.toFixed(1);
const size = (bytes: number) => (bytes < 1e6 ? `${bytes / 1000} KB` : `${bytes / 1e6} MB`);
const print = (line: string) => console.log(line);

await main();
