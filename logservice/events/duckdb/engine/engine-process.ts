// Answers the questions of one query at a time that may take long over a single text, in a process that can be ended.
import { setPriority } from "node:os";
import { compilePredicate, PipesRun, pipesOver, TooManyGroups } from "../../../../grammar/query/index.ts";
import { systemClock } from "../../../../grammar/units/clock.ts";
import { decodeLine } from "../../journal/line.ts";
import { type Columns, ConnectionPool } from "../connection-pool.ts";
import { openDuckDb } from "../duckdb.ts";
import type { EngineAnswer, EngineJob, EngineRequest, Selecting } from "./engine-protocol.ts";

setPriority(5);

const [, , spill = ""] = process.argv;
const never = new AbortController().signal;
let pool: Promise<ConnectionPool> | undefined;
let run: PipesRun | undefined;
let predicate: { readonly key: string; readonly selects: ReturnType<typeof compilePredicate> } | undefined;

// An exit would wait for the engine, which nothing interrupts within a text.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.on("message", (request: EngineRequest) => {
  const { number } = request;
  answerTo(request, number).then(
    (done) => send({ number, done }),
    (error: unknown) => {
      const tooMany = error instanceof TooManyGroups ? { count: error.count, what: error.what } : undefined;
      return send({ number, error: error instanceof Error ? error.message : String(error), tooMany });
    },
  );
});

/** Resolves when it is on its way. */
const send = (answer: EngineAnswer) => new Promise<void>((resolve) => process.send?.(answer, () => resolve()));

async function answerTo(job: EngineJob, number: number): Promise<unknown> {
  switch (job.kind) {
    case "statement":
      pool ??= ConnectionPool.open(openEngine, systemClock);
      return (await pool).run(job.text, job.values, never, (columns: Columns) => send({ number, columns }));
    case "lines": {
      const selects = predicateOf(job.by);
      const body = Buffer.from(job.body.buffer, job.body.byteOffset, job.body.byteLength);
      return placesOf(job.ends.length, (i) =>
        selects(decodeLine(body, i === 0 ? 0 : job.ends[i - 1]!, job.ends[i]!).event),
      );
    }
    case "events": {
      const selects = predicateOf(job.by);
      return placesOf(job.events.length, (i) => selects(job.events[i]!));
    }
    case "begin":
      run = new PipesRun({ pipes: job.pipes }, job.options);
      return undefined;
    case "push":
      for (const event of job.events) {
        if (run!.isDone) break;
        run!.push(event);
      }
      return run!.isDone;
    case "result":
      return run!.result();
    case "rows":
      return pipesOver(job.pipes, job.table, job.options);
  }
}

/** As the service has it, but for the footers: files of one query alone are read. */
const openEngine = () =>
  openDuckDb(":memory:", {
    threads: "2",
    memory_limit: "512MB",
    temp_directory: spill,
    max_temp_directory_size: "2GB",
    autoinstall_known_extensions: "false",
  });

function predicateOf(by: Selecting) {
  const key = JSON.stringify(by);
  if (predicate?.key !== key) predicate = { key, selects: compilePredicate(by.query, by) };
  return predicate.selects;
}

function placesOf(count: number, isSelected: (place: number) => boolean): Uint32Array {
  const places: number[] = [];
  for (let i = 0; i < count; i++) if (isSelected(i)) places.push(i);
  return Uint32Array.from(places);
}
