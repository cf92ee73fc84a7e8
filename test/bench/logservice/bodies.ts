// The events of the bench: about 400 bytes and 61 field paths, as a web service of some size writes them. Bodies are made
// beforehand and varied digit by digit while they are sent, so that the load costs the shared processors little.
import { randomOf } from "../../support/random.ts";

export const PROJECT = "app";
export const BATCH_EVENTS = 1_000;
export const BEGIN_MS = Date.parse("2024-05-01T00:00:00Z");
/** A million events in two days, 21,000 in an hour. */
const SPACING_MS = 172.8;
/** 128,000 events until the same words come again: more than are near each other in any segment's row group. */
const TEMPLATES = 128;
export const FIELD_PATHS = 61;

/** When event number `i` happened; no two have the same time. */
export const timeOf = (i: number) => BEGIN_MS + Math.floor(i * SPACING_MS);

const WORDS = "checkout cart login session cache worker queue invoice search upload image token webhook retry".split(
  " ",
);
const RARE = Array.from({ length: 45 }, (_, i) => `detail${i}`);

interface Template {
  readonly bytes: Buffer;
  /** The offset of each of PLACES, event by event. */
  readonly offsets: Uint32Array;
}

/** The parts that differ in every event: the text before each in the JSON, and its digits. */
const PLACES = [
  ['"timestamp":"', 24],
  [" for ", 6],
  ['"request":{"id":"', 8],
  ['"user":{"id":', 6],
  ['"email":"user', 6],
] as const;

/** The bodies of add_events by number: the same number, the same thousand events. */
export class Bodies {
  readonly #templates: Template[] = [];

  /** Makes what `body` copies. Takes a second or two. */
  prepare(): void {
    for (let i = 0; i < TEMPLATES; i++) this.#template(i);
  }

  /** Body `number`, written over `into` where it is large enough: one for each connection. */
  body(number: number, into?: Buffer): Buffer {
    const { bytes, offsets } = this.#template(number % TEMPLATES);
    const room = into !== undefined && into.length >= bytes.length ? into : Buffer.allocUnsafe(bytes.length);
    const body = room.subarray(0, bytes.length);
    bytes.copy(body);
    for (let at = 0; at < BATCH_EVENTS; at++) {
      const i = number * BATCH_EVENTS + at;
      const place = at * PLACES.length;
      putTime(body, offsets[place]!, timeOf(i));
      putDigits(body, offsets[place + 1]!, mixed(i) % 1_000_000, 6);
      putDigits(body, offsets[place + 2]!, mixed(i + 1e9) % 100_000_000, 8);
      putDigits(body, offsets[place + 3]!, 100_000 + (mixed(i + 2e9) % 500_000), 6);
      putDigits(body, offsets[place + 4]!, mixed(i + 3e9) % 500_000, 6);
    }
    return body;
  }

  #template(at: number): Template {
    this.#templates[at] ??= templateOf(at);
    return this.#templates[at];
  }
}

export interface BenchEvent {
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function eventsOf(body: Buffer): BenchEvent[] {
  return JSON.parse(body.toString()).events;
}

function templateOf(seed: number): Template {
  const random = randomOf(seed + 1);
  const events = Array.from({ length: BATCH_EVENTS }, () => eventOf(random));
  const text = JSON.stringify({ project_id: PROJECT, events });
  const offsets = new Uint32Array(BATCH_EVENTS * PLACES.length);
  let from = 0;
  for (let at = 0; at < offsets.length; at++) {
    const [before] = PLACES[at % PLACES.length]!;
    from = text.indexOf(before, from) + before.length;
    offsets[at] = from;
  }
  return { bytes: Buffer.from(text), offsets };
}

function eventOf(random: ReturnType<typeof randomOf>): BenchEvent {
  const status = random.pick([200, 200, 200, 200, 200, 200, 201, 204, 301, 302, 304, 400, 401, 404, 404, 429]);
  const isFailed = random.chance(0.02);
  return {
    timestamp: "0".repeat(24),
    level: isFailed ? "error" : random.pick(["info", "info", "info", "debug", "warning"]),
    message: `${random.pick(WORDS)} ${random.pick(WORDS)} ${random.pick(["done", "started", "took long", "refused"])} for 000000`,
    fields: {
      stage: "production",
      region: random.pick(["north", "south"]),
      service: random.pick(["web", "api", "jobs"]),
      host: `host-${random.below(20)}`,
      protocol: random.pick(["HTTP/1.1", "HTTP/2"]),
      method: random.pick(["GET", "GET", "GET", "POST", "PUT"]),
      path: `/${random.pick(WORDS)}/${random.below(500)}`,
      status: isFailed ? random.pick([500, 502, 503]) : status,
      duration: random.below(400_000) / 100,
      size: random.below(60_000),
      cached: random.chance(0.4),
      request: { id: "0".repeat(8), ip: `10.0.${random.below(256)}.${random.below(256)}` },
      user: { id: 100_000, email: "user000000@example.com", plan: random.pick(["free", "team"]) },
      [random.pick(RARE)]: random.below(1000),
    },
  };
}

/** A whole number of 32 bits for another, without a pattern (the end of MurmurHash3). */
function mixed(n: number): number {
  let hash = n | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function putDigits(into: Buffer, at: number, value: number, width: number): void {
  for (let end = at + width - 1; end >= at; end--) {
    into[end] = 0x30 + (value % 10);
    value = Math.floor(value / 10);
  }
}

const DAY_MS = 86_400_000;
let cachedDay = Number.NaN;
let dayText = "";

/** As toISOString writes it, which costs ten times as much: the day is mostly that of the event before. */
function putTime(into: Buffer, at: number, ms: number): void {
  const day = Math.floor(ms / DAY_MS);
  if (day !== cachedDay) {
    cachedDay = day;
    dayText = new Date(ms).toISOString();
  }
  into.write(dayText, at, "latin1");
  const ofDay = ms - day * DAY_MS;
  putDigits(into, at + 11, Math.floor(ofDay / 3_600_000), 2);
  putDigits(into, at + 14, Math.floor(ofDay / 60_000) % 60, 2);
  putDigits(into, at + 17, Math.floor(ofDay / 1000) % 60, 2);
  putDigits(into, at + 20, ofDay % 1000, 3);
}
