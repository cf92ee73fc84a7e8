// A store that is used, closed or killed, damaged and opened again, at random: what it answers is held against a model.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseQuery } from "../../../grammar/query/index.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { root } from "../cli.ts";
import { type Random, randomOf } from "../random.ts";
import { until } from "../until.ts";
import { openLogged } from "./damage.ts";
import { contentsOf, shortened, wrongAnswers, wronglyDeleted } from "./damage-check.ts";
import { LOADED, loadedProject } from "./damage-process.ts";
import * as faults from "./faults.ts";
import { ALL_TIMES, copyStore, eventOf, eventsOf, filesOf, numbersOf, type RichStore } from "./rich-store.ts";

export interface DamageLoop {
  readonly rounds: number;
  /** How often each fault was made. */
  readonly faults: Readonly<Record<string, number>>;
  readonly lostEvents: number;
  /** Answers that were wrong, with the round and its fault. */
  readonly wrong: readonly string[];
}

/** After this many rounds the rich store is copied again. */
const COPY_ROUNDS = 10;
/** Projects that are read as a whole each time. */
const READ = ["alpha", "beta", "again", "fresh"] as const;
const never = new AbortController().signal;

/** The events that were acknowledged in a directory since its copy was made. */
interface Model {
  readonly events: Map<string, Set<number>>;
  /** Those that a fault may have taken. They may be there, or missing and told. */
  readonly atRisk: Set<number>;
  /** Batches that nobody knows of whether they were acknowledged. */
  readonly inFlight: Set<number>;
  /** The end of the file that a killed store wrote to: nobody can tell a cut of it from the end of the crash. */
  readonly untold: Set<number>;
  /** Whether a loss of the journal may be told to projects that lost nothing. */
  isJournalHurt: boolean;
  /** Projects that were deleted: an older list of folders still has them. */
  readonly deleted: Set<string>;
  /** The events of those. */
  readonly gone: Set<number>;
  batch: number;
}

export async function damageLoop(rich: RichStore, rounds: number, seed: number): Promise<DamageLoop> {
  const random = randomOf(seed);
  const made: Record<string, number> = {};
  const wrong: string[] = [];
  const home = mkdtempSync(join(tmpdir(), "events-damage-loop-"));
  let lostEvents = 0;
  let directory = "";
  let model!: Model;
  try {
    for (let round = 0; round < rounds && wrong.length === 0; round++) {
      if (round % COPY_ROUNDS === 0) {
        directory = join(home, String(round));
        copyStore(random.chance(0.5) ? rich.directory : rich.killed, directory);
        const events = new Map([...rich.events].map(([project, all]) => [project, new Set(all)]));
        model = {
          events,
          atRisk: new Set(),
          inFlight: new Set(),
          untold: new Set(),
          deleted: new Set(),
          gone: new Set(rich.deleted),
          isJournalHurt: false,
          batch: 300,
        };
      }
      const earlier = join(home, "earlier");
      rmSync(earlier, { recursive: true, force: true });
      const say = (name: string, texts: readonly string[]) =>
        wrong.push(...texts.map((text) => `round ${round}, seed ${seed}: ${name}: ${text}`));
      const isKilled = random.chance(0.4);
      copyStore(directory, earlier);
      if (isKilled) await loaded(directory, model, random.below(400));
      else say("use", await used(directory, model, random));
      await settled(directory);
      for (const path of filesOf(directory)) await rich.held.look(directory, path);
      const undamaged = new Map([...contentsOf(directory, rich.held)].map(([hash, path]) => [path, hash]));
      const names: string[] = [];
      for (let n = 0; n < faultsAtOnce; n++) {
        const fault = random.pick(FAULTS.filter(({ name }) => chosenFaults.test(name)));
        names.push(damage(fault, { directory, earlier, random, rich, model, isKilled }));
        made[fault.name] = (made[fault.name] ?? 0) + 1;
      }
      const name = names.join(" and ");
      const before = contentsOf(directory, rich.held);
      try {
        const { store } = await openLogged(directory);
        const { texts, eventNumbers } = await wrongStore(store, model).finally(() => store.close());
        say(name, texts);
        lostEvents = Math.max(lostEvents, model.atRisk.size);
        await settled(directory);
        say(
          name,
          wronglyDeleted(before, contentsOf(directory, rich.held), rich.held, {
            answered: eventNumbers,
            deleted: model.gone,
            undamaged,
          }),
        );
      } catch (error) {
        say(name, [String(error instanceof Error ? error.stack : error)]);
      }
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return { rounds, faults: made, lostEvents, wrong };
}

/** Looks at the folder between which nothing changes, once nothing does any more. */
const SETTLED_LOOKS = 10;

/** Files that were merged go by themselves, a moment after the store is closed. */
async function settled(directory: string): Promise<void> {
  let [before, looks] = ["", 0];
  await until("files that stay as they are", () => {
    const now = String(filesOf(directory));
    looks = now === before ? looks + 1 : 0;
    before = now;
    return looks === SETTLED_LOOKS;
  });
}

/** Appends, flushes, merges and deletes at random. */
async function used(directory: string, model: Model, random: Random): Promise<string[]> {
  const { store } = await openLogged(directory, { flushEvents: random.pick([25, 1e9]) });
  try {
    for (let steps = random.below(8); steps > 0; steps--) {
      const project = random.pick([...READ, "big"]);
      const action = random.below(10);
      if (action < 6) {
        const numbers = numbersOf(model.batch++, 1 + random.below(15));
        await store.append(project, eventsOf(project, numbers));
        for (const one of numbers) model.events.get(project)!.add(one);
      } else if (action < 8) await store.flush();
      else if (action < 9) await store.compact();
      else if (project === "fresh") {
        await store.deleteProject(project);
        for (const one of model.events.get(project)!) model.gone.add(one);
        model.events.set(project, new Set());
        model.deleted.add(project);
      }
    }
  } finally {
    await store.close();
  }
  return [];
}

/** Appends in a process that is killed. */
async function loaded(directory: string, model: Model, ms: number): Promise<void> {
  const program = join(root, "dist/test/support/events/damage-process.js");
  const child = spawn(process.execPath, [program, "load", directory, String(model.batch)], {
    stdio: ["ignore", "pipe", "inherit"],
    // A group of its own: the process that makes segments ends with it, and nothing changes any more.
    detached: true,
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (out === "") setTimeout(() => process.kill(-child.pid!, "SIGKILL"), ms);
    out += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  const batches = out.slice(0, out.lastIndexOf("\n")).split("\n").slice(1).map(Number);
  for (const batch of batches) {
    for (const one of numbersOf(batch, LOADED)) model.events.get(loadedProject(batch))!.add(one);
  }
  const next = Math.max(model.batch - 1, ...batches) + 1;
  for (const one of numbersOf(next, LOADED)) model.inFlight.add(one);
  model.batch = next + 1;
}

/** Returns the faults in the answers of all projects, and the numbers of the events that were found. */
async function wrongStore(store: EventsStore, model: Model) {
  const texts: string[] = [];
  const eventNumbers = new Map<string, Set<number>>();
  for (const [project, all] of model.events) {
    const isRead = READ.includes(project as never) || [...all].some((one) => model.atRisk.has(one));
    const numbers = isRead ? await readAll(store, project) : [...all];
    const own = new Set(numbers);
    eventNumbers.set(project, own);
    const strange = numbers.filter((one) => !all.has(one) && !isInFlight(model, project, one));
    const missing = [...all].filter((one) => !own.has(one));
    const unexplained = missing.filter((one) => !model.atRisk.has(one));
    if (own.size < numbers.length) texts.push(`${project}: ${numbers.length - own.size} events twice`);
    if (strange.length > 0)
      texts.push(`${project}: events that should not be there: ${shortened(strange.map(String))}`);
    if (unexplained.length > 0) texts.push(`${project}: no events ${shortened(unexplained.map(String)).join(", ")}`);
    const mayTell = model.isJournalHurt || isAtRisk(model, all) || model.deleted.has(project);
    const isTold = missing.some((one) => !model.untold.has(one));
    const isMissing = isTold ? true : mayTell ? undefined : false;
    texts.push(...(await wrongAnswers(store, { events: new Map([[project, own]]), isMissing: () => isMissing })));
    // A batch is there as a whole or not at all, and from now on it is known which.
    for (const one of own) if (model.inFlight.has(one)) all.add(one);
  }
  model.inFlight.clear();
  return { texts, eventNumbers };
}

const isAtRisk = ({ atRisk }: Model, all: ReadonlySet<number>) => [...atRisk].some((one) => all.has(one));
const isInFlight = ({ inFlight }: Model, project: string, one: number) =>
  inFlight.has(one) && loadedProject(Math.floor(one / numbersOf(1, 1)[0]!)) === project;

async function readAll(store: EventsStore, project: string): Promise<number[]> {
  const numbers: number[] = [];
  const parsed = parseQuery("i >= 0");
  const query = parsed.ok ? parsed.value : undefined;
  const range = { project, ...ALL_TIMES, query };
  let cursor: string | undefined;
  do {
    const page = await store.search({ ...range, limit: 10_000, order: "ascending", cursor, signal: never });
    for (const event of page.events) {
      const { i } = event.fields as { i: number };
      if (eventOf(project, i).message !== event.message) throw new Error(`another event than ${i}`);
      numbers.push(i);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return numbers;
}

interface Scene {
  readonly directory: string;
  /** The directory before the store was used in this round. */
  readonly earlier: string;
  readonly random: Random;
  readonly rich: RichStore;
  readonly model: Model;
  readonly isKilled: boolean;
}

interface RandomFault {
  readonly name: string;
  /** Files that it may be made of. */
  readonly of: (path: string) => boolean;
  readonly damage: (scene: Scene, path: string) => void;
}

const isAny = (path: string) => !path.includes("quarantine") && !path.startsWith("spill") && !path.startsWith("sql");
const isSegment = (path: string) => isAny(path) && path.endsWith(".parquet");
const isJournal = (path: string) => /^journal\/\d+\.ndjson$/.test(path);
const isList = (path: string) => isAny(path) && path.endsWith(".json") && !path.endsWith(".parquet.json");
const sizeOf = ({ directory }: Scene, path: string) => statSync(join(directory, path)).size;

/** DAMAGE_FAULTS picks them by their names. */
const chosenFaults = new RegExp(process.env.DAMAGE_FAULTS ?? "");
/** DAMAGE_AT_ONCE: how many faults each round has. */
const faultsAtOnce = Number(process.env.DAMAGE_AT_ONCE ?? 1);

const FAULTS: readonly RandomFault[] = [
  { name: "gone", of: isAny, damage: ({ directory }, path) => rmSync(join(directory, path)) },
  { name: "empty", of: isAny, damage: ({ directory }, path) => faults.empty(join(directory, path)) },
  {
    name: "cut",
    of: isAny,
    damage: ({ directory, random }, path) => faults.cut(join(directory, path), random.below(1000) / 1000),
  },
  {
    name: "a bit flipped",
    of: isAny,
    damage: (scene, path) => {
      const size = sizeOf(scene, path);
      if (size > 0) faults.flip(join(scene.directory, path), scene.random.below(size), scene.random.below(8));
    },
  },
  {
    name: "an older one put back",
    of: isList,
    damage: ({ directory, earlier }, path) => {
      if (existsSync(join(earlier, path))) faults.overwrite(join(directory, path), readFileSync(join(earlier, path)));
    },
  },
  {
    name: "renamed",
    of: isSegment,
    damage: ({ directory }, path) => renameSync(join(directory, path), join(directory, dirname(path), "found.parquet")),
  },
  {
    name: "doubled",
    of: (path) => isSegment(path) || isJournal(path),
    damage: ({ directory, random }, path) => {
      const other = path.replace(/(\d{16})(?=[^/]*$)/, (digits) =>
        String(Number(digits) + 1 + random.below(3)).padStart(16, "0"),
      );
      cpSync(join(directory, path), join(directory, other));
    },
  },
  {
    name: "swapped",
    of: isAny,
    damage: ({ directory, random }, path) => {
      const end = path.slice(path.lastIndexOf("."));
      const others = filesOf(directory).filter((one) => isAny(one) && one.endsWith(end) && one !== path);
      if (others.length > 0) faults.swap(join(directory, path), join(directory, random.pick(others)));
    },
  },
  {
    name: "a folder gone",
    of: (path) => path.endsWith("manifest.json"),
    damage: ({ directory }, path) => rmSync(join(directory, dirname(path)), { recursive: true }),
  },
  {
    name: "a folder renamed",
    of: (path) => path.endsWith("manifest.json"),
    damage: ({ directory, random }, path) => {
      const folder = join(directory, dirname(path));
      const other = `${folder}${random.pick(["9", ".bak", "-copy"])}`;
      if (!existsSync(other)) renameSync(folder, other);
    },
  },
  {
    name: "a folder doubled",
    of: (path) => path.endsWith("manifest.json"),
    damage: ({ directory, random }, path) => {
      const folder = join(directory, dirname(path));
      cpSync(folder, `${folder}${random.pick(["9", ".bak"])}`, { recursive: true });
    },
  },
  {
    name: "a manifest and a segment beside it",
    of: isSegment,
    damage: ({ directory, random }, path) => {
      const manifest = join(directory, dirname(path), "manifest.json");
      if (existsSync(manifest)) random.pick([rmSync, faults.empty])(manifest);
      random.pick([rmSync, faults.empty])(join(directory, path));
    },
  },
  {
    name: "an older manifest, and a segment beside it gone",
    of: isSegment,
    damage: ({ directory, earlier }, path) => {
      const manifest = join(dirname(path), "manifest.json");
      if (existsSync(join(earlier, manifest)))
        faults.overwrite(join(directory, manifest), readFileSync(join(earlier, manifest)));
      rmSync(join(directory, path));
    },
  },
  {
    name: "two folders exchanged",
    // Not one that was set aside within a folder.
    of: (path) => /^projects\/[^/]+\/manifest\.json$/.test(path),
    damage: ({ directory, random }, path) => {
      const others = filesOf(directory).filter((one) => /^projects\/[^/]+\/manifest\.json$/.test(one) && one !== path);
      if (others.length > 0) faults.swap(join(directory, dirname(path)), join(directory, dirname(random.pick(others))));
    },
  },
  { name: "nothing", of: isAny, damage: () => {} },
];

/** Makes a fault of a random file, and notes what it may take; gives its name. */
function damage(fault: RandomFault, scene: Scene): string {
  const { directory, random, rich, model, isKilled } = scene;
  const paths = filesOf(directory).filter(fault.of);
  if (paths.length === 0) return "nothing";
  const path = random.pick(paths);
  const before = new Map(filesOf(directory).map((one) => [one, rich.held.hashOf(join(directory, one))]));
  const sizes = new Map([...before.keys()].map((one) => [one, sizeOf(scene, one)]));
  fault.damage(scene, path);
  const after = new Set(filesOf(directory).map((one) => `${one} ${rich.held.hashOf(join(directory, one))}`));
  const current = [...before.keys()].filter((one) => isJournal(one) && sizes.get(one)! > 0).at(-1);
  for (const [one, hash] of before) {
    if (after.has(`${one} ${hash}`)) continue;
    if (isJournal(one) || one === "journal.json") model.isJournalHurt = true;
    for (const { numbers } of rich.held.framesOfHash(hash) ?? []) {
      for (const each of numbers) {
        model.atRisk.add(each);
        if (isKilled && one === current) model.untold.add(each);
      }
    }
  }
  return `${fault.name}: ${path}${isKilled ? " (after a kill)" : ""}`;
}
