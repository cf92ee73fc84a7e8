// The rules for a store whose files were damaged: what it answers, what it says is missing, what it keeps.
import { join } from "node:path";
import { parseQuery, type Query } from "../../../grammar/query/index.ts";
import type { EventRange, EventsStore, Loss } from "../../../logservice/events/store.ts";
import { ALL_TIMES, eventOf, filesOf, type HeldIndex, type Numbers, timeOf } from "./rich-store.ts";

const never = new AbortController().signal;

export interface Expected {
  /** The numbers of the events of each project. */
  readonly events: Numbers;
  /** Whether a project must be told that events are missing; undefined if either is right. */
  readonly isMissing: (project: string) => boolean | undefined;
  /** Projects that are asked with SQL, which takes a process each. */
  readonly sql?: readonly string[];
  /** Projects whose every event is read, however many they are. */
  readonly deep?: readonly string[];
  /** Projects that are asked everything; the others are searched and counted. All, if not given. */
  readonly fullyChecked?: ReadonlySet<string>;
}

/** More events than that are counted, and only some of them read. */
const MOST_READ = 2000;

/** More events than that are read in one page, which takes less time than many. */
const MOST_PAGED = 200;

/** Returns the faults in the answers of a store; empty if there are none. */
export async function wrongAnswers(store: EventsStore, expected: Expected): Promise<string[]> {
  const projectsByText = new Map<string, string[]>();
  for (const [project, numbers] of expected.events) {
    const texts = await wrongOf(store, project, numbers, expected).catch((error: unknown) => [String(error)]);
    const text = texts.join("; ");
    if (text !== "") projectsByText.set(text, [...(projectsByText.get(text) ?? []), project]);
  }
  return [...projectsByText].map(([text, projects]) => `${projects.join(", ")}: ${text}`);
}

async function wrongOf(
  store: EventsStore,
  project: string,
  numbers: ReadonlySet<number>,
  { isMissing, sql = [], deep = [], fullyChecked }: Expected,
): Promise<string[]> {
  const wrong: string[] = [];
  const range: EventRange = { project, ...ALL_TIMES, query: undefined };
  const filtered = { ...range, query: FILTER };
  const missing: Record<string, number> = {};
  const counted: Record<string, number> = {};

  const isAll = numbers.size <= MOST_READ || deep.includes(project);
  const isBrief = fullyChecked?.has(project) === false;
  for (const [name, one] of [
    ["search", range],
    ["filtered search", filtered],
  ] as const) {
    if (name !== "search" && isBrief) continue;
    const { texts, count, missingBytes } = await wrongEvents(store, one, numbers, isAll);
    wrong.push(...texts.map((text) => `${name}: ${text}`));
    if (isAll) counted[name] = count;
    missing[name] = missingBytes;
  }

  const plain = await store.count({ ...range, signal: never });
  [counted.count, missing.count] = [plain.count, plain.stats.missingBytes];
  if (!isBrief) await askMore();
  const { eventsTotal, missingBytes } = await store.projectStats(project);
  [counted.projectStats, missing.projectStats] = [eventsTotal, missingBytes];
  if (sql.includes(project)) {
    const { resultsJson, stats } = await store.sql({
      project,
      text: "select count(*) as n from events",
      signal: never,
    });
    [counted.sql, missing.sql] = [Number((JSON.parse(resultsJson) as { n: unknown }[])[0]!.n), stats.missingBytes];
  }

  async function askMore(): Promise<void> {
    const two = await store.count({ ...filtered, signal: never });
    [counted["filtered count"], missing["filtered count"]] = [two.count, two.stats.missingBytes];
    // Some events by texts that no other has, which filters of texts are asked for.
    const some = sampleOf(numbers);
    if (some.length > 0) {
      const texts = some.map((one) => JSON.stringify(eventOf(project, one).fields.u)).join(", ");
      const result = await store.count({ ...range, query: query(`u in (${texts})`), signal: never });
      if (result.count !== some.length) wrong.push(`count of ${some.length} texts: ${result.count}`);
      missing["count of texts"] = result.stats.missingBytes;
    }
    const series = await store.timeseries({ ...range, maxPoints: 50, signal: never });
    counted.timeseries = series.points.reduce((sum, { count }) => sum + count, 0);
    missing.timeseries = series.stats.missingBytes;
    const levels = await store.levelTimeseries({ ...range, maxPoints: 50, signal: never });
    counted.levelTimeseries = levels.points.reduce(
      (sum, { counts }) => sum + Object.values(counts).reduce((all, count) => all + count, 0),
      0,
    );
    missing.levelTimeseries = levels.stats.missingBytes;
    const fields = await store.discoveredFields({ ...range, signal: never });
    counted.discoveredFields = fields.fields.find(({ name }) => name === "i")?.count ?? 0;
    missing.discoveredFields = fields.stats.missingBytes;
    const texts = await store.stringFieldStats({
      ...range,
      field: { at: "fields", path: ["k"] },
      limit: 10,
      signal: never,
    });
    counted.stringFieldStats = texts.values.reduce((sum, { count }) => sum + count, 0);
    missing.stringFieldStats = texts.stats.missingBytes;
    const numeric = await store.numericFieldStats({ ...range, field: { at: "fields", path: ["i"] }, signal: never });
    missing.numericFieldStats = numeric.stats.missingBytes;
    const bounds = numbers.size === 0 ? [null, null] : [least(numbers), greatest(numbers)];
    if (numeric.min !== bounds[0] || numeric.max !== bounds[1]) {
      wrong.push(`numericFieldStats: ${numeric.min} to ${numeric.max} instead of ${bounds.join(" to ")}`);
    }
  }

  const isTold = isMissing(project);
  return [
    ...wrong,
    ...grouped(counted, (count) => (count === numbers.size ? undefined : `${count} events instead of ${numbers.size}`)),
    ...grouped(missing, (bytes) => {
      if (isTold === true && bytes === 0) return "does not say that events are missing";
      return isTold === false && bytes > 0 ? `says that ${bytes} bytes are missing` : undefined;
    }),
  ];
}

/** Returns the faults in the numbers of the readers, those together that say the same. */
function grouped(numbers: Readonly<Record<string, number>>, wrongOf: (number: number) => string | undefined): string[] {
  const readers = new Map<string, string[]>();
  for (const [reader, number] of Object.entries(numbers)) {
    const text = wrongOf(number);
    if (text !== undefined) readers.set(text, [...(readers.get(text) ?? []), reader]);
  }
  const all = Object.keys(numbers).length;
  return [...readers].map(([text, names]) => `${names.length === all ? "every reader" : names.join(", ")}: ${text}`);
}

function query(text: string): Query {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new Error(`${text} is not a query`);
  return parsed.value;
}

const FILTER = query("i >= 0");

/** Events that a search gives and should not, gives twice, or does not give. */
async function wrongEvents(store: EventsStore, range: EventRange, numbers: ReadonlySet<number>, isAll: boolean) {
  const texts: string[] = [];
  const seen = new Set<number>();
  let [missingBytes, count, before]: [number, number, number] = [0, 0, 0];
  let cursor: string | undefined;
  do {
    const limit = isAll ? (numbers.size > MOST_PAGED ? 10_000 : 97) : 50;
    const page = await store.search({ ...range, limit, order: "ascending", cursor, signal: never });
    missingBytes = page.stats.missingBytes;
    for (const event of page.events) {
      const number = Number((event.fields as { i?: unknown }).i);
      const { id: _, ...right } = eventOf(range.project, number);
      const { id: __, ...actual } = event;
      if (!numbers.has(number)) texts.push(`the event ${number} should not be there`);
      else if (JSON.stringify(actual) !== JSON.stringify(right)) texts.push(`another event than ${number}`);
      if (seen.has(number)) texts.push(`the event ${number} twice`);
      if (timeOf(number) < before) texts.push(`the event ${number} before an earlier one`);
      before = timeOf(number);
      seen.add(number);
      count++;
    }
    cursor = page.cursor;
  } while (cursor !== undefined && isAll);
  if (isAll) for (const number of numbers) if (!seen.has(number)) texts.push(`no event ${number}`);
  return { texts: shortened(texts), count, missingBytes };
}

/** So many texts are asked for at once. */
const SAMPLE = 100;

function sampleOf(numbers: ReadonlySet<number>): number[] {
  const all = [...numbers];
  const step = Math.max(1, Math.floor(all.length / SAMPLE));
  return all.filter((_, i) => i % step === 0);
}

/** The first lines, and how many more there are. */
export const shortened = (texts: readonly string[]) =>
  texts.length <= 3 ? texts : [...texts.slice(0, 3), `and ${texts.length - 3} more like these`];

const least = (numbers: ReadonlySet<number>) => [...numbers].reduce((a, b) => Math.min(a, b));
const greatest = (numbers: ReadonlySet<number>) => [...numbers].reduce((a, b) => Math.max(a, b));

/** The files of a directory by what they contain. */
export type Contents = ReadonlyMap<string, string>;

export function contentsOf(directory: string, held: HeldIndex): Contents {
  for (let tries = 0; ; tries++) {
    try {
      return new Map(filesOf(directory).map((path) => [held.hashOf(join(directory, path)), path]));
    } catch (error) {
      // A store that is open merges files, and removes those that it has merged.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === 20) throw error;
    }
  }
}

/** Files that hold events, or held some before they were damaged. The others can be made again from them. */
const HOLDS_EVENTS = /\.parquet(\.new)?(\.\d+)?$|(^|\/)\d{16}\.ndjson/;

/**
 * Contents that were in the directory and are not any more, but for those whose events all count: these were merged, or
 * made into segments.
 */
export function wronglyDeleted(
  before: Contents,
  after: Contents,
  held: HeldIndex,
  {
    answered,
    isTouched = () => false,
    deleted = new Set(),
    undamaged = new Map(),
  }: {
    answered: Numbers;
    isTouched?: (project: string) => boolean;
    deleted?: ReadonlySet<number>;
    /** Hashes of the files by path before one of them was damaged: a killed store may just have merged its events. */
    undamaged?: ReadonlyMap<string, string>;
  },
): string[] {
  const wrong: string[] = [];
  for (const [hash, path] of before) {
    if (after.has(hash) || !HOLDS_EVENTS.test(path) || hash === EMPTY) continue;
    // A file that was being written goes if all that it was made of is there.
    const [, project = ""] = /projects\/([^~]+)~.*\.new$/.exec(path) ?? [];
    if (project !== "" && !isTouched(project)) continue;
    const frames = held.framesOfHash(hash) ?? held.framesOfHash(undamaged.get(path) ?? "");
    const isHeld = frames?.every(({ project, numbers }) => {
      const all = answered.get(project);
      // The events of a deleted project are not kept.
      return all === undefined || numbers.every((one) => all.has(one) || deleted.has(one));
    });
    if (isHeld !== true) wrong.push(`${path} is not kept anywhere`);
  }
  return wrong;
}

/** The SHA-1 of nothing. */
const EMPTY = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

export const printLosses = (losses: readonly Loss[]) =>
  losses.map(({ id, project, file, reason }) => `${id} ${project} ${file} ${reason}`).sort();
