// Stages under load: a log that is followed at 20,000 lines a second on a terminal, and more groups than memory is given for.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { cleanEnv, cliPath, tool } from "../support/cli.ts";
import { residentBytes } from "../support/processes.ts";
import { until } from "../support/until.ts";

const MB = 1e6;
const isLinux = process.platform === "linux";
const skip = isLinux && spawnSync("script", ["--version"]).status === 0 ? false : "needs /proc and script (util-linux)";
const SECONDS = Number(process.env.FOLLOW_SECONDS ?? 8);
const LINES_PER_SECOND = 20_000;
/** Lines come in so many parts a second. */
const PARTS = 10;
/** The lines are parsed, grouped and drawn. */
const MOST_TIMES = 12;

/** 200 paths, and a duration. */
const line = (n: number) =>
  `{"timestamp":"${new Date(1.77e12 + n / 20).toISOString()}","level":"info","message":"response","fields":{"path":"/p/${(n * 7919) % 200}","status":${n % 50 === 0 ? 500 : 200},"duration":${n % 997}}}\n`;

/** The child of `script`, which is the command. */
function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
  return Number(child);
}

function usedBy(pid: number): { readonly bytes: number; readonly cpuMs: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  // In hundredths of a second.
  return { bytes: residentBytes(pid), cpuMs: (Number(stat[11]) + Number(stat[12])) * 10 };
}

/** Milliseconds of processor time that it takes this process to parse so many of the lines, and nothing else. */
function parsedMs(lines: number): number {
  const texts = Array.from({ length: LINES_PER_SECOND }, (_, n) => line(n));
  const before = process.cpuUsage();
  for (let n = 0; n < lines; n++) JSON.parse(texts[n % LINES_PER_SECOND]!);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

t.test("-f at 20,000 lines a second: steady memory, and about what it takes to read the lines", { skip }, async (t) => {
  const cwd = t.testdir();
  for (const query of ["| count by path", "| stats count(), p99(duration) by path"]) {
    writeFileSync(join(cwd, "log.ndjson"), "");
    const command = `exec '${process.execPath}' '${cliPath}' logs --file log.ndjson -f '${query}'`;
    const terminal = spawn("script", ["-qec", command, "/dev/null"], {
      cwd,
      env: cleanEnv({ TERM: "xterm" }),
      stdio: ["ignore", "pipe", "ignore"],
    });
    let screen = "";
    terminal.stdout!.setEncoding("utf8").on("data", (text: string) => {
      screen = (screen + text).slice(-100_000);
    });
    await until("the command", () => childOf(terminal.pid!));
    const pid = childOf(terminal.pid!);
    const samples: { bytes: number; cpuMs: number }[] = [];
    let written = 0;
    const beginMs = performance.now();
    for (let part = 0; part < SECONDS * PARTS; part++) {
      const lines = Array.from({ length: LINES_PER_SECOND / PARTS }, () => line(written++));
      appendFileSync(join(cwd, "log.ndjson"), lines.join(""));
      if (part % PARTS === 0) samples.push(usedBy(pid));
      await sleep(Math.max(0, beginMs + ((part + 1) * 1000) / PARTS - performance.now()));
    }
    const each = `${(written / 200).toLocaleString("en").replaceAll(",", "")}`;
    await until("all lines", () => screen.includes(`  ${each}`));
    const { cpuMs } = usedBy(pid);
    process.kill(pid, "SIGINT");
    await new Promise((resolve) => terminal.once("exit", resolve));
    const early = samples[Math.floor(SECONDS / 4)]!;
    const last = samples.at(-1)!;
    const times = (cpuMs - samples[0]!.cpuMs) / parsedMs(written);
    const grown = last.bytes - early.bytes;
    // p99 keeps each value: eight bytes.
    const values = query.includes("p99") ? written * 8 * 2 : 0;
    const said = `${query}: ${times.toFixed(1)} times the processor time of JSON.parse, ${(last.bytes / MB).toFixed(0)} MB, ${(grown / MB).toFixed(1)} MB more after ${SECONDS} s`;
    t.ok(times < MOST_TIMES, said);
    t.ok(grown < 64 * MB + values, said);
    t.comment(`measured: ${said}`);
  }
});

t.test("2,000,000 groups: a clear error in bounded memory", { skip: !isLinux && "needs /proc" }, async (t) => {
  const cwd = t.testdir();
  const file = openSync(join(cwd, "groups.ndjson"), "w");
  for (let i = 0; i < 2_000_000; i += 1000)
    writeSync(
      file,
      Array.from({ length: 1000 }, (_, at) => `{"message":"m","user":"customer-${i + at}-${"x".repeat(40)}"}\n`).join(
        "",
      ),
    );
  closeSync(file);
  for (const query of ["| count by user", "| stats count(), distinct(message) by user"]) {
    const child = spawn(process.execPath, [cliPath, "logs", "--file", "groups.ndjson", query], {
      cwd,
      env: cleanEnv(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stderr = "";
    let most = 0;
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdout!.resume();
    const timer = setInterval(() => {
      try {
        most = Math.max(most, residentBytes(child.pid!, "most") || 0);
      } catch {
        // It has ended.
      }
    }, 50);
    const code = await new Promise((resolve) => child.once("exit", resolve));
    clearInterval(timer);
    t.equal(code, 1, query);
    t.match(stderr, /^error: more than [\d,]+ groups, which is more than fits into memory\n/);
    t.match(stderr, "narrow the query or the period, or group by a field with fewer values");
    t.ok(most > 0 && most < 1400 * MB, `${query}: ${(most / MB).toFixed(0)} MB`);
    t.comment(`measured: ${query}: at most ${(most / MB).toFixed(0)} MB`);
  }
  if (skip !== false) return;
  const followed = `exec '${process.execPath}' '${cliPath}' logs --file groups.ndjson -f '| count by user'`;
  const terminal = spawnSync("script", ["-qec", followed, "/dev/null"], {
    cwd,
    env: cleanEnv({ TERM: "xterm" }),
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  t.ok(/more than [\d,]+ groups, which is more than fits into memory/.test(terminal.stdout), "while it is followed");
  t.equal(terminal.status, 1);
  const few = await tool(["logs", "--file", "groups.ndjson", "| top 1 message"], { cwd });
  t.equal(few.stdout, '{"message":"m","count":2000000}\n');
});
