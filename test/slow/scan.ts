// The scan at length: 40,000 pairs through the prefilter (`npm run fuzz:prefilter` runs 1,000,000), and ten queries against
// jq on a log of SCAN_BYTES bytes (35 MB; `npm run scan:jq` takes 100 MB).
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { generate } from "../bench/query/generate.ts";
import { cliPath } from "../support/cli.ts";
import { JQ_QUERIES, linesOfCommand } from "../support/jq-queries.ts";
import { requires } from "../support/require.ts";
import { comparePrefilter } from "../support/scan-fuzz.ts";

const count = Number(process.env.FUZZ_COUNT ?? 40_000);
const seed = Number(process.env.FUZZ_SEED ?? 2);
const bytes = Number(process.env.SCAN_BYTES ?? 35e6);

t.test(`${count} pairs of a query and a line`, (t) => {
  const begin = performance.now();
  const { pairs, selected, planned, differ } = comparePrefilter(count, seed);
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  console.log(
    `measured: prefilter: ${pairs} pairs, ${planned} with a prefilter, ${selected} selected, ${differ.length} differ, ${seconds} s`,
  );
  t.same(differ.slice(0, 20), []);
  t.end();
});

t.test(`ten queries on ${bytes} bytes give what jq gives`, { skip: requires("jq") }, async (t) => {
  if (bytes === 0) return;
  const directory = mkdtempSync(join(tmpdir(), "tool-scan-"));
  try {
    const path = join(directory, "generated.ndjson");
    const file = openSync(path, "w");
    generate(bytes, (block) => {
      for (let at = 0; at < block.length; ) at += writeSync(file, block, at);
    });
    closeSync(file);
    for (const [source, filter] of JQ_QUERIES) {
      const ours = await linesOfCommand(process.execPath, [cliPath, "logs", "--file", path, source]);
      const theirs = await linesOfCommand("jq", ["-c", `select(${filter})`, path]);
      t.same(ours, theirs, `${source}: ${ours.count} lines`);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
