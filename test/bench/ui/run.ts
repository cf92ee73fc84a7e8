// `npm run bench:ui`: the explorer in Chromium, over a service with many events of one project.
//
// EVENTS (10,000,000), ROUNDS (21) of opening and typing, LIVE_SECONDS (20), ROWS (100,000) to scroll. Everything is in a
// temporary folder that is removed at the end, or in BENCH_DIRECTORY, which is kept: a later run only measures again.
// CHROMIUM is the browser (/usr/bin/chromium).
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { addressOf, type Frames, living, opening, scrolling, typing } from "./measures.ts";
import { EXPLORER, fill, signedIn, startUiService } from "./service.ts";

const numberOf = (name: string, usual: number) => Number(process.env[name] ?? usual);
const rounds = numberOf("ROUNDS", 21);
const kept = process.env.BENCH_DIRECTORY;
const folder = kept === undefined ? mkdtempSync(join(tmpdir(), "tool-bench-ui-")) : resolve(kept);
mkdirSync(folder, { recursive: true });
const facts = join(folder, "facts.json");
const began = performance.now();
const say = (text: string) =>
  console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`);
/** Key and paint without the wait for the next frame of a screen, of which nothing here can be better than 16.7 ms. */
const NO_WAIT = ["--disable-frame-rate-limit", "--disable-gpu-vsync"];

const loadBefore = loadavg()[0]!;
let service = await startUiService(folder);
try {
  if (!existsSync(facts)) {
    const events = numberOf("EVENTS", 10_000_000);
    await fill(service, events, say);
    writeFileSync(facts, JSON.stringify({ events }));
    // As it is after an upgrade: nothing of the load is in its memory.
    await service.stop();
    service = await startUiService(folder);
  }
  const { events } = JSON.parse(readFileSync(facts, "utf8")) as { events: number };
  const rows: string[] = [];
  const row = (what: string, goal: string, measured: string) => rows.push(`| ${what} | ${goal} | ${measured} |`);

  const browser = await signedIn(service);
  const { context } = browser;
  for (const [what, address] of [
    ["all events", addressOf(service.url, events)],
    ["the last hour of them", addressOf(service.url, events, { hours: 1 })],
  ] as const) {
    say(`opening ${what}`);
    const ms = await opening(context, address, rounds);
    row(`address entered -> list and histogram painted, ${what}, ms p50`, "<= 250", spread(ms));
  }
  say("scrolling");
  const page = await context.newPage();
  await page.goto(addressOf(service.url, events));
  await page.locator("[data-row='0'] time").waitFor();
  const scrolled = await scrolling(page, numberOf("ROWS", 100_000));
  row(`scrolling ${scrolled.last} rows: frame to frame, ms`, "longest <= 33", frames(scrolled.between));
  row("the same, work for a frame, ms", "-", frames(scrolled.work));
  row("the same, memory of the page before, at half of it, after, MB", "flat", scrolled.heapMB.map(short).join(", "));
  say("live");
  await page.goto(`${service.url}${EXPLORER}?live=1`);
  const lived = await living(page, service, { perSecond: 2_000, seconds: numberOf("LIVE_SECONDS", 20) });
  row("live at 2,000 events/s: frame to frame, ms", "longest <= 50", frames(lived.between));
  row("the same, work for a frame, ms", "-", frames(lived.work));
  row("the same, events sent, events shown of the last hour", "-", `${lived.sent}, ${lived.visible}`);
  await browser.close();

  say("typing");
  const quick = await signedIn(service, NO_WAIT);
  const typed = await quick.context.newPage();
  await typed.goto(addressOf(service.url, events));
  await typed.locator(".facet-values li").first().waitFor();
  const { key, offer } = await typing(typed, Math.max(2, Math.round(rounds / 5)));
  row("key pressed -> painted, ms p99", "<= 16", percentiles(key));
  row("key pressed -> completion painted, ms p99", "<= 50", percentiles(offer));
  await quick.close();

  console.log(`${events} events, Chromium, ${cpus().length} x ${cpus()[0]?.model}`);
  console.log(`load of the machine before and after: ${loadBefore.toFixed(1)}, ${loadavg()[0]!.toFixed(1)}\n`);
  console.log(["| what | goal | measured |", "| --- | --- | --- |", ...rows].join("\n"));
} finally {
  await service.stop();
  if (kept === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function short(value: number): string {
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}

function spread(ms: readonly number[]): string {
  return `${short(at(ms, 0.5))} (${short(at(ms, 0))} to ${short(at(ms, 1))})`;
}

function percentiles(ms: readonly number[]): string {
  return `${short(at(ms, 0.99))} (p50 ${short(at(ms, 0.5))}, most ${short(at(ms, 1))}, ${ms.length} keys)`;
}

function frames(ms: Frames["between"]): string {
  return `${short(at(ms, 1))} (p50 ${short(at(ms, 0.5))}, p99 ${short(at(ms, 0.99))}, ${ms.length} frames)`;
}
