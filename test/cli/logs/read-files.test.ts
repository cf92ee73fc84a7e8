// Files that are rotated while they are read: nothing is shown twice, and nothing is missed.
import fs, { appendFileSync, linkSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { type Block, CAUGHT_UP } from "../../../cli/logs/line-blocks.ts";
import { followFiles, openFile, readOpenFile, readRotated } from "../../../cli/logs/read-files.ts";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const textOf = ({ bytes, start, end }: Block) => bytes.toString("utf8", start, end);
const never = new AbortController().signal;
const ONCE = { sinceMs: 0, follow: false, signal: never, clock: systemClock };

async function linesOf(blocks: AsyncIterable<Block>): Promise<string[]> {
  const lines: string[] = [];
  for await (const block of blocks) if (block !== CAUGHT_UP) lines.push(...textOf(block).split("\n"));
  return lines;
}

interface Following {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** The first `count` lines of blocks that follow files without an end. */
async function firstLines(
  blocks: (following: Following) => AsyncIterable<Block>,
  count: number,
  clock = new TestClock(),
): Promise<string[]> {
  const ending = new AbortController();
  const lines: string[] = [];
  let isEnded = false;
  let isWaiting = false;
  const sleep: Clock["sleep"] = async (ms, signal) => {
    isWaiting = true;
    await clock.sleep(ms, signal).finally(() => {
      isWaiting = false;
    });
  };
  const read = async () => {
    for await (const block of blocks({ signal: ending.signal, clock: { ...clock, sleep } })) {
      if (block !== CAUGHT_UP) lines.push(...textOf(block).split("\n"));
      if (lines.length >= count) ending.abort();
    }
  };
  const reading = read().finally(() => {
    isEnded = true;
  });
  // A line that is missed in five seconds does not come later either.
  while (!isEnded && clock.monotonicMs() < 5_000) {
    await until("the reader to wait for more", () => isEnded || isWaiting);
    await clock.advance(clock.timers[0] ?? 0);
  }
  ending.abort();
  await reading;
  return lines;
}

/** Calls `then` once: when a read has found the end of a file, before the reader learns of it. */
async function whenRead(t: Test, path: string, then: () => void): Promise<void> {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const real = prototype.read as (...args: unknown[]) => Promise<{ bytesRead: number }>;
  const { ino } = statSync(path);
  let isDone = false;
  const restore = () => {
    prototype.read = real as FileHandle["read"];
  };
  t.teardown(restore);
  prototype.read = async function (this: FileHandle, ...args: unknown[]) {
    const result = await real.apply(this, args);
    if (!isDone && result.bytesRead === 0 && (await this.stat()).ino === ino) {
      isDone = true;
      restore();
      then();
    }
    return result;
  } as FileHandle["read"];
}

t.test("the older file is read first, unless it ended before the time that is asked for", async (t) => {
  const path = join(t.testdir({ log: "new\n", "log.1": "old\n" }), "log");
  t.same(await linesOf(readRotated(path, ONCE)), ["old", "new"]);
  const writtenMs = Date.parse("2026-01-01T00:00:00Z");
  utimesSync(`${path}.1`, writtenMs / 1000, writtenMs / 1000);
  t.same(await linesOf(readRotated(path, { ...ONCE, sinceMs: writtenMs })), ["old", "new"], "at that moment");
  t.same(await linesOf(readRotated(path, { ...ONCE, sinceMs: writtenMs + 1 })), ["new"], "after it");
});

t.test("either of the two may not be there", async (t) => {
  const rows: [files: Record<string, string>, lines: string[]][] = [
    [{}, []],
    [{ "log.1": "old\nunended" }, ["old", "unended"]],
    [{ log: "new\nunended" }, ["new", "unended"]],
    [{ "log.1": "old\nunended", log: "new\n" }, ["old", "unended", "new"]],
  ];
  for (const [i, [files, lines]] of rows.entries()) {
    const path = join(t.testdir({ [i]: files }), String(i), "log");
    t.same(await linesOf(readRotated(path, ONCE)), lines, JSON.stringify(files));
  }
});

t.test("a rotation while the older file is read moves nothing out of sight", async (t) => {
  const path = join(t.testdir({ log: "first\n", "log.1": "older\n" }), "log");
  const lines: string[] = [];
  for await (const block of readRotated(path, ONCE)) {
    lines.push(textOf(block));
    if (lines.length > 1) continue;
    renameSync(path, `${path}.1`);
    writeFileSync(path, "second\n");
  }
  t.same(lines, ["older", "first"], "what was the current file at the start");
});

t.test("a rotation before the second file is opened hides nothing of the first", async (t) => {
  const path = join(t.testdir({ log: "first\n", "log.1": "older\n" }), "log");
  const real = fs.promises.open;
  const restore = () => {
    fs.promises.open = real;
    syncBuiltinESMExports();
  };
  t.teardown(restore);
  fs.promises.open = async (...args) => {
    restore();
    const handle = await real(...args);
    renameSync(path, `${path}.1`);
    writeFileSync(path, "second\n");
    return handle;
  };
  syncBuiltinESMExports();
  t.same(await linesOf(readRotated(path, ONCE)), ["first"]);
});

t.test("a rotation between the two looks shows nothing twice", async (t) => {
  const path = join(t.testdir({ log: "one\ntwo\n" }), "log");
  linkSync(path, `${path}.1`);
  t.same(await linesOf(readRotated(path, ONCE)), ["one", "two"]);
});

for (const [name, blocks] of [
  ["a file", (path: string, following: Following) => followFiles(async () => [path], following)],
  [
    "the development log",
    (path: string, following: Following) => readRotated(path, { sinceMs: 0, follow: true, ...following }),
  ],
] as const) {
  t.test(`what is written between the last read and a rename is shown: ${name}`, async (t) => {
    for (const late of ["late\n", "late, without its end"]) {
      const path = join(t.testdir({ log: "one\n" }), "log");
      await whenRead(t, path, () => {
        appendFileSync(path, late);
        renameSync(path, `${path}.1`);
        writeFileSync(path, "three\n");
      });
      const lines = await firstLines((following) => blocks(path, following), 3);
      t.same(lines, ["one", late.trimEnd(), "three"]);
      t.equal(readFileSync(`${path}.1`, "utf8"), `one\n${late}`);
    }
  });

  t.test(`a file that was cut begins anew: ${name}`, async (t) => {
    const path = join(t.testdir({ log: "one\nunended" }), "log");
    await whenRead(t, path, () => writeFileSync(path, "two\n"));
    t.same(await firstLines((following) => blocks(path, following), 3), ["one", "unended", "two"]);
  });

  t.test(`there may be no file for a while: ${name}`, async (t) => {
    const path = join(t.testdir({ log: "one\n" }), "log");
    const clock = new TestClock();
    await whenRead(t, path, () => {
      renameSync(path, `${path}.1`);
      clock.after(250, () => writeFileSync(path, "two\n"));
    });
    t.same(await firstLines((following) => blocks(path, following), 2, clock), ["one", "two"]);
  });
}

t.test("a file that a pattern finds later is read from its beginning, and each only once", async (t) => {
  const dir = t.testdir({ a: "a1\n" });
  const [a, b] = [join(dir, "a"), join(dir, "b")];
  let looks = 0;
  const paths = async () => {
    if (++looks === 2) writeFileSync(b, "b1\n");
    return looks < 2 ? [a] : [a, b, a];
  };
  t.same(await firstLines((following) => followFiles(paths, following), 2), ["a1", "b1"]);
});

t.test("gzip is told by both of its first bytes", async (t) => {
  const gzip = gzipSync("one\ntwo\n");
  const rows: [name: string, content: Buffer, lines: string[]][] = [
    ["whole", gzip, ["one", "two"]],
    ["several members", Buffer.concat([gzip, gzipSync("three")]), ["one", "two", "three"]],
    ["the first byte only", Buffer.from("\x1fone\ntwo\n"), ["\x1fone", "two"]],
    ["one byte", Buffer.from("\x1f"), ["\x1f"]],
    ["nothing", Buffer.alloc(0), []],
  ];
  for (const [name, content, lines] of rows) {
    const path = join(t.testdir(), "log");
    writeFileSync(path, content);
    const file = { name: "log", path };
    const opened = await openFile(file, new AbortController().signal);
    t.equal(opened.size, content.length > 2 && content[1] === 0x8b ? undefined : content.length, name);
    t.same(await linesOf(readOpenFile(file, opened, () => {})), lines, name);
    await opened.handle.close();
  }
});

t.test("a compressed file that is followed is read once", async (t) => {
  const [path, other] = ["log.gz", "log"].map((name) => join(t.testdir({ log: "" }), name)) as [string, string];
  writeFileSync(path, gzipSync("one\n"));
  const clock = new TestClock();
  clock.after(500, () => writeFileSync(other, "two\n"));
  t.same(await firstLines((following) => followFiles(async () => [path, other], following), 2, clock), ["one", "two"]);
});
