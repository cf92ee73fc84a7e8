// A gigabyte (or PIPE_BYTES) through a pipe: every match found, in memory that does not grow with the input.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { cliPath } from "../support/cli.ts";

const MB = 1e6;

/** 5e9 takes some minutes and tells more. */
const LARGE_BYTES = Number(process.env.PIPE_BYTES ?? 1000 * MB);

/** Lines of about 250 bytes; each thousandth has the status 500. Run as a program: bytes to write as its argument. */
const generator = `
  const entry = (n) => JSON.stringify({ timestamp: new Date(1.7e12 + n * 7).toISOString(), level: n % 1000 ? "info" : "error", message: "response",
    fields: { id: "r" + n, ip: "10.0.0." + (n % 250), method: "GET", path: "/api/orders/" + (n % 5000), stage: "production", version: "7", status: n % 1000 ? 200 : 500, duration: n % 300, size: n % 9000 } }) + "\\n";
  let block = "", count = 0, written = 0;
  const total = Number(process.argv[1]);
  while (written < total) {
    block = "";
    while (block.length < 65536) block += entry(count++);
    written += block.length;
    let at = 0;
    const bytes = Buffer.from(block);
    while (at < bytes.length) {
      try { at += require("fs").writeSync(1, bytes, at); } catch (error) { if (error.code !== "EAGAIN") throw error; }
    }
  }
  console.error(Math.ceil(count / 1000));
`;

async function scan(bytes: number) {
  const directory = mkdtempSync(join(tmpdir(), "tool-pipe-"));
  const fifo = join(directory, "pipe");
  spawnSync("mkfifo", [fifo]);
  // A pipe that Node makes is a socket; only a real FIFO is read as standard input.
  const writer = spawn("sh", ["-c", `exec "$0" -e "$1" ${bytes} > "$2"`, process.execPath, generator, fifo], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const reader = spawn("sh", ["-c", 'exec "$0" "$1" logs "status >= 500" < "$2"', process.execPath, cliPath, fifo], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let expected = "";
  writer.stderr!.on("data", (chunk) => {
    expected += chunk;
  });
  let matches = 0;
  reader.stdout!.on("data", (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) matches++;
  });
  let peakKb = 0;
  const poll = setInterval(() => {
    const status = spawnSync("cat", [`/proc/${reader.pid}/status`], { encoding: "utf8" }).stdout;
    peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  }, 100);
  const begin = performance.now();
  const [code] = await once(reader, "close");
  clearInterval(poll);
  if (writer.exitCode === null) await once(writer, "exit");
  rmSync(directory, { recursive: true, force: true });
  return {
    code,
    matches,
    expected: Number(expected),
    peakMb: peakKb / 1024,
    seconds: (performance.now() - begin) / 1000,
  };
}

t.test(
  `tool logs over a pipe of ${LARGE_BYTES / 1e9} GB`,
  { skip: process.platform !== "linux" ? "needs /proc" : false },
  async (t) => {
    const small = await scan(100 * MB);
    const large = await scan(LARGE_BYTES);
    for (const { code, matches, expected } of [small, large]) {
      t.equal(code, 0);
      t.equal(matches, expected, `${expected} matches`);
    }
    console.log(
      `measured: 100 MB in ${small.seconds.toFixed(1)} s, peak ${small.peakMb.toFixed(0)} MB; ${LARGE_BYTES / 1e9} GB in ${large.seconds.toFixed(1)} s, peak ${large.peakMb.toFixed(0)} MB`,
    );
    t.ok(large.peakMb < small.peakMb * 1.25, `peak ${large.peakMb} MB against ${small.peakMb} MB for a tenth`);
    t.ok(large.peakMb < 200, "and small");
  },
);
