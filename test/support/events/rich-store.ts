// A store that has all kinds of files, and a model of it: which events were acknowledged, and which file holds them.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { type DuckDBConnection, openDuckDb, quoted } from "../../../logservice/events/duckdb/duckdb.ts";
import type { Manifest } from "../../../logservice/events/duckdb/manifest.ts";
import { readWithChecksum } from "../../../logservice/events/durable.ts";
import { decodeBatch } from "../../../logservice/events/journal/batch-lines.ts";
import { readFrames } from "../../../logservice/events/journal/frame.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore, NewEvent } from "../../../logservice/events/store.ts";
import { root } from "../cli.ts";

/** Numbers of events by project. A number names one event of one project. */
export type Numbers = ReadonlyMap<string, ReadonlySet<number>>;

/** A batch is a day of its own, so that files have different times. */
const BATCH_NUMBERS = 100_000;
const BEGIN_MS = Date.parse("2024-01-01T00:00:00Z");
const DAY_MS = 86_400_000;

export const timeOf = (number: number) =>
  BEGIN_MS + Math.floor(number / BATCH_NUMBERS) * DAY_MS + (number % BATCH_NUMBERS);

/** A range with every event that a test appends: those of the first ten thousand batches. */
export const ALL_TIMES = { startMs: BEGIN_MS - 1000, stopMs: BEGIN_MS + 10_000 * DAY_MS };

const LEVELS = ["info", "warn", "error"] as const;

/** The event of a number: nothing of it is chosen, so that a wrong one is seen. */
export function eventOf(project: string, number: number): NewEvent {
  return {
    ...(project !== "big" && number % 5 === 0 && { id: `own-${number}` }),
    timestamp: new Date(timeOf(number)).toISOString(),
    level: LEVELS[number % 3]!,
    message: `${project} ${number}`,
    fields: { i: number, k: `text ${number % 7}`, u: `u-${number}`, even: number % 2 === 0 },
  };
}

export const eventsOf = (project: string, numbers: readonly number[]) => numbers.map((one) => eventOf(project, one));

export const numbersOf = (batch: number, count: number) =>
  Array.from({ length: count }, (_, i) => batch * BATCH_NUMBERS + i);

/** A batch of a journal file. */
export interface HeldFrame {
  readonly project: string;
  readonly numbers: readonly number[];
  /** Where it begins and ends, in bytes. */
  readonly at: number;
  readonly end: number;
}

/** Copies of the directory from earlier moments of the same store's life. */
export interface Earlier {
  readonly beforeMerge: string;
  readonly beforeDrop: string;
  readonly beforeFlush: string;
}

export interface RichStore {
  readonly directory: string;
  /** The same store, killed while it wrote. */
  readonly killed: string;
  /** The same store before the last batches: with nothing in its journal it is opened faster. */
  readonly flushed: string;
  readonly earlier: Earlier;
  /** The events that were acknowledged, and not deleted. */
  readonly events: Numbers;
  readonly flushedEvents: Numbers;
  /** Events of deleted projects: nobody keeps them. */
  readonly deleted: ReadonlySet<number>;
  readonly held: HeldIndex;
  /** Paths below the directory; the first folder of a project is the one of its name. */
  readonly paths: Paths;
  remove(): void;
}

export interface Paths {
  readonly ended: string;
  readonly current: string;
  readonly keys: string;
  folderOf(project: string): string;
  segmentsOf(project: string): readonly { readonly path: string; readonly events: number }[];
}

/** Projects with segments that stay. `again` was deleted and then filled again, `big` has a segment with a filter. */
export const PROJECTS = ["alpha", "beta", "again", "big"] as const;
/** Has no folder yet. */
export const FRESH = "fresh";
/** Was deleted. */
export const DOOMED = "doomed";

/** Builds both. Takes some seconds. */
export async function buildRichStore(): Promise<RichStore> {
  const home = mkdtempSync(join(tmpdir(), "events-damage-"));
  const directory = join(home, "store");
  const events = new Map<string, Set<number>>();
  const deleted = new Set<number>();
  let batch = 0;
  let store: Awaited<ReturnType<typeof openEventsStore>>;
  const open = async () => {
    store = await openEventsStore({ directory, reserveBytes: 0, flushEvents: 1e9, maxWaitingEvents: 1e9 });
  };
  const append = async (project: string, count: number, idempotencyKey?: string) => {
    const numbers = numbersOf(batch++, count);
    await store.append(project, eventsOf(project, numbers), { idempotencyKey });
    const all = events.get(project) ?? new Set();
    events.set(project, all);
    for (const one of numbers) all.add(one);
  };
  const keep = async (name: string) => {
    await store.close();
    copyStore(directory, join(home, name));
    await open();
  };

  await open();
  for (let i = 0; i < 4; i++) {
    for (const project of ["alpha", "beta", "again", DOOMED]) {
      await append(project, 20, i === 0 ? `first ${project}` : undefined);
    }
    if (i === 3) await keep("before-merge");
    await store!.flush();
  }
  for (let i = 0; i < 4; i++) {
    await append("big", 25_300);
    await store!.flush();
  }
  await store!.compact();
  await keep("before-drop");
  for (const project of ["again", DOOMED]) {
    await store!.deleteProject(project);
    for (const one of events.get(project)!) deleted.add(one);
    events.delete(project);
  }
  for (let i = 0; i < 2; i++) {
    for (const project of PROJECTS) await append(project, 15);
    if (i === 1) await keep("before-flush");
    await store!.flush();
  }
  await store!.close();

  const [killed, flushed] = [join(home, "killed"), join(home, "flushed")];
  copyStore(directory, killed);
  copyStore(directory, flushed);
  const flushedEvents = new Map([...events].map(([project, all]) => [project, new Set(all)]));
  const more = last(batch);
  await runLast(directory, more, "close");
  await runLast(killed, more, "kill");
  for (const [project, numbers] of more.flat()) {
    const all = events.get(project) ?? new Set();
    events.set(project, all);
    for (const one of numbers) all.add(one);
  }
  const held = await HeldIndex.open();
  for (const path of filesOf(directory)) await held.look(directory, path);
  for (const path of filesOf(killed)) await held.look(killed, path);
  const earlier = {
    beforeMerge: join(home, "before-merge"),
    beforeDrop: join(home, "before-drop"),
    beforeFlush: join(home, "before-flush"),
  };
  for (const one of Object.values(earlier)) for (const path of filesOf(one)) await held.look(one, path);
  const remove = () => {
    held.close();
    rmSync(home, { recursive: true, force: true });
  };
  return {
    directory,
    killed,
    flushed,
    earlier,
    events,
    flushedEvents,
    deleted,
    held,
    paths: pathsOf(directory),
    remove,
  };
}

type Batches = readonly (readonly [project: string, numbers: readonly number[]])[];

/** The batches in the journal at the end: of the first file more than it takes to end it, then of the next. */
function last(batch: number): readonly [Batches, Batches] {
  let next = batch;
  const one = (project: string, count: number) => [project, numbersOf(next++, count)] as const;
  return [
    [one("alpha", 12), one("beta", 12), one(FRESH, 12), one("alpha", 12), one("again", 12)],
    [one("beta", 5), one("alpha", 5), one("again", 5), one("big", 5), one(FRESH, 5), one("alpha", 5)],
  ];
}

/** Appends the last batches in a process that ends before the flusher is done with the first file. */
async function runLast(directory: string, batches: readonly [Batches, Batches], end: "close" | "kill"): Promise<void> {
  const job = join(dirname(directory), `last-${end}.json`);
  writeFileSync(job, JSON.stringify(batches));
  const program = join(root, "dist/test/support/events/damage-process.js");
  const child = spawn(process.execPath, [program, "fill", directory, job, end], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let out = "";
  for await (const text of child.stdout) {
    out += text;
    if (end === "kill" && out.includes("done\n")) child.kill("SIGKILL");
  }
  await ended;
  if (!out.includes("done\n")) throw new Error(`the last batches of ${directory} were not acknowledged`);
}

/** Copies a directory. Segments and what is beside them are never written to: the copy has the same inodes. */
export function copyStore(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyStore(source, target);
    else if (/\.parquet(\.json|\.filter)?$/.test(entry.name)) linkSync(source, target);
    else if (entry.name !== "lock") writeFileSync(target, readFileSync(source));
  }
}

/** Paths of all files below a directory, but for the lock. */
export function filesOf(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name !== "lock")
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

export function pathsOf(directory: string): Paths {
  const journal = readdirSync(join(directory, "journal")).filter((name) => name.endsWith(".ndjson"));
  const [ended, current] = journal.sort().filter((name) => statSync(join(directory, "journal", name)).size > 0);
  const [keys] = readdirSync(join(directory, "keys")).sort();
  const folderOf = (project: string) => {
    const folder = readdirSync(join(directory, "projects")).find((name) => name.startsWith(`${project}~`));
    return `projects/${folder}`;
  };
  const segmentsOf = (project: string) => {
    const text = readFileSync(join(directory, folderOf(project), "manifest.json"), "utf8");
    const { segments } = readWithChecksum(text) as Manifest;
    return segments.map(({ file, events }) => ({ path: join(folderOf(project), file), events }));
  };
  return { ended: `journal/${ended}`, current: `journal/${current}`, keys: `keys/${keys}`, folderOf, segmentsOf };
}

/** Which events a content holds, whatever its name is. */
export class HeldIndex {
  readonly #byHash = new Map<string, readonly HeldFrame[]>();
  readonly #hashes = new Map<string, string>();
  readonly #connection: DuckDBConnection;
  readonly close: () => void;

  private constructor(connection: DuckDBConnection, close: () => void) {
    this.#connection = connection;
    this.close = close;
  }

  static async open(): Promise<HeldIndex> {
    const engine = await openDuckDb(":memory:", { threads: "1" });
    const connection = await engine.connect();
    return new HeldIndex(connection, () => {
      connection.closeSync();
      engine.closeSync();
    });
  }

  /** SHA-1 of a file. */
  hashOf(path: string): string {
    const { ino, mtimeNs, ctimeNs, size } = statSync(path, { bigint: true });
    const stamp = `${ino} ${mtimeNs} ${size} ${path.includes(".parquet") ? "" : ctimeNs}`;
    const cached = this.#hashes.get(stamp);
    if (cached !== undefined) return cached;
    const hash = createHash("sha1").update(readFileSync(path)).digest("hex");
    this.#hashes.set(stamp, hash);
    return hash;
  }

  /** Remembers what a file holds, if it is one that holds events and is whole. */
  async look(directory: string, path: string): Promise<void> {
    const file = join(directory, path);
    const hash = this.hashOf(file);
    if (this.#byHash.has(hash)) return;
    if (path.endsWith(".parquet")) {
      const events = await this.#eventsOf(file).catch(() => undefined);
      if (events !== undefined) this.#byHash.set(hash, [{ ...events, at: 0, end: 0 }]);
    } else if (/^journal\/\d+\.ndjson$/.test(path)) this.#byHash.set(hash, framesOf(readFileSync(file)));
  }

  /** Undefined if it is not a content that the store wrote. */
  framesOfHash(hash: string): readonly HeldFrame[] | undefined {
    return this.#byHash.get(hash);
  }

  framesOf(path: string): readonly HeldFrame[] {
    return this.#byHash.get(this.hashOf(path)) ?? [];
  }

  numbersOf(path: string): readonly number[] {
    return this.framesOf(path).flatMap(({ numbers }) => numbers);
  }

  /** Whose they are, the messages say: a folder may be in the place of another one. */
  async #eventsOf(path: string): Promise<{ project: string; numbers: number[] }> {
    const reader = await this.#connection.runAndReadAll(`select fields, message from read_parquet(${quoted(path)})`);
    const rows = reader.getRows();
    const [project = ""] = String(rows[0]?.[1] ?? "").split(" ");
    return { project, numbers: rows.map(([fields]) => (JSON.parse(String(fields)) as { i: number }).i) };
  }
}

/** The whole batches of a journal file. */
export function framesOf(text: Buffer): HeldFrame[] {
  const frames: HeldFrame[] = [];
  let at = 0;
  for (const piece of readFrames(text)) {
    if ("whole" in piece) {
      const { frame, body } = piece.whole;
      const { events } = decodeBatch(frame.project, frame.sequence, body);
      const numbers = events.map(({ event }) => (event.fields as { i: number }).i);
      frames.push({ project: frame.project, numbers, at, end: piece.end });
    }
    if ("end" in piece) at = piece.end;
  }
  return frames;
}

export type OpenStore = Awaited<ReturnType<typeof openEventsStore>>;
export type { EventsStore };
