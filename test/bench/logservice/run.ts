// `npm run bench:logservice`: the log service as people run it, over HTTP, beside SQLite with FTS5 and a plain DuckDB table.
//
// EVENTS (1,000,000), ROUNDS (9) of each query, CONNECTIONS (8) of the load, RIVALS=0 without rivals, BESIDE_SECONDS (15) of
// reads beside ingest, each kind; `--format json` for programs. Everything is in a temporary folder that is removed at the
// end, or in BENCH_DIRECTORY, which is kept: with EVENTS=0 a later run only asks the questions again.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isRunning } from "../../support/cli.ts";
import { askInRounds, type Comparison } from "./asking.ts";
import { readsBeside } from "./beside.ts";
import { BATCH_EVENTS } from "./bodies.ts";
import { type Ingested, ingest, settled } from "./ingest.ts";
import { pageOf, questionsOf } from "./questions.ts";
import { markdown, type Results, type RivalResult } from "./report.ts";
import { openRival, RIVAL_TITLES, type Rival, type RivalName } from "./rivals.ts";
import { startService } from "./service.ts";

const numberOf = (name: string, usual: number) => Number(process.env[name] ?? usual);
const requestedEvents = numberOf("EVENTS", 1_000_000);
const rounds = numberOf("ROUNDS", 9);
const connections = numberOf("CONNECTIONS", 8);
const kept = process.env.BENCH_DIRECTORY;
// Events that come in beside the reads would be in the way of the next run's answers.
const besideSeconds = numberOf("BESIDE_SECONDS", kept === undefined ? 15 : 0);
const isJson = process.argv.join(" ").includes("--format json");
const began = performance.now();
const say = (text: string) =>
  console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`);

/** How many events a kept folder holds. */
const FACTS = "facts.json";
const PREFIX = "tool-bench-logservice-";

const loadBefore = loadavg()[0]!;
const isLoaded = kept !== undefined && existsSync(join(resolve(kept), FACTS));
if (isLoaded !== (requestedEvents === 0)) {
  console.error(
    isLoaded
      ? `${kept} holds events already: EVENTS=0 asks them, another BENCH_DIRECTORY takes new ones`
      : "EVENTS=0 needs a BENCH_DIRECTORY that an earlier run has filled",
  );
  process.exit(2);
}
const folder = kept === undefined ? temporaryFolder() : resolve(kept);
mkdirSync(folder, { recursive: true });
const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => ending.abort(`stopped by ${signal}`));

const ended = new Promise<never>((_, reject) => {
  ending.signal.addEventListener("abort", () => reject(ending.signal.reason));
});
/** Says what comes next, unless the run is to end. */
const step = (text: string) => {
  ending.signal.throwIfAborted();
  say(text);
};
/** The functions that end what was started, called from the last one to the first. */
const open: (() => Promise<void> | void)[] = [];
const running = bench();
try {
  const results = await Promise.race([running, ended]);
  console.log(isJson ? JSON.stringify(results, undefined, 2) : markdown(results));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const end of open.reverse()) await end();
  // Calls that are under way fail without them; until then they may write into the folder.
  await running.catch(() => {});
  if (kept === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
// Processes that still load end with their channel to this one.
process.exit();

async function bench(): Promise<Results> {
  let ingested: Ingested | undefined;
  const events = isLoaded
    ? (JSON.parse(readFileSync(join(folder, FACTS), "utf8")).events as number)
    : Math.max(1, Math.round(requestedEvents / BATCH_EVENTS)) * BATCH_EVENTS;
  if (!isLoaded) {
    const service = await startService(folder);
    open.push(() => service.stop());
    say(`the service runs in ${folder}`);
    ingested = await ingest(service, { events, connections }, say);
    await service.stop();
  }
  step("compacting");
  const bytes = await settled(folder, ending.signal);

  const rivals: Rival[] = [];
  const rivalResults: Partial<Record<RivalName, RivalResult>> = {};
  for (const name of process.env.RIVALS === "0" ? [] : (Object.keys(RIVAL_TITLES) as RivalName[])) {
    const path = join(folder, `${name}.db`);
    const wasThere = existsSync(path);
    step(`${wasThere ? "opening" : "loading"} ${RIVAL_TITLES[name]}`);
    const rival = await openRival(name, path);
    open.push(() => rival.close());
    rivals.push(rival);
    const ms = wasThere ? undefined : await rival.load(events / BATCH_EVENTS);
    rivalResults[name] = {
      ingestRate: ms === undefined ? undefined : (events * 1000) / ms,
      bytesPerEvent: ["", "-wal", ".wal"].reduce((sum, end) => sum + sizeOf(path + end), 0) / events,
    };
  }
  if (!isLoaded) writeFileSync(join(folder, FACTS), JSON.stringify({ events }));

  step("starting the service anew");
  const service = await startService(folder);
  open.push(() => service.stop());
  const questions = questionsOf(events);
  const answered: Comparison[] = [];
  for (const question of questions) {
    step(question.what);
    answered.push(await askInRounds(service, rivals, question, rounds));
  }
  const reads =
    besideSeconds === 0
      ? undefined
      : await readsBeside(service, pageOf(questions), { events, seconds: besideSeconds, connections }, say);
  const memoryAfterReading = service.memory.look();
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `Node ${process.version.slice(1)}, ${cpus().length} x ${cpus()[0]?.model}, Linux ${release()}`,
    events,
    rounds,
    connections,
    ingested,
    bytesPerEvent: bytes / events,
    rivals: rivalResults,
    questions: answered,
    readsBeside: reads,
    memoryMostReading: service.memory.most,
    memoryAfterReading,
    load: [loadBefore, loadavg()[0]!],
  };
}

/** A folder with the process's id in its name, once those that killed runs left are removed. */
function temporaryFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split("-")[0]) : Number.NaN;
    if (pid > 0 && !isRunning(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  return mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
