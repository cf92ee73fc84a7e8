// Scanning a large log: `tool logs` beside jq and ripgrep, whole commands, output to /dev/null, the rounds taking turns.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliPath, root } from "../../support/cli.ts";
import { JQ_QUERIES } from "../../support/jq-queries.ts";
import { RARE_LITERAL } from "./generate.ts";
import { median, spread } from "./statistics.ts";

const MB = 1e6;
const number = (field: string) => `(.fields.${field}|type)=="number" and .fields.${field}`;

interface Measure {
  readonly name: string;
  readonly query: string;
  readonly jq: string;
  /** The text that ripgrep is asked for, if it can be. */
  readonly literal?: string;
}

const MEASURES: readonly Measure[] = [
  {
    name: "rare literal",
    query: `code = ${RARE_LITERAL}`,
    jq: `.fields.code=="${RARE_LITERAL}"`,
    literal: RARE_LITERAL,
  },
  { name: "rare number", query: "duration > 30s", jq: `${number("duration")} > 30000` },
  { name: "2 % match", query: "status >= 500", jq: `${number("status")} >= 500` },
  { name: "50 % match", query: "level = info", jq: '.level=="info"' },
];

/** Prints seconds, MB/s and ratios, then whether ten queries give what jq gives. */
export function benchScan(bytes = 500 * MB, rounds = 5): void {
  const directory = mkdtempSync(join(tmpdir(), "tool-bench-scan-"));
  try {
    const file = join(directory, "log.ndjson");
    run([process.execPath, join(root, "dist/test/bench/query/generate.js"), String(bytes), file]);
    const size = statSync(file).size;
    const rg = spawnSync("rg", ["--version"]).status === 0;
    console.log(`scan of ${(size / MB).toFixed(0)} MB, ${rounds} rounds (jq: 3)`);
    for (const measure of MEASURES) benchMeasure(measure, file, size, rounds, rg);
    benchText(file, size, rounds);
    compareWithJq(file, directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function benchMeasure({ name, query, jq, literal }: Measure, file: string, size: number, rounds: number, rg: boolean) {
  const commands: Record<string, readonly string[]> = {
    "tool logs": [process.execPath, cliPath, "logs", "--format", "json", "--file", file, query],
    ...(literal !== undefined &&
      rg && { "rg -F": ["rg", "-F", "--no-mmap", literal, file], "rg -F (mmap)": ["rg", "-F", literal, file] }),
    jq: ["jq", "-c", `select(${jq})`, file],
  };
  const seconds: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [rival, command] of Object.entries(commands)) {
      // jq takes a hundred times as long; three rounds show its spread as well.
      if (rival === "jq" && round >= 3) continue;
      seconds[rival] ??= [];
      seconds[rival].push(time(command));
    }
  }
  const own = median(seconds["tool logs"]!);
  console.log(`  ${name}: ${query}`);
  for (const [rival, values] of Object.entries(seconds)) {
    const speed = size / MB / median(values);
    const ratio = rival === "tool logs" ? "" : `tool is ${(median(values) / own).toFixed(2)}x`;
    console.log(
      `    ${rival.padEnd(14)} ${median(values).toFixed(3)} s  ${spread(values)}  ${speed.toFixed(0)} MB/s  ${ratio}`,
    );
  }
}

/** Lines for people, of half of the entries: how much is read, and how much text is written. */
function benchText(file: string, size: number, rounds: number): void {
  const command = [process.execPath, cliPath, "logs", "--format", "text", "--file", file, "level = info"];
  const { stdout } = spawnSync("sh", ["-c", '"$@" | wc -c', "sh", ...command], { encoding: "utf8" });
  const seconds = Array.from({ length: rounds }, () => time(command));
  const read = size / MB / median(seconds);
  const written = Number(stdout) / MB / median(seconds);
  console.log(
    `  text of 50 %: ${median(seconds).toFixed(3)} s ${spread(seconds)}  reads ${read.toFixed(0)} MB/s, writes ${written.toFixed(0)} MB/s`,
  );
  const every = command.slice(0, -1);
  const all = Array.from({ length: rounds }, () => time(every));
  console.log(
    `  text of all: ${median(all).toFixed(3)} s ${spread(all)}  reads ${(size / MB / median(all)).toFixed(0)} MB/s`,
  );
}

function compareWithJq(file: string, directory: string): void {
  let same = 0;
  for (const [query, jq] of JQ_QUERIES) {
    const [ours, theirs] = [join(directory, "ours"), join(directory, "theirs")];
    // jq writes numbers and escapes its own way: both answers are written by jq before they are compared.
    shell(`"$0" "$1" logs --format json --file "$2" "$3" | jq -c . > "$4"`, [
      process.execPath,
      cliPath,
      file,
      query,
      ours,
    ]);
    shell(`jq -c "$1" "$2" > "$3"`, ["sh", `select(${jq})`, file, theirs]);
    const isSame = digest(ours) === digest(theirs);
    if (isSame) same++;
    else console.log(`  differs from jq: ${query}`);
  }
  console.log(`  ${same} of ${JQ_QUERIES.length} queries give exactly the lines that jq gives`);
}

function digest(file: string): string {
  const hash = createHash("sha256");
  const block = Buffer.alloc(1 << 20);
  const handle = openSync(file, "r");
  for (let read = readSync(handle, block); read > 0; read = readSync(handle, block))
    hash.update(block.subarray(0, read));
  closeSync(handle);
  return hash.digest("hex");
}

function time(command: readonly string[]): number {
  const begin = performance.now();
  run(command);
  return (performance.now() - begin) / 1000;
}

function run(command: readonly string[]): void {
  const [program, ...args] = command;
  const { status, stderr } = spawnSync(program!, args, { stdio: ["ignore", "ignore", "pipe"] });
  // ripgrep says 1 where nothing matches.
  if (status !== 0) throw new Error(`${command.join(" ")}: ${status} ${stderr}`);
}

function shell(script: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync("sh", ["-c", script, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`${script}: ${status} ${stderr}`);
}

/** Whether the rivals are here. */
export const canBenchScan = (): boolean => spawnSync("jq", ["--version"]).status === 0 && existsSync(cliPath);
