// Makes segments in a process of its own: sorting and compressing would stop the service for seconds, and its memory is
// given back when it ends. Jobs come and go over the channel to the parent; without one there is nothing to do.
import { setPriority } from "node:os";
import { buildFromJournal, buildFromSegments } from "./build.ts";
import { openDuckDb } from "./duckdb.ts";
import type { JobAnswer, JobRequest } from "./worker-protocol.ts";

// Readers and ingest come first.
setPriority(10);

// Both halve the memory that the allocator keeps between segments.
const opened = openDuckDb(":memory:", {
  threads: "2",
  memory_limit: "1GB",
  allocator_flush_threshold: "8MB",
  allocator_bulk_deallocation_flush_threshold: "16MB",
  autoinstall_known_extensions: "false",
}).then((engine) => engine.connect());
// Said with the first job.
opened.catch(() => {});

let last: Promise<void> = Promise.resolve();
process.on("message", (request: JobRequest) => {
  last = last.then(async () => {
    const answer = await work(request).then(
      (built): JobAnswer => ({ number: request.number, built }),
      (error: unknown): JobAnswer => ({ number: request.number, error: String(error) }),
    );
    process.send?.(answer);
  });
});
// The service is gone: what is half done is done again after its next start.
process.on("disconnect", () => process.exit(0));

async function work(job: JobRequest) {
  const connection = await opened;
  if (job.kind === "flush") return buildFromJournal(connection, job.journalPath, job.shares);
  return [await buildFromSegments(connection, job.paths, job.path, job.events)];
}
