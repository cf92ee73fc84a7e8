// The measures taken in the page. Each gives milliseconds, one for each round or frame.
import type { BrowserContext, Page } from "playwright-core";
import { timeOf } from "../logservice/bodies.ts";
import { EXPLORER, post, type UiService } from "./service.ts";

/** Runs before every script of a page: notes when the first row and the first bar have been painted. */
const NOTE_PAINT = `(() => {
  const look = () => {
    if (document.querySelector("[data-row='0'] time") && document.querySelector(".bars rect")) {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { window.paintedMs = performance.now(); };
      channel.port2.postMessage(0);
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

/** From the address to the painted list and histogram, a page anew each time, its files in the browser's cache. */
export async function opening(context: BrowserContext, url: string, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = -2; round < rounds; round++) {
    const page = await context.newPage();
    await page.addInitScript(NOTE_PAINT);
    await page.goto(url, { waitUntil: "commit" });
    // Playwright waits for a condition by eval, which the policy of the page refuses.
    let paintedMs: number | undefined;
    while (paintedMs === undefined) {
      await page.waitForTimeout(50);
      paintedMs = await page.evaluate<number | undefined>("window.paintedMs");
    }
    // The first two warm the caches of the browser and the service.
    if (round >= 0) times.push(paintedMs);
    await page.close();
  }
  return times;
}

/** Notes for every key when what it changed was painted, and when a list of completion was. */
const NOTE_KEYS = `(() => {
  window.keyMs = [];
  window.offeredMs = [];
  let pressed;
  addEventListener("keydown", (event) => {
    const at = event.timeStamp;
    pressed = at;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.keyMs.push(performance.now() - at);
      channel.port2.postMessage(0);
    });
  }, true);
  new MutationObserver(() => {
    if (pressed === undefined || !document.querySelector(".completions li")) return;
    const at = pressed;
    pressed = undefined;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.offeredMs.push(performance.now() - at);
      channel.port2.postMessage(0);
    });
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
})()`;

const TYPED = 'status >= 500 and service = "api" or duration > 20';

/** Keys in the query box: until the key is painted, and until the completion is. */
export async function typing(
  page: Page,
  rounds: number,
): Promise<{ readonly key: number[]; readonly offer: number[] }> {
  const box = page.getByRole("combobox", { name: "Query" });
  await box.click();
  await page.waitForTimeout(1_000);
  await page.evaluate(NOTE_KEYS);
  for (let round = 0; round < rounds; round++) {
    await box.pressSequentially(TYPED, { delay: 60 });
    await page.keyboard.press("Escape");
    await box.fill("");
  }
  await page.waitForTimeout(300);
  return { key: await page.evaluate("window.keyMs"), offer: await page.evaluate("window.offeredMs") };
}

export interface Frames {
  /** From frame to frame. */
  readonly between: number[];
  /** The milliseconds of work that the page did for each frame, until it was painted. */
  readonly work: number[];
}

/** Begins to note frames; `window.frames_` holds them. */
const NOTE_FRAMES = `(() => {
  window.frames_ = { between: [], work: [], isOver: false };
  let last = performance.now();
  // One for all: a channel that is not closed stays in the memory that is measured.
  const channel = new MessageChannel();
  channel.port1.onmessage = ({ data: began }) => window.frames_.work.push(performance.now() - began);
  const frame = () => {
    const began = performance.now();
    window.frames_.between.push(began - last);
    last = began;
    channel.port2.postMessage(began);
    if (!window.frames_.isOver) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`;

async function framesOf(page: Page): Promise<Frames> {
  await page.evaluate("window.frames_.isOver = true");
  return page.evaluate("({ between: window.frames_.between.slice(2), work: window.frames_.work.slice(2) })");
}

/** Scrolls so many rows down, more than a screen with each frame; and the memory of the page before, at half of it, and after. */
export async function scrolling(
  page: Page,
  rows: number,
): Promise<Frames & { readonly heapMB: number[]; readonly last: number }> {
  const heapMB = [await heapOf(page)];
  const frames: Frames = { between: [], work: [] };
  for (const _half of [0, 1]) {
    // Without the frame during which the memory is measured: that collects all garbage at once.
    await page.evaluate(NOTE_FRAMES);
    await page.evaluate(`new Promise((done) => {
      const list = document.getElementById("events");
      const end = ${(rows / 2) * 24};
      let gone = 0;
      const step = () => {
        list.scrollTop += 960;
        gone += 960;
        if (gone < end) requestAnimationFrame(step);
        else done();
      };
      requestAnimationFrame(step);
    })`);
    const { between, work } = await framesOf(page);
    frames.between.push(...between);
    frames.work.push(...work);
    heapMB.push(await heapOf(page));
  }
  const last = await page.evaluate<number>(`Number([...document.querySelectorAll("[data-row]")].at(-1).dataset.row)`);
  return { ...frames, heapMB, last };
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  await session.detach();
  return usedSize / 1e6;
}

/** Events come in at a rate while the page is live. */
export async function living(
  page: Page,
  service: UiService,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Frames & { readonly sent: number; readonly visible: number }> {
  await page.getByText("Live", { exact: true }).first().waitFor();
  await page.waitForTimeout(1_500);
  await page.evaluate(NOTE_FRAMES);
  const began = performance.now();
  const batch = Math.max(1, Math.round(perSecond / 20));
  let sent = 0;
  while (performance.now() - began < seconds * 1_000) {
    const due = Math.floor(((performance.now() - began) / 1_000) * perSecond);
    if (sent + batch > due) {
      await new Promise((done) => setTimeout(done, 5));
      continue;
    }
    const timestamp = new Date().toISOString();
    const events = Array.from({ length: batch }, (_, i) => ({
      ...{ timestamp, level: i % 50 === 0 ? "error" : "info", message: `live ${sent + i} of the bench` },
      fields: { status: i % 50 === 0 ? 500 : 200, path: `/live/${i}`, duration: i },
    }));
    await post(service, "add_events", { project_id: "app", events });
    sent += batch;
  }
  await page.waitForTimeout(500);
  const frames = await framesOf(page);
  await page.waitForTimeout(2_000);
  const text = await page.locator(".summary strong").innerText();
  return { ...frames, sent, visible: Number(text.replaceAll(",", "")) };
}

/** The explorer over all the events of the bench, or over the last hour of them. */
export function addressOf(url: string, events: number, { hours }: { readonly hours?: number } = {}): string {
  const stop = timeOf(events);
  const start = hours === undefined ? timeOf(0) : stop - hours * 3_600_000;
  const range = new URLSearchParams({ start: new Date(start).toISOString(), stop: new Date(stop).toISOString() });
  return `${url}${EXPLORER}?${range}`;
}
