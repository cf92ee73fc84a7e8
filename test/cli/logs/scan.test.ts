// The scan of `tool logs`: that the prefilter, the partial reader, blocks, segments and threads change nothing but the time.
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t from "tap";
import { byteSearch } from "../../../cli/logs/byte-search.ts";
import { readEntryLine } from "../../../cli/logs/entry-line.ts";
import { FoundLines } from "../../../cli/logs/found-lines.ts";
import { LineBlocks, MAX_LINE_BYTES } from "../../../cli/logs/line-blocks.ts";
import { lineScan } from "../../../cli/logs/line-scan.ts";
import { parallelScan } from "../../../cli/logs/parallel-scan.ts";
import { partialReader } from "../../../cli/logs/partial-entry.ts";
import { progress } from "../../../cli/logs/progress.ts";
import { SegmentReader } from "../../../cli/logs/segment-scan.ts";
import { MIN_PARALLEL_BYTES } from "../../../cli/logs/worker-pool.ts";
import { logText } from "../../../cli/output/log-text.ts";
import { timeReader } from "../../../cli/time/time-reader.ts";
import {
  compilePredicate,
  parseQuery,
  planScan,
  type Query,
  readTime,
  TIME_KEY,
} from "../../../grammar/query/index.ts";
import { entryLines, generate } from "../../bench/query/generate.ts";
import { cliPath, shell, tool } from "../../support/cli.ts";
import { JQ_QUERIES, linesOfCommand } from "../../support/jq-queries.ts";
import { requires } from "../../support/require.ts";
import { comparePrefilter } from "../../support/scan-fuzz.ts";
import { slow } from "../../support/slow.ts";
import rows from "../../vectors/scan.json" with { type: "json" };

const NOW_MS = Date.parse("2025-07-01T12:00:00Z");

function query(source: string): Query {
  const parsed = parseQuery(source);
  if (!parsed.ok) throw new Error(`${source}: ${parsed.problems[0]!.message}`);
  return parsed.value;
}

const all = (source: string) => ({ query: query(source), nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined });

t.test("what the bytes of a line tell about a query", (t) => {
  for (const { query: source, passes, passedOver } of rows) {
    const parsed = query(source);
    const predicate = compilePredicate(parsed, { nowMs: NOW_MS });
    for (const [lines, expected] of [
      [passes, true],
      [passedOver, false],
    ] as const) {
      for (const line of lines) {
        t.equal(isCandidate(parsed, line), expected, `${source} | ${line}`);
        const isSelected = predicate(readEntryLine(line).entry);
        if (!expected) t.notOk(isSelected, `${source} | ${line} is not selected`);
        let matches = 0;
        lineScan(all(source))({ bytes: Buffer.from(`${line}\n`), start: 0, end: Buffer.byteLength(line) }, () => {
          matches++;
          return true;
        });
        t.equal(matches, isSelected ? 1 : 0, `${source} | ${line} is found where it is selected`);
      }
    }
  }
  t.end();
});

/** Whether a scan reads the line: it stops at a needle, or at an escape that may hide one. */
function isCandidate(parsed: Query, line: string): boolean {
  const plan = planScan(parsed, { nowMs: NOW_MS });
  const bytes = Buffer.from(`${line}\n`);
  const isHidden = [...line.matchAll(/\\u([0-9a-fA-F]{4})/g)].some(([, hex]) =>
    plan.units.has(Number.parseInt(hex!, 16)),
  );
  if (plan.needles === undefined) {
    return (
      plan.isOutside === undefined || plan.isOutside(bytes, 0) === 0 || isHidden || line.split(TIME_KEY).length > 2
    );
  }
  for (const { bytes: needle, isQuoted, accepts } of plan.needles) {
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) {
      if (isQuoted && bytes[at - 1] !== 0x22) continue;
      if (accepts === undefined || accepts(bytes, at + needle.length)) return true;
    }
  }
  return isHidden || (plan.needles.length > 0 && plan.units.has(0x2f) && line.includes("\\/"));
}

t.test("5,000 pairs of a query and a line: the prefilter loses no line and adds none", slow(), (t) => {
  const { pairs, selected, planned, differ } = comparePrefilter(5_000, 1);
  t.same(differ.slice(0, 10), []);
  t.ok(selected > pairs / 20 && selected < pairs / 2, `${selected} of ${pairs} selected`);
  t.ok(planned > pairs / 3, `${planned} of ${pairs} with a prefilter`);
  t.end();
});

t.test("a partial reader says nothing of lines that are no valid entries", (t) => {
  const read = partialReader({ entry: new Set(["level"]), fields: new Set(["a"]) })!;
  const usual = [
    '{"level":"x","fields":{"a":[1,{"b":-0.5e+3}],"c":"\\u00e9\\n"}}',
    ' { "a" : true , "b":null}\t\r',
    "{}",
  ];
  const unusual = [
    ...[
      '{"a":01}',
      '{"a":1.}',
      '{"a":.5}',
      '{"a":+1}',
      '{"a":1e}',
      '{"a":tru}',
      '{"a":"\\x"}',
      '{"a":"\\u00g0"}',
      '{"a":"\t"}',
    ],
    ...[
      '{"a":1,}',
      '{"a" 1}',
      "{a:1}",
      '{"a":1',
      '{"a":1}}',
      '{"a":1} x',
      '{"a":[1,]}',
      '{"a":[1 2]}',
      "[1]",
      "text",
      "",
      "\ufeff{}",
    ],
    ...['{"fields":null,"a":1}', '{"fields":[1]}', '{"fields":{},"fields":{"a":1}}', '{"\\u0061":1}', "null"],
    `{"a":${"[".repeat(100)}${"]".repeat(100)}}`,
  ];
  for (const line of usual) t.equal(read.read(Buffer.from(`${line}\n`), 0), line.length, line);
  for (const line of unusual) t.equal(read.read(Buffer.from(`${line}\n`), 0), -1, line);
  read.read(Buffer.from('{"level":"err","fields":{"b":{"a":3},"a":{"b":[1.5]}},"a":2}\n'), 0);
  t.same(read.entry, { timestamp: "", level: "err", message: "", fields: { a: { b: [1.5] } } });
  t.equal(partialReader({ entry: new Set(), fields: new Set(["__proto__"]) }), undefined);
  t.end();
});

t.test("the id of a deployed app's entry gives way to that of its request", (t) => {
  const own = "0123456789abcdef-12";
  const line = (id: string, fields: object, timestamp = "2025-06-30T12:00:00.000Z") =>
    JSON.stringify({ id, timestamp, level: "info", message: "m", fields });
  const rows: readonly (readonly [id: string, line: string, isSelected: boolean])[] = [
    ["7f3a", line(own, { id: "7f3a" }), true],
    ["7f3a", line(own, { id: "7f3a" }, "yesterday"), true],
    [own, line(own, { id: "7f3a" }), false],
    [own, line(own, { stage: "a" }), true],
    ["7f3a", line("of-a-service", { id: "7f3a" }), false],
    ["of-a-service", line("of-a-service", { id: "7f3a" }), true],
  ];
  for (const [id, text, isSelected] of rows) {
    const source = `id = "${id}"`;
    const predicate = compilePredicate(query(source), { nowMs: NOW_MS });
    t.equal(predicate(readEntryLine(text).entry), isSelected, `${id} in ${text}`);
    let matches = 0;
    const bytes = Buffer.from(`${text}\n`);
    lineScan(all(source))({ bytes, start: 0, end: bytes.length - 1 }, () => {
      matches++;
      return true;
    });
    t.equal(matches, isSelected ? 1 : 0, `${id} in ${text}, by its bytes`);
  }
  t.end();
});

t.test("bytes are found wherever they stand, whichever part of them is searched for", (t) => {
  const texts = ["aaaaab-7f3", "x-7f3a-7f3a", "-", "--------", "card-refused-7f3a"];
  for (const needle of ["-7f3a", "aab", "card-refused-7f3a", "zz", "-", "a-7f3a-7f3a"]) {
    for (const text of [...texts, texts.join(" "), `${"z".repeat(500)}${texts.join("q")}`]) {
      const search = byteSearch(Buffer.from(needle));
      for (let from = 0; from <= text.length; from++) {
        const expected = text.indexOf(needle, from);
        const index = search(Buffer.from(text), from);
        if (index !== (expected < 0 ? Number.POSITIVE_INFINITY : expected))
          t.fail(`${needle} in ${text} from ${from}: ${index}`);
      }
    }
  }
  t.end();
});

t.test("times are read as Date.parse reads them", (t) => {
  const timeOf = timeReader();
  const ends = [
    "00.000Z",
    "59.999Z",
    "60.000Z",
    "6a.000Z",
    "30,000Z",
    "30.0 0Z",
    "30.1234",
    "30.000z",
    "30Z",
    "",
    "30.000+02:00",
    "30.000+0200",
    "30",
    "30,123",
    "30.0695Z",
    "30.069Z",
  ];
  for (const start of [
    "2025-06-30T12:00:",
    "2025-06-30T24:00:",
    "2025-02-30T12:00:",
    "0000-01-01T00:00:",
    "2025-06-30 12:00:",
    "1970-01-01T00:00:",
    "2016-12-31T23:59:",
  ]) {
    for (const end of [...ends, ...ends]) t.same(timeOf(start + end), readTime(start + end) ?? Number.NaN, start + end);
  }
  t.end();
});

/** A small log with everything in it that lines may hold. */
function oddLog(): Buffer {
  const next = entryLines(7);
  const odd = [
    "",
    "  ",
    "text",
    '{"cut',
    "\r",
    '{"level":"error","message":"é🎉"}',
    '{"status":500}\r',
    "error \u0000 text",
  ];
  return Buffer.from(Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? odd[i % odd.length]! : next())).join("\n"));
}

function expectedOutput(bytes: Buffer, source: string, format: "json" | "text"): { output: string; count: number } {
  const predicate = compilePredicate(query(source), { nowMs: NOW_MS });
  const text = logText({ color: false, expand: false, nowMs: NOW_MS });
  let output = "";
  let count = 0;
  for (const line of bytes.toString().split("\n")) {
    if (!/[^\u0000-\u0020]/.test(line)) continue;
    const { entry, isEntry } = readEntryLine(line);
    if (!predicate(entry)) continue;
    count++;
    const { level, message, fields } = entry;
    output +=
      format === "text" ? text(entry) : isEntry ? `${line}\n` : `${JSON.stringify({ level, message, fields })}\n`;
  }
  return { output, count };
}

const QUERIES = [
  "",
  "error",
  "status >= 400",
  "not status",
  '"*text*"',
  "level = info and not method = GET",
  "level > emergency",
];

t.test("blocks and segments cut anywhere give what line by line gives", (t) => {
  const bytes = oddLog();
  const path = join(t.testdir(), "odd.log");
  const lineOptions = { format: "json", color: false, expand: false, nowMs: NOW_MS, countOnly: false } as const;
  for (const source of QUERIES) {
    for (const [ending, input] of [
      ["no LF at the end", bytes],
      ["LF at the end", Buffer.concat([bytes, Buffer.from("\n")])],
    ] as const) {
      const { output } = expectedOutput(input, source, "json");
      writeFileSync(path, input);
      const file = openSync(path, "r");
      for (let size = 1; size <= input.length + 1; size += size < 40 ? 1 : 37) {
        const blocks = new LineBlocks(size);
        const lines = new FoundLines(lineOptions);
        const scan = lineScan(all(source));
        for (const block of blocks.push(input)) {
          scan(block, lines.onLine);
          lines.settle();
        }
        const last = blocks.end();
        if (last !== undefined) scan(last, lines.onLine);
        if (String(lines.take()) !== output) t.fail(`${source}: blocks of ${size}, ${ending}`);

        const segments = new SegmentReader(file, input.length);
        const cut = new FoundLines(lineOptions);
        for (let at = 0; at < input.length; at += size) {
          const { block } = segments.read(at, Math.min(input.length, at + size));
          if (block !== undefined) scan(block, cut.onLine);
          cut.settle();
        }
        if (String(cut.take()) !== output) t.fail(`${source}: segments of ${size}, ${ending}`);
      }
      closeSync(file);
    }
  }
  t.end();
});

t.test("threads give what one gives: lines, text, limits", slow(), async (t) => {
  const path = join(t.testdir(), "generated.ndjson");
  const blocks: Buffer[] = [oddLog(), Buffer.from("\n")];
  generate(600_000, (block) => blocks.push(block), 3);
  const bytes = Buffer.concat(blocks);
  writeFileSync(path, bytes);
  const file = openSync(path, "r");
  for (const format of ["json", "text"] as const) {
    for (const source of ["", "status >= 500", "not error"]) {
      for (const segmentBytes of [300, 7_001, 200_000]) {
        if (segmentBytes === 300 && source !== "status >= 500") continue;
        const expected = expectedOutput(bytes, source, format);
        const lineOptions = { format, color: false, expand: false, nowMs: NOW_MS, countOnly: false };
        for (const limit of [Number.POSITIVE_INFINITY, 5]) {
          const { textState } = new FoundLines(lineOptions);
          const scan = { file, size: bytes.length, wanted: all(source), lineOptions, textState, limit, segmentBytes };
          let output = "";
          let count = 0;
          for await (const part of parallelScan({ ...scan, workerCount: 2 })) {
            output += Buffer.from(part.output).toString();
            count += part.count;
          }
          const name = `${format}, ${source || "all"}, segments of ${segmentBytes}, limit ${limit}`;
          if (limit === 5) {
            t.equal(count, 5, `${name}: count`);
            t.ok(output !== "" && expected.output.startsWith(output), name);
          } else {
            t.equal(count, expected.count, `${name}: count`);
            t.ok(output === expected.output, name);
          }
        }
      }
    }
  }
  closeSync(file);
});

t.test("a large file with a line too long for segments", slow(), async (t) => {
  const cwd = t.testdir();
  const blocks: Buffer[] = [];
  generate(MIN_PARALLEL_BYTES, (block) => blocks.push(block));
  const long = Buffer.alloc(MAX_LINE_BYTES + 3_000_000, "x");
  const last = Buffer.from('\n{"message":"behind it","status":500}\n');
  writeFileSync(join(cwd, "large.log"), Buffer.concat([...blocks, long, last]));
  const { stdout, stderr, code } = await tool(["logs", "--file", "large.log", "--count", "status >= 500"], { cwd });
  const expected =
    Buffer.concat(blocks)
      .toString()
      .match(/"status":5/g)!.length + 1;
  t.same({ stdout, stderr, code }, { stdout: `${expected}\n`, stderr: "", code: 0 });
});

t.test("compressed files, limits and counts", async (t) => {
  const lines = (...names: string[]) => names.map((name) => `{"message":"${name}"}\n`).join("");
  const old = new Date(Date.now() - 60_000).toISOString();
  const developed = (...names: string[]) =>
    names.map((name) => `{"timestamp":"${old}","message":"${name}"}\n`).join("");
  const damaged = Buffer.from(gzipSync(lines(...Array.from({ length: 60_000 }, (_, i) => `n${i * 7919}`))));
  const cwd = t.testdir({
    "tool.json": '{ "name": "app" }',
    ".tool": { "development.ndjson.1": developed("d1", "d2"), "development.ndjson": developed("d3", "d4") },
    "a.log": lines("a1", "a2", "a3"),
    "b.log.gz": gzipSync(lines("b1", "b2")),
    "two.gz": Buffer.concat([gzipSync(lines("m1", "m2")), gzipSync(lines("m3"))]),
    "empty.gz": gzipSync(""),
    "cut.gz": damaged.subarray(0, 50_000),
    "bad.gz": Buffer.concat([damaged.subarray(0, 50_000), Buffer.alloc(1000, 0xff), damaged.subarray(51_000)]),
    "binary.bin": Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1, 10]),
    "utf16.log": Buffer.from("\ufeff{}\n", "utf16le"),
  });
  const note = "reading .tool/development.ndjson, the log of tool start\n";
  const table: [line: string, stdout: string, stderr?: string, code?: number][] = [
    ["tool logs --file b.log.gz", lines("b1", "b2")],
    ["tool logs --file two.gz", lines("m1", "m2", "m3")],
    ["tool logs --file empty.gz", ""],
    [
      "tool logs --file '*.log*' 'message = *1' --file two.gz",
      '{"message":"a1"}\n{"message":"b1"}\n{"message":"m1"}\n',
      'error: cannot read "utf16.log": it is UTF-16 text\n  convert it: iconv -f utf-16 -t utf-8 utf16.log | tool logs --file -\n',
      1,
    ],
    ["tool logs -f --file b.log.gz --file a.log -n 5", lines("b1", "b2", "a1", "a2", "a3")],
    ["tool logs --file a.log -n 2", lines("a1", "a2")],
    ["tool logs --file a.log --file b.log.gz --limit 4", lines("a1", "a2", "a3", "b1")],
    ["tool logs --limit 1 < a.log", lines("a1")],
    ["cat a.log | tool logs --limit 2", lines("a1", "a2")],
    ['yes \'{"message":"y"}\' | tool logs --limit 2', lines("y", "y")],
    ["tool logs --limit 3", developed("d2", "d3", "d4"), note],
    ["tool logs --limit 9", developed("d1", "d2", "d3", "d4"), note],
    ["tool logs -f --limit 2", developed("d3", "d4"), note],
    ["tool logs --file a.log --count", "3\n"],
    ["tool logs --file a.log --count --format json", '{"count":3}\n'],
    ["tool logs --file a.log --count --limit 2", "2\n"],
    ["tool logs --count --limit 3", "3\n", note],
    ["tool logs --file a.log --count 'message = none'", "0\n"],
    [
      "tool logs --file a.log --file binary.bin",
      lines("a1", "a2", "a3"),
      'error: cannot read "binary.bin": it is a binary file\n  logs are text, plain or compressed with gzip\n',
      1,
    ],
    ["tool logs --file a.log --limit 0", "", 'error: --limit "0": not a number of entries\n  write --limit 20\n', 2],
    ["tool logs -f --count", "", "error: --count with -f never ends\n  leave out -f, or give a --limit\n", 2],
  ];
  for (const [line, stdout, stderr = "", code = 0] of table) {
    t.same(await shell(line, { cwd }), { code, signal: null, stdout, stderr }, line);
  }
  for (const [name, reason] of [
    ["cut.gz", "the gzip file is cut off"],
    ["bad.gz", "the gzip file is damaged"],
  ] as const) {
    const { stdout, stderr, code } = await tool(["logs", "--file", name, "--file", "a.log"], { cwd });
    const outputLines = stdout.split("\n");
    t.equal(outputLines[0], '{"message":"n0"}', `${name}: what was read before is shown`);
    t.ok(outputLines.length > 1000, `${name}: ${outputLines.length} lines`);
    t.ok(stdout.endsWith(lines("a1", "a2", "a3")), `${name}: the next file is read`);
    t.ok(stderr.startsWith(`error: cannot read "${name}": ${reason}`), stderr);
    t.equal(code, 1, `${name}: exit code`);
  }
});

t.test("progress: after a second, on a terminal only, and gone at the end", (t) => {
  let nowMs = 0;
  let written = "";
  const output = (isTerminal: boolean, columns = 80) => ({
    isTerminal,
    columns,
    rows: 24,
    color: false,
    write: async (data: string | Uint8Array) => {
      written += data;
    },
    flush: async () => {},
    closed: new AbortController().signal,
    file: () => undefined,
    hasWritten: false,
  });
  const shows = (expected: string, name: string) => {
    t.equal(written, expected, name);
    written = "";
  };
  const line = progress(output(true), { totalBytes: 400e6, requests: undefined }, () => nowMs);
  nowMs = 900;
  line.add(100e6);
  line.erase();
  shows("", "nothing in the first second");
  nowMs = 1000;
  line.add(100e6);
  shows("\rsearched 190.73 MB, 50% of 381.47 MB, 200 MB/s\u001b[K", "then how far it is");
  nowMs = 1100;
  line.add(1);
  shows("", "not more than a few times a second");
  nowMs = 2000;
  line.add(300e6);
  shows("\rsearched 476.84 MB, 100% of 381.47 MB, 250 MB/s\u001b[K", "a file that grew is read to 100 %");
  line.erase();
  shows("\r\u001b[K", "erased");
  line.erase();
  shows("", "once");
  const pipe = progress(output(true, 20), { totalBytes: undefined, requests: undefined }, () => nowMs);
  nowMs = 4000;
  pipe.add(5e6);
  shows("\rsearched 4.77 MB, 3\u001b[K", "no total, no percent; one line, however narrow");
  const byRequests = progress(output(true), { totalBytes: undefined, requests: () => 12 }, () => nowMs);
  nowMs = 6000;
  byRequests.add(0);
  shows("\rread 0 B in 12 requests\u001b[K", "requests that bring nothing are seen, too");
  const file = progress(output(false), { totalBytes: 1, requests: undefined }, () => nowMs);
  nowMs = 9000;
  file.add(1);
  file.erase();
  shows("", "not into a file");
  t.end();
});

t.test("ten queries give what jq gives", { skip: requires("jq"), ...slow() }, async (t) => {
  const path = join(t.testdir(), "generated.ndjson");
  const blocks: Buffer[] = [];
  generate(5e6, (block) => blocks.push(block), 5);
  writeFileSync(path, Buffer.concat(blocks));
  for (const [source, filter] of JQ_QUERIES) {
    const ours = await linesOfCommand(process.execPath, [cliPath, "logs", "--file", path, source]);
    const theirs = await linesOfCommand("jq", ["-c", `select(${filter})`, path]);
    t.ok(ours.count > 0, `${source}: ${ours.count} lines`);
    t.same(ours, theirs, source);
  }
});
