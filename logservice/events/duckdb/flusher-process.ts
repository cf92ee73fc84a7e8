// Makes segments in a process of its own: sorting and compressing would stop the service for seconds, and its memory is
// given back when it ends. Jobs come and go over the channel to the parent; without one there is nothing to do. Arguments:
// a folder for what does not fit into memory, and how many jobs are done at once.
import { setPriority } from "node:os";
import { systemClock } from "../../../grammar/units/clock.ts";
import { LEAST_FILTERED, writeFilter } from "./bloom-filter.ts";
import { buildFromJournal, buildFromSegments, type SegmentFacts } from "./build.ts";
import { type DuckDBConnection, isOutOfMemory, openDuckDb, quoted } from "./duckdb.ts";
import type { JobAnswer, JobRequest } from "./flusher-protocol.ts";
import { type RebuiltSidecar, rebuildSidecar } from "./sidecar.ts";

const [spill = "", jobsAtOnce = "1"] = process.argv.slice(2);

// Enough for jobs of the usual size, the engine goes to the disk early; a few need more.
const MEMORY = "220MB";
const MUCH_MEMORY = "1GB";

// Queries and ingest come first.
setPriority(10);

const opened = openDuckDb(":memory:", {
  // For each job. Parallelism comes from several jobs.
  threads: "1",
  memory_limit: MEMORY,
  temp_directory: spill,
  max_temp_directory_size: "8GB",
  // Both halve the memory that the allocator keeps between segments.
  allocator_flush_threshold: "8MB",
  allocator_bulk_deallocation_flush_threshold: "16MB",
  autoinstall_known_extensions: "false",
});
// Reported with the first job.
opened.catch(() => {});

const waiting: JobRequest[] = [];
const idle: DuckDBConnection[] = [];
let running = 0;
/** Those that need much memory, one after the other. */
let large: Promise<unknown> = Promise.resolve();
let waitingLarge = 0;
let isMuch = false;

process.on("message", (request: JobRequest) => {
  waiting.push(request);
  startJobs();
});
// The service is gone: what is half done is done again after its next start.
process.on("disconnect", () => process.exit(0));

function startJobs(): void {
  while (running < Number(jobsAtOnce) && waiting.length > 0) {
    const request = waiting.shift()!;
    running++;
    void answerTo(request).then((answer) => {
      running--;
      process.send?.(answer);
      startJobs();
    });
  }
}

async function answerTo(job: JobRequest): Promise<JobAnswer> {
  try {
    const connection = idle.pop() ?? (await (await opened).connect());
    try {
      const built = await work(connection, job).catch((error: unknown) => {
        if (!isOutOfMemory(error)) throw error;
        return withMuchMemory(connection, () => work(connection, job));
      });
      return { number: job.number, ...built };
    } finally {
      await giveBackMemory(connection);
      idle.push(connection);
    }
  } catch (error) {
    return { number: job.number, error: String(error) };
  }
}

interface Built {
  readonly built: readonly SegmentFacts[];
  readonly summary?: RebuiltSidecar;
}

async function work(connection: DuckDBConnection, job: JobRequest): Promise<Built> {
  if (job.kind === "flush")
    return { built: await buildFromJournal(connection, job.journalPath, job.targets, systemClock) };
  if (job.kind === "merge") {
    const merged = await buildFromSegments(connection, job, systemClock);
    // The small ones of which it was made come and go too fast for one.
    if (merged.events >= LEAST_FILTERED) {
      await writeFilter(connection, merged.path, { bytes: merged.bytes, sum: merged.integrity!.sum! });
    }
    return { built: [merged] };
  }
  if (job.kind === "summary") return { built: [], summary: await rebuildSidecar(connection, job.path, job.segment) };
  await writeFilter(connection, job.path, job.segment);
  return { built: [] };
}

/** The limit is the engine's: the job beside may take of it, too, but only one is there that needs it. */
async function withMuchMemory<Result>(connection: DuckDBConnection, again: () => Promise<Result>): Promise<Result> {
  waitingLarge++;
  isMuch = true;
  const done = large.then(async () => {
    await connection.run(`set memory_limit = ${quoted(MUCH_MEMORY)}`);
    return again();
  });
  large = done.catch(() => {});
  try {
    return await done;
  } finally {
    waitingLarge--;
  }
}

async function giveBackMemory(connection: DuckDBConnection): Promise<void> {
  if (!isMuch || waitingLarge > 0) return;
  try {
    await connection.run(`set memory_limit = ${quoted(MEMORY)}`);
    isMuch = false;
  } catch (error) {
    // The job beside holds more: its end comes, too.
    if (!isOutOfMemory(error)) throw error;
  }
}
