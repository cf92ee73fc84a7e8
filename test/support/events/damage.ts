// Damages one thing of a copy of a rich store, opens it, and says what is wrong with what happens then.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EventsStoreOptions, openEventsStore } from "../../../logservice/events/open.ts";
import type { Loss } from "../../../logservice/events/store.ts";
import { type Contents, contentsOf, type Expected, printLosses, wrongAnswers, wronglyDeleted } from "./damage-check.ts";
import { copyStore, eventsOf, type Numbers, numbersOf, type OpenStore, type RichStore, timeOf } from "./rich-store.ts";

export interface Case {
  readonly name: string;
  /** The directory that is copied; the one that was closed, if not given. */
  readonly from?: (rich: RichStore) => string;
  /** The events that were acknowledged there. */
  readonly events?: (rich: RichStore) => Numbers;
  /** Damages the copy. */
  readonly damage: (directory: string, rich: RichStore) => void;
  /** The only events that may be gone: those that the damaged file alone held. All of them must be. */
  readonly lost?: (rich: RichStore) => readonly number[];
  /** Files that `losses()` names, below the store's directory. */
  readonly losses?: (rich: RichStore) => readonly string[];
  /** Whether it may not be known whose events are lost, so that every project is told. */
  readonly mayTellAll?: boolean;
  /** Events that may come back: those of a deleted project whose folder was put back. */
  readonly extra?: (rich: RichStore) => readonly (readonly [string, readonly number[]])[];
  /** Projects that may be told of a loss, though nothing of theirs is lost: nobody can know. */
  readonly mayTell?: readonly string[];
  /** The names of which a line of the log has any. */
  readonly logged?: (rich: RichStore) => readonly string[];
  /** The open is refused with such a message, and changes nothing. */
  readonly refused?: RegExp;
  /** Whether it is known when the lost events were: other ranges are whole. */
  readonly isTimeKnown?: boolean;
  /** Puts back what was damaged: then everything is answered again. */
  readonly putBack?: (directory: string, rich: RichStore) => void;
  /** Batches with these keys were lost, or their keys: they are stored when they are sent again. */
  readonly areKeysLost?: boolean;
  /** Only whether it opens and answers right, not what comes after. For rows of which there are many. */
  readonly isShort?: boolean;
  /** Whether every project is asked everything, and not only those whose files are damaged. */
  readonly isThorough?: boolean;
  /** See Expected. */
  readonly sql?: readonly string[];
  readonly deep?: readonly string[];
}

/** Numbers of batches that are appended after the damage. */
const NEXT_BATCH = 200;

export async function openLogged(directory: string, options: Partial<EventsStoreOptions> = {}) {
  const lines: string[] = [];
  const store = await openEventsStore({
    directory,
    reserveBytes: 0,
    log: (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
    ...options,
  });
  return { store, lines };
}

/** Returns the faults of one case; empty if there are none. */
export async function runCase(rich: RichStore, row: Case): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "events-damaged-"));
  const directory = join(home, "store");
  try {
    copyStore(row.from?.(rich) ?? rich.directory, directory);
    const whole = contentsOf(directory, rich.held);
    row.damage(directory, rich);
    if (row.refused !== undefined) return await wronglyOpened(rich, row, directory);
    const changed = row.isThorough ? undefined : damagedProjects(whole, contentsOf(directory, rich.held));
    // One project stands for all in the rows of which there are many.
    const damaged = changed ?? (row.isShort ? ["alpha"] : undefined);
    return await wrongAfter(rich, row, { directory, damaged });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The projects whose files differ; undefined if others do, which belong to all projects. */
function damagedProjects(whole: Contents, damaged: Contents): string[] | undefined {
  const changed = [...whole, ...damaged].filter(
    ([hash, path]) => whole.get(hash) !== path || damaged.get(hash) !== path,
  );
  const projects = changed.map(([, path]) => /^projects\/([^~/]+)~/.exec(path)?.[1]);
  return projects.every((project) => project !== undefined) ? projects : undefined;
}

async function wronglyOpened(rich: RichStore, row: Case, directory: string): Promise<string[]> {
  const before = [...contentsOf(directory, rich.held)].sort();
  const error = await openLogged(directory).then(
    async ({ store }) => {
      await store.close();
      return "it was opened";
    },
    (error: unknown) => String(error),
  );
  const wrong = row.refused!.test(error) ? [] : [error];
  const after = [...contentsOf(directory, rich.held)].sort();
  const changed = [...before.filter((one) => !has(after, one)), ...after.filter((one) => !has(before, one))];
  return [...wrong, ...changed.map(([, path]) => `${path} was changed`)];
}

const has = (list: readonly [string, string][], [hash, path]: [string, string]) =>
  list.some((one) => one[0] === hash && one[1] === path);

async function wrongAfter(
  rich: RichStore,
  row: Case,
  { directory, damaged }: { directory: string; damaged: readonly string[] | undefined },
): Promise<string[]> {
  const wrong: string[] = [];
  const lost = new Set(row.lost?.(rich) ?? []);
  const names = row.losses?.(rich) ?? [];
  const acknowledged = row.events?.(rich) ?? rich.events;
  const events = new Map([...acknowledged].map(([project, all]) => [project, new Set(all)]));
  for (const [project, numbers] of row.extra?.(rich) ?? []) {
    events.set(project, new Set([...(events.get(project) ?? []), ...numbers]));
  }
  const touched = new Set<string>();
  for (const [project, all] of events) for (const one of lost) if (all.delete(one)) touched.add(project);
  const { mayTell = [], deep = [] } = row;
  const isMissing = (project: string) => {
    if (touched.has(project)) return true;
    return row.mayTellAll || mayTell.includes(project) ? undefined : false;
  };
  const expected: Expected = {
    events,
    isMissing,
    ...(row.sql && { sql: row.sql }),
    ...(!row.isShort && { deep }),
    ...(damaged !== undefined && { fullyChecked: new Set([...damaged, ...touched]) }),
  };
  // Every reader was asked about each of them at the first start; later, about one of them.
  const again = new Set([...touched].slice(0, 1));
  const quick = { events, isMissing, fullyChecked: again };
  /** The others were just found to be right, and are asked again after the next flush. */
  const own = damaged === undefined ? events : new Map([...events].filter(([one]) => expected.fullyChecked!.has(one)));
  const before = contentsOf(directory, rich.held);
  let losses: string[] | undefined;

  const during = async (
    name: string,
    work: (store: OpenStore, lines: readonly string[]) => Promise<readonly string[]>,
  ) => {
    try {
      const { store, lines } = await openLogged(directory);
      try {
        for (const text of await work(store, lines)) wrong.push(`${name}: ${text}`);
      } finally {
        await store.close();
      }
    } catch (error) {
      wrong.push(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  };
  const kept = (name: string) => {
    const isTouched = (project: string) => touched.has(project);
    const gone = wronglyDeleted(before, contentsOf(directory, rich.held), rich.held, {
      answered: events,
      isTouched,
      deleted: rich.deleted,
    });
    wrong.push(...gone.map((text) => `${name}: ${text}`));
  };

  await during("first start", async (store, lines) => {
    const failures = await wrongAnswers(store, expected);
    losses = printLosses(store.losses());
    for (const name of names) {
      if (!losses.some((one) => one.includes(name)))
        failures.push(`losses() does not name ${name}: ${losses.join("; ")}`);
    }
    const isExpected = ({ project }: Loss) => names.length > 0 || row.mayTellAll === true || mayTell.includes(project);
    if (!store.losses().every(isExpected)) failures.push(`losses() are ${losses.join("; ")}`);
    const logged = row.logged?.(rich);
    if (logged !== undefined && !lines.some((line) => logged.some((name) => line.includes(name))))
      failures.push(`no line of the log names ${logged.join(" or ")}: ${lines.join("; ")}`);
    if (row.isTimeKnown) failures.push(...(await wrongRanges(store, acknowledged, lost)));
    if (row.areKeysLost !== true && row.events === undefined) await sendAgain(store, rich, lost);
    return failures;
  });
  kept("after the first start");
  const same = (store: OpenStore) => {
    const now = printLosses(store.losses());
    return String(now) === String(losses) ? [] : [`losses() are ${now.join("; ")} instead of ${losses?.join("; ")}`];
  };
  if (row.isShort !== true) {
    await during("second start", async (store) => {
      const failures = [...(await wrongAnswers(store, { ...quick, events: own })), ...same(store)];
      await appendMore(store, events);
      await store.flush();
      await store.compact();
      return [...failures, ...(await wrongAnswers(store, quick))];
    });
    await during("third start", async (store) => [...(await wrongAnswers(store, quick)), ...same(store)]);
    kept("after the third start");
  }
  if (row.putBack !== undefined && wrong.length === 0) {
    row.putBack(directory, rich);
    for (const [project, all] of acknowledged) {
      const now = events.get(project)!;
      for (const one of all) now.add(one);
    }
    const isTwice = row.mayTellAll === true;
    for (const name of isTwice ? ["put back", "a start after it was put back"] : ["put back"]) {
      await during(name, async (store) => {
        const failures = await wrongAnswers(store, { events, isMissing: () => false, fullyChecked: again });
        const left = printLosses(store.losses());
        return left.length === 0 ? failures : [...failures, `losses() are still ${left.join("; ")}`];
      });
    }
  }
  return wrong;
}

/** Ranges with lost events say that some are missing, all others do not. */
async function wrongRanges(store: OpenStore, events: Numbers, lost: ReadonlySet<number>): Promise<string[]> {
  const wrong: string[] = [];
  const signal = new AbortController().signal;
  for (const [project, all] of events) {
    if (![...lost].some((one) => all.has(one))) continue;
    for (const isLost of [true, false]) {
      const number = [...all].filter((one) => lost.has(one) === isLost).at(-1)!;
      const range = { project, startMs: timeOf(number), stopMs: timeOf(number), query: undefined };
      const { stats } = await store.count({ ...range, signal });
      if (stats.missingBytes > 0 !== isLost)
        wrong.push(`${project}: the moment of ${number} is missing ${stats.missingBytes} bytes`);
    }
  }
  return wrong;
}

/** Batches that were acknowledged, with the keys and ids that they had: nothing of them is new. */
async function sendAgain(store: OpenStore, rich: RichStore, lost: ReadonlySet<number>): Promise<void> {
  const alpha = [...rich.events.get("alpha")!];
  const late = rich.held.framesOf(join(rich.directory, rich.paths.ended)).find(({ project }) => project === "alpha")!;
  await store.append("alpha", eventsOf("alpha", alpha.slice(0, 20)), { idempotencyKey: "first alpha" });
  await store.append("alpha", eventsOf("alpha", late.numbers), { idempotencyKey: `late alpha ${late.numbers[0]}` });
  // Ids of their own, from a segment and from the journal. What is lost is stored again.
  const ofOwn = [alpha[0]!, late.numbers[0]!].filter((one) => !lost.has(one));
  await store.append("alpha", eventsOf("alpha", ofOwn));
}

async function appendMore(store: OpenStore, events: ReadonlyMap<string, Set<number>>): Promise<void> {
  let batch = NEXT_BATCH;
  for (const [project, all] of events) {
    const numbers = numbersOf(batch++, 10);
    await store.append(project, eventsOf(project, numbers));
    for (const one of numbers) all.add(one);
  }
}
