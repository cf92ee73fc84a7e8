// Stages over a large log: `tool logs` beside jq, jaq, angle-grinder, DuckDB and chdb, whole commands, output to /dev/null, the
// rounds taking turns: node dist/test/bench/query/pipes.js. Answers are compared; rivals that are not in PATH are left out.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliPath, root } from "../../support/cli.ts";
import { median, spread } from "./statistics.ts";

const MB = 1e6;
const BYTES = Number(process.env.BYTES ?? 500 * MB);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** For those that take ten times as long. */
const SLOW_ROUNDS = Number(process.env.SLOW_ROUNDS ?? 2);
/** How many questions are left out. */
const FIRST = Number(process.env.FIRST ?? 0);

interface Question {
  readonly query: string;
  readonly jq: string;
  readonly angleGrinder: string;
  readonly where: string;
  readonly group: "path" | "status";
  readonly duckdb: string;
  readonly clickhouse: string;
  /** Whose answers are estimates, or another rank. */
  readonly isExact: (rival: string) => boolean;
}

const COUNT = { duckdb: "count(*)", clickhouse: "count()", isExact: () => true };
const counted = (select: string, field: string) =>
  `reduce (inputs${select}) as $e ({}; .[$e.fields.${field} | tojson] += 1) | to_entries[] | {group: .key, value}`;

const QUESTIONS: readonly Question[] = [
  {
    query: "status >= 500 | count by path",
    jq: counted(" | select(.fields.status != null and .fields.status >= 500)", "path"),
    angleGrinder: "* | json | where fields.status >= 500 | count as value by fields.path",
    where: "where fields.status >= 500",
    group: "path",
    ...COUNT,
  },
  {
    query: "| count by status",
    jq: counted("", "status"),
    angleGrinder: "* | json | count as value by fields.status",
    where: "",
    group: "status",
    ...COUNT,
  },
  {
    query: "| stats p99(duration) by path",
    // Adding to a list of each group would copy it each time.
    jq: `[inputs.fields | [.path, .duration]] | group_by(.[0])[] | {group: (.[0][0] | tojson),
      value: (map(.[1] | values) | sort | if length == 0 then null else .[(length * 0.99 | ceil) - 1] end)}`,
    angleGrinder: "* | json | p99(fields.duration) as value by fields.path",
    where: "",
    group: "path",
    duckdb: "quantile_disc(fields.duration, 0.99)",
    clickhouse: "quantileExact(0.99)(fields.duration)",
    isExact: (rival) => rival !== "angle-grinder" && rival !== "chdb",
  },
];

const TUPLE = "fields Tuple(path Nullable(String), status Nullable(Int64), duration Nullable(Float64))";

function commandsOf({ query, jq, angleGrinder, where, group, duckdb, clickhouse }: Question, file: string) {
  const struct = "{fields: 'STRUCT(path VARCHAR, status BIGINT, duration DOUBLE)'}";
  const ofDuckdb = `select fields.${group} as "group", ${duckdb} as value from read_ndjson('${file}', columns=${struct}) ${where} group by 1`;
  const ofClickhouse = `select fields.${group} as "group", ${clickhouse} as value from file('${file}', 'JSONEachRow', '${TUPLE}') ${where} group by 1`;
  return {
    "tool logs": [process.execPath, cliPath, "logs", "--format", "json", "--file", file, query],
    "DuckDB's command": ["duckdb", "-jsonlines", "-c", ofDuckdb],
    chdb: ["python3", "-m", "chdb", ofClickhouse, "JSONEachRow"],
    "angle-grinder": ["agrind", "--output", "json", "--file", file, angleGrinder],
    jaq: ["jaq", "-nc", jq, file],
    jq: ["jq", "-nc", jq, file],
  } satisfies Record<string, readonly string[]>;
}

const SLOW: ReadonlySet<string> = new Set(["jaq", "jq"]);

/** Whether the program of a rival is here. */
function isHere(rival: string, [program]: readonly string[]): boolean {
  const argv = rival === "chdb" ? ["-c", "import chdb"] : ["--version"];
  return spawnSync(program!, argv, { stdio: "ignore" }).status === 0;
}

function benchPipes(): void {
  const directory = mkdtempSync(join(tmpdir(), "tool-bench-stages-"));
  try {
    const file = process.env.FILE ?? join(directory, "log.ndjson");
    if (process.env.FILE === undefined)
      run([process.execPath, join(root, "dist/test/bench/query/generate.js"), String(BYTES), file]);
    const { size } = statSync(file);
    console.log(
      `stages over ${(size / MB).toFixed(0)} MB, ${ROUNDS} rounds (jq, jaq: ${SLOW_ROUNDS}), load ${loadavg()[0]}`,
    );
    console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
    for (const question of QUESTIONS.slice(FIRST)) benchQuestion(question, file, directory);
    const plain = Array.from({ length: ROUNDS }, () => time(plainSearch(file), directory));
    console.log(`  status >= 500, the plain search: ${timesText(plain)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const plainSearch = (file: string) => [
  process.execPath,
  cliPath,
  "logs",
  "--format",
  "json",
  "--file",
  file,
  "status >= 500",
];

function benchQuestion(question: Question, file: string, directory: string): void {
  const all = Object.entries(commandsOf(question, file)).filter(([rival, command]) => isHere(rival, command));
  const seconds = new Map<string, Taken[]>(all.map(([rival]) => [rival, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [rival, command] of all)
      if (round < SLOW_ROUNDS || !SLOW.has(rival)) seconds.get(rival)!.push(time(command, directory));
  console.log(`  ${question.query}`);
  const own = median(seconds.get("tool logs")!.map((one) => one.seconds));
  const ours = answerOf("tool logs", all[0]![1], directory);
  for (const [rival, command] of all) {
    const values = seconds.get(rival)!;
    const ratio = rival === "tool logs" ? "" : `, ${(median(values.map((one) => one.seconds)) / own).toFixed(2)}x`;
    const same =
      rival === "tool logs" ? "" : sameAs(ours, answerOf(rival, command, directory), question.isExact(rival));
    console.log(`    ${rival}: ${timesText(values)}${ratio}${same}`);
  }
}

/** Groups as JSON texts, and their values. */
type Answer = ReadonlyMap<string, number | null>;

function answerOf(rival: string, [program, ...args]: readonly string[], directory: string): Answer {
  const path = join(directory, "answer");
  const output = openSync(path, "w");
  const { status } = spawnSync(program!, args, { stdio: ["ignore", output, "ignore"] });
  closeSync(output);
  if (status !== 0) throw new Error(`${rival}: ${status}`);
  const { stdout } = spawnSync("cat", [path], { encoding: "utf8", maxBuffer: 1 << 30 });
  const rows =
    rival === "angle-grinder"
      ? JSON.parse(stdout)
      : stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line));
  return new Map(
    (rows as Record<string, unknown>[]).map((row) => {
      if (rival === "jq" || rival === "jaq") return [row.group as string, row.value as number | null];
      const [group, value] = "group" in row ? [row.group, row.value] : twoOf(row);
      return [JSON.stringify(group ?? null), value === null ? null : Number(value)];
    }),
  );
}

function twoOf(row: Record<string, unknown>): [unknown, unknown] {
  const [key] = Object.keys(row).filter((name) => name !== "value");
  const value = "value" in row ? row.value : Object.values(row)[1];
  return [row[key!], value];
}

function sameAs(ours: Answer, theirs: Answer, isExact: boolean): string {
  if (!isExact) return `, ${theirs.size} groups of ${ours.size}`;
  const differ = [...ours].filter(([group, value]) => theirs.get(group) !== value).length;
  return differ === 0 && ours.size === theirs.size
    ? `, the same ${ours.size} rows`
    : `, ${differ} of ${ours.size} rows DIFFER, ${theirs.size} of theirs`;
}

interface Taken {
  readonly seconds: number;
  /** Processor time, which other work on the machine changes less. */
  readonly cpuSeconds: number;
}

/** By GNU time, as Node does not tell what a child has used. */
function time(command: readonly string[], directory: string): Taken {
  const path = join(directory, "time");
  run(["/usr/bin/time", "-f", "%e %U %S", "-o", path, ...command]);
  const [seconds = 0, user = 0, system = 0] = readFileSync(path, "utf8").split(" ").map(Number);
  return { seconds, cpuSeconds: user + system };
}

function timesText(taken: readonly Taken[]): string {
  const seconds = taken.map((one) => one.seconds);
  return `${median(seconds).toFixed(2)} s ${spread(seconds)}, ${medianCpu(taken).toFixed(2)} s of CPU`;
}

const medianCpu = (taken: readonly Taken[]) => median(taken.map(({ cpuSeconds }) => cpuSeconds));

// angle-grinder says of each line on stderr that a field is missing: time that is not the question's.
function run([program, ...args]: readonly string[]): void {
  const { status } = spawnSync(program!, args, { stdio: "ignore" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${status}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) benchPipes();
