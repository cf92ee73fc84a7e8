// Mixed traffic through the real `tool start` for 20 seconds, `npm run soak` for ten minutes (SOAK_SECONDS): files, the
// app, redirects, pages, uploads, event streams, websockets and clients that leave, while tool.json is edited, well and
// badly, and the app is killed, exits and leaves children behind. Every answer is right or one that the runtime's README
// allows at that moment, each is in the log once, memory and descriptors stay in bounds, and nothing is left behind.
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import t from "tap";
import { startTool } from "../support/cli.ts";
import { commandOf, descriptorsOf, processesWith, residentBytes, socketsOf } from "../support/processes.ts";
import { randomOf } from "../support/random.ts";
import { apps, makeProject } from "../support/runtime.ts";
import {
  type Disturbance,
  type Exchange,
  exchanges,
  INJECTED,
  LARGE_BYTES,
  SMALL,
  send,
  type World,
} from "../support/soak/traffic.ts";
import { until } from "../support/until.ts";

const SECONDS = Number(process.env.SOAK_SECONDS ?? 20);
/** Exchanges; proxy, app and clients together take about a third of a processor. */
const PER_SECOND = Number(process.env.SOAK_RATE ?? 100);
const CLIENTS = 12;
const SEED = Number(process.env.SOAK_SEED ?? 1);

/** No single exchange takes longer, a restart of the app included. */
const PATIENCE_MS = 15_000;
/** Between two disturbances: in 20 seconds each of them comes at least once. */
const PAUSE_MS = SECONDS < 60 ? 1_500 : 4_000;

const MB = 1_000_000;
/** 60 MB of Node and the tool itself, 32 MB of files in memory, and the young generation and garbage on top. */
const MOST_BYTES = 250 * MB;
/** From the second fifth of the time to the last: if each exchange left 1 KB, that would be 36 MB in ten minutes. */
const MOST_GROWTH_BYTES = 20 * MB;
/** Each client has a connection and the tool one to the app, a few more are on their way out. */
const MOST_SOCKETS = 20 + 3 * CLIENTS;

interface Sample {
  readonly seconds: number;
  readonly bytes: number;
  readonly sockets: number;
  readonly descriptors: number;
}

t.test(`${SECONDS} seconds`, { skip: process.platform === "linux" ? false : "needs /proc" }, async (t) => {
  const directory = makeProject({
    "public/small.txt": SMALL,
    "public/large.bin": { bytes: LARGE_BYTES },
    "pages/404.html": "<p>not found: {{.StatusCode}}</p>",
  });
  const path = join(directory, "tool.json");
  const write = (text: string) => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  const generation = { inForce: 0, written: 0 };
  let environment = 0;
  const config = () =>
    JSON.stringify({
      name: "soak",
      type: "server",
      environment: { GENERATION: String(environment) },
      static: { dir: "public", prefix: "/assets/" },
      headers: { "/*": { "X-Generation": String(generation.written) } },
      redirects: { "/old/*": { location: "/new/:splat", status: 301 }, "/rewritten/*": { location: "/:splat" } },
      error_pages: { dir: "pages" },
      inject: { head: [{ type: "literal", value: INJECTED }] },
      proxy: {
        command: `exec ${process.execPath} ${join(apps, "soak/server.mjs")}`,
        timeout: 10,
        backoff: { min: 10, max: 100 },
      },
    });
  write(config());

  const mark = `tool-soak-${randomUUID()}`;
  const { running, url } = await startTool(
    directory,
    ["--format", "json"],
    { TOOL_TEST_MARK: mark },
    { stdout: "ignore" },
  );
  // Whatever happens to this process: the tool ends with it, and the app with the tool.
  const kill = () => running.kill("SIGKILL");
  process.once("exit", kill);
  const deadline = setTimeout(
    () => {
      console.error(`the soak did not end by itself: ${running.stderr()}`);
      process.exit(1);
    },
    SECONDS * 1000 + 60_000,
  );

  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const world: World = { port: Number(new URL(url).port), agent, generation, answered: new Set() };
  const app = async () =>
    JSON.parse((await send(world, { path: "/json" })).body.toString()) as { pid: number; generation: string };
  const inForce = async () => Number((await send(world, { path: "/assets/small.txt" })).headers["x-generation"]);
  await app();
  const processes = processesWith(mark).map(commandOf).sort();
  const before = { sockets: socketsOf(running.pid), descriptors: descriptorsOf(running.pid).length };

  const beginMs = performance.now();
  const elapsed = () => (performance.now() - beginMs) / 1000;
  const isOver = () => elapsed() >= SECONDS;
  const disturbances: { readonly what: Disturbance; readonly fromMs: number; toMs: number }[] = [];
  const counts = new Map<string, number>();
  const failures: string[] = [];
  let disturbed = 0;

  const attempt = async (exchange: Exchange, seed: number) => {
    const fromMs = performance.now();
    try {
      await within(PATIENCE_MS, exchange.run(world, randomOf(seed)));
    } catch (error) {
      const meanwhile = disturbances.filter(({ toMs }) => toMs >= fromMs).map(({ what }) => what);
      if (meanwhile.some((what) => exchange.mayFailAt.includes(what))) disturbed++;
      else
        failures.push(
          `${elapsed().toFixed(1)} s, ${meanwhile.join() || "calm"}: ${exchange.name}: ${(error as Error).message}`,
        );
    }
    counts.set(exchange.name, (counts.get(exchange.name) ?? 0) + 1);
  };

  let begun = 0;
  const shares = exchanges.flatMap((exchange) => Array<Exchange>(exchange.share).fill(exchange));
  const client = async (number: number) => {
    const random = randomOf(SEED * 1000 + number);
    while (!isOver()) {
      const aheadMs = ++begun * (1000 / PER_SECOND) - (performance.now() - beginMs);
      if (aheadMs > 0) await sleep(aheadMs);
      else if (aheadMs < -1000) begun = Math.floor((elapsed() - 1) * PER_SECOND);
      await attempt(random.pick(shares), random.below(2 ** 31));
    }
  };

  const disturb: Record<Disturbance, () => Promise<void>> = {
    async edit() {
      generation.written++;
      write(config());
      await until("the edit", async () => (await inForce()) === generation.written);
      generation.inForce = generation.written;
    },
    async "bad edit"() {
      const problems = () => running.stderr().split("keeps its previous configuration").length;
      const countBefore = problems();
      write('{ "name": "soak", "memroy": 1 }');
      await until("the problem", () => problems() > countBefore);
      await disturb.edit();
    },
    async restart() {
      environment++;
      await disturb.edit();
      await until("the app of the edit", async () => (await app()).generation === String(environment));
    },
    async kill() {
      // The processes that it leaves behind go with it.
      await send(world, { path: "/children" });
      const { pid } = await app();
      process.kill(pid, "SIGKILL");
      await until("another app", async () => (await app()).pid !== pid);
    },
    async exit() {
      const { pid } = await app();
      const { status } = await send(world, { path: "/exit" });
      if (status !== 502) failures.push(`${elapsed().toFixed(1)} s: the request that ends the app: ${status}`);
      // The app that answers is always the next one, but another request may have been answered in between.
      await until(
        "another app",
        async () => (await send(world, { path: "/json" })).status === 200 && (await app()).pid !== pid,
      );
    },
  };
  const disturbing = async () => {
    const order: readonly Disturbance[] = ["edit", "kill", "restart", "exit", "bad edit"];
    for (let i = 0; ; i++) {
      await sleep(PAUSE_MS);
      if (isOver()) return;
      const what = order[i % order.length]!;
      const disturbance = { what, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
      disturbances.push(disturbance);
      await disturb[what]();
      // Earlier requests may still be on their way.
      setTimeout(() => {
        disturbance.toMs = performance.now();
      }, 500);
    }
  };

  const samples: Sample[] = [];
  const sampling = async () => {
    while (!isOver()) {
      await sleep(Math.max(250, (SECONDS * 1000) / 600));
      const { pid } = running;
      samples.push({
        seconds: elapsed(),
        bytes: residentBytes(pid),
        sockets: socketsOf(pid),
        descriptors: descriptorsOf(pid).length,
      });
      if (samples.length % 60 === 0) console.log(`# ${sampleText(samples.at(-1)!)}, ${sum(counts)} exchanges`);
    }
  };

  await Promise.all([...Array.from({ length: CLIENTS }, (_, number) => client(number)), disturbing(), sampling()]);

  t.same(failures, [], "wrong answers");
  t.ok(disturbed < sum(counts) / 20, `${disturbed} of ${sum(counts)} exchanges were disturbed`);
  for (const { name } of exchanges) t.ok(counts.has(name), `${counts.get(name)} of ${name}`);

  agent.destroy();
  const most = (of: keyof Sample) => Math.max(...samples.map((sample) => sample[of]));
  const fifth = (number: number) =>
    samples.filter(({ seconds }) => Math.min(4, Math.floor((seconds / SECONDS) * 5)) === number);
  const early = median(fifth(1).map(({ bytes }) => bytes));
  const late = median(fifth(4).map(({ bytes }) => bytes));
  t.ok(most("bytes") < MOST_BYTES, `memory: at most ${mb(most("bytes"))}`);
  // Before that the compiler and the heap still find their size.
  if (SECONDS >= 120)
    t.ok(late - early < MOST_GROWTH_BYTES, `memory: ${mb(early)} in the second fifth, ${mb(late)} in the last`);
  t.ok(most("sockets") < before.sockets + MOST_SOCKETS, `at most ${most("sockets")} sockets`);

  await until("the connections to be closed", () => socketsOf(running.pid) <= before.sockets).catch(() => {});
  t.ok(socketsOf(running.pid) <= before.sockets, `${socketsOf(running.pid)} sockets, ${before.sockets} before`);
  // The log's own file was opened with the first entry.
  t.ok(descriptorsOf(running.pid).length <= before.descriptors + 1, `${descriptorsOf(running.pid).length} descriptors`);
  t.same(processesWith(mark).map(commandOf).sort(), processes, "the processes of the beginning");

  running.kill("SIGTERM");
  const { code } = await running.ended;
  clearTimeout(deadline);
  process.off("exit", kill);
  t.equal(code, 0);
  t.same(processesWith(mark).map(commandOf), [], "no process is left");

  const logged = responsesIn(join(directory, ".tool"));
  const missing = [...world.answered].filter((id) => logged.get(id) !== 1);
  t.same(missing.slice(0, 5), [], `${missing.length} of ${world.answered.size} requests are not in the log once`);
  rmSync(directory, { recursive: true });
  console.log(
    `measured: ${sum(counts)} exchanges in ${SECONDS} s, ${disturbances.length} disturbances that ${disturbed} of them felt; ` +
      `memory ${mb(early)} in the second fifth, ${mb(late)} in the last, at most ${mb(most("bytes"))}; ` +
      `at most ${most("sockets")} sockets, ${most("descriptors")} descriptors`,
  );
});

/** How often each request id has a response. */
function responsesIn(folder: string): Map<string, number> {
  const logged = new Map<string, number>();
  for (const file of readdirSync(folder).filter((name) => name.startsWith("development.ndjson"))) {
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      if (line === "") continue;
      const { message, fields } = JSON.parse(line);
      if (message === "response") logged.set(fields.id, (logged.get(fields.id) ?? 0) + 1);
    }
  }
  return logged;
}

function sampleText({ seconds, bytes, sockets, descriptors }: Sample): string {
  return `${seconds.toFixed(0)} s: ${mb(bytes)}, ${sockets} sockets, ${descriptors} descriptors`;
}

function within(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms`)), ms);
  });
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
const sum = (counts: Map<string, number>) => [...counts.values()].reduce((all, count) => all + count, 0);
const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;
const mb = (bytes: number) => `${(bytes / MB).toFixed(0)} MB`;
