import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { containsInterval, type Interval, unionOf } from "../intervals.ts";
import type { ProjectJournal } from "../journal/recovery.ts";
import { heldIn, type ListedFolder } from "./folder-list.ts";
import type { FolderIdentity } from "./folder-name.ts";
import { hasAll } from "./held-events.ts";
import type { Inspector } from "./inspector.ts";
import {
  type Fault,
  faultOf,
  footerOf,
  type Integrity,
  isSame,
  quickFaultOf,
  stampOf,
  unreadable,
} from "./integrity.ts";
import { folderLoss, isLossOf, possibleLoss } from "./losses.ts";
import {
  LOSSES,
  MANIFEST,
  type Manifest,
  type ManifestEntry,
  QUARANTINE,
  REMOVED,
  type ReadManifest,
  readLosses,
  readManifest,
  type StoredLoss,
} from "./manifest.ts";
import { ownerOf, SEGMENT_NAME, segmentName, TEMPORARY, withDerived } from "./segment-files.ts";
import type { SegmentMetadata } from "./segment-metadata.ts";
import { readSidecar, type Sidecar } from "./sidecar.ts";

export interface PlannedSegment {
  readonly entry: ManifestEntry & { readonly integrity: Integrity };
  /**
   * Undefined if it has to be rebuilt; so has one of the first version, whose segment was read and noted before the
   * service ended.
   */
  readonly sidecar: Sidecar | "first version" | undefined;
}

/**
 * The contents of a folder, and what has to be done with its files before it is used. Making a plan changes nothing.
 */
export interface FolderPlan extends FolderIdentity {
  readonly directory: string;
  /** Why nothing of the folder can be read: it must not be written to either. */
  readonly blocked: Fault | `is that of ${string}` | undefined;
  readonly manifest: "whole" | "first version" | "new" | Fault;
  readonly flushed: number;
  readonly segments: readonly PlannedSegment[];
  readonly losses: readonly StoredLoss[];
  /** Whether the manifest names other losses than these. */
  readonly isLossNew: boolean;
  /** Files without an event that other files lack: they may be deleted. */
  readonly superseded: readonly string[];
  /** Files that are neither used nor known to be held elsewhere. */
  readonly quarantined: readonly { readonly file: string; readonly reason: string }[];
  /** Segments that no manifest named, with the names that they have now. */
  readonly adopted: readonly { readonly from: string; readonly file: string }[];
  /** Earlier losses whose files have reappeared. */
  readonly returned: readonly StoredLoss[];
}

export interface PlanOptions {
  readonly directory: string;
  readonly identity: FolderIdentity;
  readonly journal: ProjectJournal;
  readonly inspector: Inspector;
  readonly nowMs: number;
  /** The folder's entry in the list of folders: if there is one, the folder has had a manifest. */
  readonly listEntry: Pick<ListedFolder, "newest" | "first" | "held"> | undefined;
  /** The folder that is in its place, if that is not its own: nothing there is of this project. */
  readonly takenBy?: string | undefined;
  /** Whether all bytes of all segments are read. */
  readonly isThorough: boolean;
}

/**
 * Plans the repair of a project's folder after whatever happened to it. A file is deleted only if other files provably
 * hold all its events; a readable file whose events are held nowhere else is kept and used, whether or not a manifest
 * names it.
 */
export async function planFolder(options: PlanOptions): Promise<FolderPlan> {
  const { directory, identity } = options;
  const nothing = {
    ...identity,
    directory,
    isLossNew: true,
    segments: [],
    superseded: [],
    quarantined: [],
    adopted: [],
    returned: [],
  };
  if (options.takenBy !== undefined) {
    const reason = `its folder is missing: ${options.takenBy} is in its place`;
    const lost = [folderLoss(identity, { file: "", reason, bytes: 0 }, options.nowMs)];
    const blocked = `is that of ${options.takenBy}` as const;
    return { ...nothing, blocked, manifest: "is missing", flushed: 0, losses: isInJournal(options) ? [] : lost };
  }
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    const fault = unreadable(error);
    const lost = [folderLoss(identity, { file: "", reason: `its folder ${fault}`, bytes: 0 }, options.nowMs)];
    // The folder is created again with the next events.
    if (fault !== "is missing") return { ...nothing, blocked: fault, manifest: fault, flushed: 0, losses: lost };
    return { ...nothing, blocked: undefined, manifest: "new", flushed: 0, losses: isInJournal(options) ? [] : lost };
  }
  const readFirst = await readManifest(directory, identity);
  const read = ownOnly(readFirst, identity);
  const isEmpty = read.kind === "lost" && read.fault === "is missing" && !names.some((name) => SEGMENT_NAME.test(name));
  const isNew = isEmpty && (options.listEntry === undefined || isInJournal(options));
  const plan = new Planning(options, read.kind === "lost" ? undefined : read.manifest);
  await plan.look(names, read.kind);
  if (isEmpty && !isNew) plan.lose({ file: "", reason: "its folder was emptied", bytes: 0 });
  if (readFirst !== read && plan.isWithoutOwn && !isInJournal(options)) {
    const { project, began } = (readFirst as Extract<ReadManifest, { manifest: Manifest }>).manifest;
    plan.lose({ file: "", reason: `its folder is missing: ${project}~${began} is in its place`, bytes: 0 });
  } else if (!isEmpty) plan.prove(read);
  if (read.kind === "lost" && read.fault === "is damaged")
    plan.quarantined.push({ file: MANIFEST, reason: read.fault });
  return {
    ...nothing,
    blocked: undefined,
    manifest: read.kind !== "lost" ? read.kind : isNew ? "new" : read.fault,
    flushed: read.kind === "lost" ? 0 : read.manifest.flushed,
    segments: plan.segments,
    losses: plan.losses,
    isLossNew: plan.losses.map(({ id }) => id).join() !== (read.kind === "lost" ? "" : idsOf(read.manifest)),
    superseded: [...new Set(plan.superseded)],
    quarantined: plan.quarantined,
    adopted: plan.adopted,
    returned: plan.returned,
  };
}

/**
 * Whether the journal has all events that the project ever had, as after a crash before its first segment was named. The
 * folder's own number does not tell: others came before it was made.
 */
const isInJournal = ({ journal, listEntry }: PlanOptions) =>
  journal.wholeSince !== undefined &&
  journal.wholeSince <= (listEntry?.first ?? 1) &&
  (listEntry?.newest ?? 0) <= (journal.intervals.at(-1)?.[1] ?? 0);

const idsOf = ({ losses }: Manifest) => losses.map(({ id }) => id).join();

/** The manifest of another folder, put into this one, counts as damaged. */
function ownOnly(read: ReadManifest, { project, began }: FolderIdentity): ReadManifest {
  const isOwn = read.kind === "lost" || (read.manifest.project === project && read.manifest.began === began);
  return isOwn ? read : { kind: "lost", fault: "is damaged" };
}

/** A file that no manifest names. */
interface Candidate {
  readonly name: string;
  /** Undefined if the file cannot be read as a segment. */
  readonly metadata:
    | (Partial<Pick<SegmentMetadata, "project" | "began">> & Omit<SegmentMetadata, "project" | "began">)
    | undefined;
  readonly bytes: number;
}

class Planning {
  readonly #options: PlanOptions;
  readonly #manifest: Manifest | undefined;
  readonly #lost: { readonly entry: ManifestEntry; readonly fault: Fault }[] = [];
  segments: PlannedSegment[] = [];
  losses: StoredLoss[] = [];
  readonly superseded: string[] = [];
  readonly quarantined: { file: string; reason: string }[] = [];
  readonly adopted: { from: string; file: string }[] = [];
  readonly returned: StoredLoss[] = [];

  constructor(options: PlanOptions, manifest: Manifest | undefined) {
    this.#options = options;
    this.#manifest = manifest;
  }

  async look(names: readonly string[], kind: "whole" | "first version" | "lost"): Promise<void> {
    for (const entry of this.#manifest?.segments ?? []) await this.#take(entry);
    const losses = this.#manifest?.losses ?? (await readLosses(this.#options.directory));
    for (const loss of losses.filter((one) => isLossOf(this.#options.identity, one))) await this.#lookAgain(loss);
    const { candidates, unfinished } = await this.#sort(names);
    if (candidates.length > 0) await this.#verifyChanged();
    // Large ones first: a merged segment supersedes those that it was made of.
    for (const one of candidates.sort((a, b) => (b.metadata?.events ?? 0) - (a.metadata?.events ?? 0)))
      await this.#judge(one);
    for (const name of unfinished) this.#judgeUnfinished(name, kind);
    this.#settleLosses();
  }

  async #take(entry: ManifestEntry): Promise<boolean> {
    const { nowMs, isThorough } = this.#options;
    const path = this.#pathOf(entry.file);
    const integrity: Integrity = entry.integrity
      ? { ...entry.integrity }
      : { sum: undefined, footerSum: undefined, stamp: undefined, checkedMs: 0 };
    const fault = isThorough
      ? await faultOf(path, entry.bytes, integrity, { nowMs })
      : await quickFaultOf(path, entry.bytes, integrity);
    if (fault !== undefined) {
      this.#lost.push({ entry, fault });
      return false;
    }
    this.segments.push({ entry: { ...entry, integrity }, sidecar: await this.#sidecarOf(entry, integrity) });
    return true;
  }

  /** Undefined if there is none that belongs to the segment. */
  async #sidecarOf(entry: ManifestEntry, integrity: Integrity): Promise<PlannedSegment["sidecar"]> {
    const sidecar = await readSidecar(this.#pathOf(entry.file)).catch(() => undefined);
    if (sidecar === undefined || sidecar.summary.events !== entry.events) return undefined;
    const { segment } = sidecar;
    if (integrity.sum === undefined) return sidecar;
    if (segment === undefined) return "first version";
    return segment.sum === integrity.sum && segment.bytes === entry.bytes ? sidecar : undefined;
  }

  /** Rechecks an earlier loss: its file may have been put back. */
  async #lookAgain(loss: StoredLoss): Promise<void> {
    const { entry } = loss;
    const isBack = entry?.integrity !== undefined && (await isThere(this.#pathOf(entry.file)));
    const integrity = isBack ? { ...entry.integrity! } : undefined;
    if (!isBack || (await faultOf(this.#pathOf(entry.file), entry.bytes, integrity!, this.#options))) {
      this.losses.push(loss);
      return;
    }
    if (await this.#take({ ...entry, integrity: integrity! })) this.returned.push(loss);
  }

  async #sort(names: readonly string[]): Promise<{ candidates: Candidate[]; unfinished: string[] }> {
    const all = new Set(names);
    const dropped = new Set(this.#manifest?.dropped);
    const listedNames = new Set([MANIFEST, LOSSES, QUARANTINE, REMOVED]);
    // A damaged file is quarantined with the files beside it; a file that cannot be read just now stays.
    for (const { entry, fault } of this.#lost) {
      if (fault === "is damaged") this.#quarantine(entry.file, all, `${fault}; its manifest names it`);
      for (const name of withDerived(entry.file)) listedNames.add(name);
    }
    for (const { entry } of this.segments) for (const name of withDerived(entry.file)) listedNames.add(name);
    for (const { file } of this.losses) for (const name of withDerived(file)) listedNames.add(name);
    const candidates: Candidate[] = [];
    const unfinished: string[] = [];
    for (const name of names) {
      if (listedNames.has(name)) continue;
      const owner = ownerOf(name);
      if (dropped.has(name) || (owner !== undefined && dropped.has(owner))) this.superseded.push(name);
      else if (name === `${MANIFEST}${TEMPORARY}` || name === `${LOSSES}${TEMPORARY}`) this.superseded.push(name);
      else if (owner !== undefined) {
        // With its segment, if that is there.
        if (name.endsWith(TEMPORARY) || !all.has(owner)) this.superseded.push(name);
      } else if (name.endsWith(TEMPORARY) && SEGMENT_NAME.test(name.slice(0, -TEMPORARY.length))) unfinished.push(name);
      else candidates.push(await this.#candidate(name));
    }
    return { candidates, unfinished };
  }

  async #candidate(name: string): Promise<Candidate> {
    const path = this.#pathOf(name);
    const { inspector } = this.#options;
    let bytes = 0;
    try {
      // Reading a pipe would never end.
      if (!lstatSync(path).isFile()) return { name, metadata: undefined, bytes };
      bytes = stampOf(path)?.size ?? 0;
      if ((await footerOf(path, bytes)) === undefined) return { name, metadata: undefined, bytes };
      const metadata = await inspector.metadataOf(path);
      // A merge of segments of format 1 does not say either which flushes it has.
      const described = metadata?.intervals === undefined ? await inspector.describe(path) : undefined;
      const whole = metadata && described ? { ...metadata, intervals: described.intervals } : (metadata ?? described!);
      return { name, metadata: whole.events > 0 ? whole : undefined, bytes };
    } catch {
      // The engine has many errors for a file that is not a segment.
      return { name, metadata: undefined, bytes };
    }
  }

  /** A damaged file proves nothing, so files that changed are verified first. */
  async #verifyChanged(): Promise<void> {
    const still: PlannedSegment[] = [];
    for (const one of this.segments) {
      const { entry } = one;
      const path = this.#pathOf(entry.file);
      const isTouched = entry.integrity.sum !== undefined && !isSame(entry.integrity.stamp, stampOf(path));
      const fault = isTouched ? await faultOf(path, entry.bytes, entry.integrity, this.#options) : undefined;
      if (fault === undefined) still.push(one);
      else {
        this.#lost.push({ entry, fault });
        if (fault === "is damaged") this.#quarantine(entry.file, undefined, `${fault}; its manifest names it`);
      }
    }
    this.segments = still;
  }

  async #judge({ name, metadata, bytes }: Candidate): Promise<void> {
    const { identity, journal } = this.#options;
    const isNamed = SEGMENT_NAME.test(name);
    if (metadata === undefined) {
      if (isNamed && this.#isRangeHeld(name)) this.#supersede(name);
      else {
        this.#quarantine(name, undefined, isNamed ? "is damaged; no manifest names it" : "is not a file of the store");
        if (isNamed) this.lose({ file: name, reason: "is damaged", bytes });
      }
      return;
    }
    const { project = identity.project, began = identity.began } = metadata;
    if (project !== identity.project || began !== identity.began) {
      this.#quarantine(name, undefined, `is a segment of ${project}~${began}`);
      return;
    }
    const contents = await this.#rowsOf(name);
    if (contents === undefined) return this.#damaged(name, metadata, bytes);
    const notInJournal = contents.rows.filter(([sequence, at, message]) => !journal.has(sequence, at, message));
    const held = notInJournal.length === 0 ? new Map<number, bigint>() : await this.#heldAmong(metadata);
    const isHeld = ([sequence]: readonly [number, ...unknown[]]) =>
      held.get(sequence) === contents.hashes.get(sequence);
    if (notInJournal.every(isHeld)) {
      this.#supersede(name);
      return;
    }
    // The same sequence for another event: a segment from before a restore, which must not be merged with later ones.
    const inJournal = unionOf(journal.intervals);
    if (notInJournal.some(([sequence]) => held.has(sequence) || containsInterval(inJournal, [sequence, sequence]))) {
      this.#quarantine(name, undefined, "has sequences of events that other files hold, and holds more than these");
      this.lose({
        file: name,
        reason: "has sequences of events that other files hold",
        bytes,
        entry: this.#entryOf(name, metadata, bytes),
      });
      return;
    }
    await this.#adopt(name, metadata, bytes);
  }

  async #rowsOf(name: string) {
    const { inspector } = this.#options;
    try {
      const path = this.#pathOf(name);
      return { rows: await inspector.messagesOf(path), hashes: await inspector.hashesOf([path]) };
    } catch {
      // Whatever the engine's error is, the file is unreadable.
      return undefined;
    }
  }

  /** The events of the segments that may hold some of a candidate's. */
  async #heldAmong({
    intervals,
  }: {
    intervals: readonly Interval[] | undefined;
  }): Promise<ReadonlyMap<number, bigint>> {
    const [first, last] = [intervals?.[0]?.[0] ?? 0, intervals?.at(-1)?.[1] ?? Number.POSITIVE_INFINITY];
    const others = this.segments.filter(({ entry }) => {
      const own = entry.intervals;
      return own === undefined || own.some(([a, b]) => a <= last && b >= first);
    });
    return this.#options.inspector.hashesOf(others.map(({ entry }) => this.#pathOf(entry.file)));
  }

  async #adopt(name: string, metadata: NonNullable<Candidate["metadata"]>, bytes: number): Promise<void> {
    const path = this.#pathOf(name);
    const sidecar = await readSidecar(path).catch(() => undefined);
    const match = this.#lost.find(({ entry }) => entry.bytes === bytes && entry.integrity !== undefined);
    const sum = sidecar?.segment?.sum ?? match?.entry.integrity?.sum;
    const integrity: Integrity = { sum, footerSum: undefined, stamp: undefined, checkedMs: 0 };
    const isWhole =
      (await faultOf(path, bytes, integrity, this.#options)) === undefined &&
      // Without a checksum, all that can be verified is that it can be read.
      (sum !== undefined || (await this.#options.inspector.decode(path).catch(() => -1)) === metadata.events);
    if (!isWhole) return this.#damaged(name, metadata, bytes);
    const file = SEGMENT_NAME.test(name) ? name : (match?.entry.file ?? `${nameOf(metadata)}`);
    this.segments.push({
      entry: { ...this.#entryOf(file, metadata, bytes), integrity },
      sidecar: file === name && sidecar?.segment?.sum === integrity.sum ? sidecar : undefined,
    });
    this.adopted.push({ from: name, file });
  }

  #damaged(name: string, metadata: NonNullable<Candidate["metadata"]>, bytes: number): void {
    this.#quarantine(name, undefined, "is damaged; no manifest names it");
    this.lose({ file: name, reason: "is damaged", bytes, entry: this.#entryOf(name, metadata, bytes) });
  }

  #entryOf(file: string, metadata: NonNullable<Candidate["metadata"]>, bytes: number): ManifestEntry {
    const { events, eventBytes, first, last, sequence, intervals } = metadata;
    return { file, events, bytes, eventBytes, first, last, sequence, ...(intervals && { intervals }) };
  }

  /** A file that was being written is not needed as long as the files that it was made of are there. */
  #judgeUnfinished(name: string, kind: "whole" | "first version" | "lost"): void {
    const [, , last] = SEGMENT_NAME.exec(name.slice(0, -TEMPORARY.length))!;
    const isHeld = last === undefined ? kind !== "lost" : this.#isRangeHeld(name.slice(0, -TEMPORARY.length));
    if (isHeld) this.superseded.push(name);
    else this.#quarantine(name, undefined, "was being written, and not all that it was made of is there");
  }

  /** Whether the events between the sequences of a name are in segments that count, or in the journal. */
  #isRangeHeld(name: string): boolean {
    const [, first, last] = SEGMENT_NAME.exec(name)!;
    if (last === undefined || !this.#options.journal.isWhole) return false;
    const [from, to] = [Number(first), Number(last)];
    const ofSegments = this.segments.flatMap(
      ({ entry }) => entry.intervals ?? [[entry.sequence, entry.sequence] as const],
    );
    const union = unionOf([...ofSegments, ...this.#options.journal.intervals]);
    const entries = [...this.#lost.map(({ entry }) => entry), ...this.losses.map(({ entry }) => entry)];
    const isLost = entries.some((entry) => {
      const own = entry?.intervals ?? [];
      return entry !== undefined && (own.length === 0 || own.some(([a, b]) => a <= to && b >= from));
    });
    // Between two held sequences of a project, every event is either held or lost.
    return !isLost && containsInterval(union, [from, from]) && containsInterval(union, [to, to]);
  }

  /** Files that the manifest names and that are missing or damaged are lost, unless other segments hold all their events. */
  #settleLosses(): void {
    const union = unionOf(this.segments.flatMap(({ entry }) => entry.intervals ?? []));
    for (const { entry, fault } of this.#lost) {
      const isSame = (one: PlannedSegment) =>
        one.entry.bytes === entry.bytes && one.entry.first === entry.first && one.entry.sequence === entry.sequence;
      const isHeld =
        entry.intervals?.every((interval) => containsInterval(union, interval)) || this.segments.some(isSame);
      if (!isHeld) this.lose({ file: entry.file, reason: fault, bytes: entry.bytes, entry });
    }
    // Events of an earlier loss may be in a segment that is there.
    const isStill = ({ entry }: StoredLoss) =>
      !entry?.intervals?.every((interval) => containsInterval(union, interval));
    this.losses = this.losses.filter(isStill);
  }

  /** Whether no segment of the project is there. */
  get isWithoutOwn(): boolean {
    return this.segments.length + this.losses.length === 0;
  }

  /**
   * Compares what there is with what the list of folders says that there was. Unless one of them proves that nothing
   * is missing, something may be.
   */
  prove(read: ReadManifest): void {
    const { identity, listEntry = {}, nowMs } = this.#options;
    const held = heldIn(listEntry);
    const entries = [...this.segments.map(({ entry }) => entry), ...this.losses.flatMap(({ entry }) => entry ?? [])];
    this.#returnPossible(entries);
    const isNewest = Math.max(0, ...entries.map(({ sequence }) => sequence)) >= (listEntry.newest ?? 0);
    const isProven =
      held === undefined
        ? read.kind !== "lost" && isNewest
        : // A manifest of now names all that the list does, whether or not it is there.
          hasAll(entries, held) || (read.kind !== "lost" && hasAll(namedIn(read.manifest), held));
    if (isProven || isInJournal(this.#options)) return;
    const fault = read.kind === "lost" ? `its manifest ${read.fault}` : "its folder is an older copy";
    const [events, bytes] = [sumOf(entries, "events"), sumOf(entries, "eventBytes")];
    const isCounted = held !== undefined && events < held.events;
    const loss = possibleLoss(
      identity,
      {
        reason: `may lack events: ${fault}${isCounted ? `; ${events} of ${held.events} events are there` : ""}`,
        bytes: Math.max(0, (held?.bytes ?? 0) - bytes),
        held,
      },
      nowMs,
    );
    if (!this.losses.some(({ id }) => id === loss.id)) this.losses.push(loss);
  }

  /** Takes back what may have been missing, and is there now. */
  #returnPossible(entries: readonly ManifestEntry[]): void {
    const returned = this.losses.filter(({ isPossible, held }) => isPossible && held && hasAll(entries, held));
    this.returned.push(...returned);
    this.losses = this.losses.filter((loss) => !returned.includes(loss));
  }

  lose(loss: Omit<StoredLoss, "id" | "atMs">): void {
    const newLoss = folderLoss(this.#options.identity, loss, this.#options.nowMs);
    if (!this.losses.some(({ id }) => id === newLoss.id)) this.losses.push(newLoss);
  }

  #supersede(name: string): void {
    this.superseded.push(...withDerived(name));
  }

  #quarantine(name: string, names: ReadonlySet<string> | undefined, reason: string): void {
    for (const file of withDerived(name)) if (names?.has(file) !== false) this.quarantined.push({ file, reason });
  }

  #pathOf(name: string): string {
    return join(this.#options.directory, name);
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    return stampOf(path) !== undefined;
  } catch {
    return false;
  }
}

const namedIn = ({ segments, losses }: Manifest) => [...segments, ...losses.flatMap(({ entry }) => entry ?? [])];

const sumOf = (entries: readonly ManifestEntry[], of: "events" | "eventBytes") =>
  entries.reduce((sum, entry) => sum + entry[of], 0);

const nameOf = ({ intervals, sequence }: Pick<SegmentMetadata, "intervals" | "sequence">) =>
  segmentName(intervals?.[0]?.[0] ?? sequence, sequence, "found", 0);
