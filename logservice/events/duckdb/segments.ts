import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorCode, isDirectory, printWithChecksum, syncDirectory, unlessGone, writeDurably } from "../durable.ts";
import type { Log } from "../settings.ts";
import type { FolderNote } from "./folder-list.ts";
import type { FolderIdentity } from "./folder-name.ts";
import type { FolderPlan, PlannedSegment } from "./folder-plan.ts";
import { heldEvents } from "./held-events.ts";
import {
  type Fault,
  faultOf,
  type Integrity,
  isSame,
  type ReadOptions,
  type Stamp,
  stampOf,
  unreadable,
} from "./integrity.ts";
import { folderLoss, rangeOf } from "./losses.ts";
import {
  LOSSES,
  MANIFEST,
  type ManifestEntry,
  QUARANTINE,
  REMOVED,
  type StoredLoss,
  writeManifest,
} from "./manifest.ts";
import { quarantineFile } from "./quarantine.ts";
import { entryOf, isUntouched, type Segment, SegmentsLost, segmentOf } from "./segment.ts";
import { ownerOf, removeSegment, segmentName, summaryPath, withDerived } from "./segment-files.ts";
import { readSidecar, type Sidecar } from "./sidecar.ts";

/** The parts that the segments of a project need to report and date the problems of their files. */
export interface SegmentsOptions {
  readonly log: Log;
  readonly nowMs: () => number;
  /** Ids of losses that a start does not log again. */
  readonly accepted?: ReadonlySet<string>;
}

/** Rebuilds the summary of a segment; if it could not be written, `error` says why. */
export type Rebuild = (
  path: string,
  integrity: Integrity & { readonly bytes: number },
) => Promise<{ readonly sidecar: Sidecar; readonly error?: string | undefined }>;

type LoadedSegment =
  | { readonly ok: true; readonly value: Segment }
  /** The problem, to be read after the file: "is missing". */
  | { readonly ok: false; readonly problems: readonly [string] };

/** The segments of one project: a folder whose manifest says which of its files count. */
export class Segments {
  readonly directory: string;
  readonly project: string;
  /** The sequence that was next when the folder was made: a deletion of a later one means this folder. */
  readonly began: number;
  readonly #options: SegmentsOptions;
  #segments: readonly Segment[] = [];
  #losses: readonly StoredLoss[] = [];
  #flushed = 0;
  #made = 0;
  /** Why nothing may be written to the folder. */
  #blocked: string | undefined;
  /** How many readers each file has, and the files that are removed when their last reader is done. */
  readonly #readers = new Map<string, number>();
  readonly #obsolete = new Set<string>();
  /** Files that the manifest names as dropped, until they are gone. */
  readonly #dropped = new Set<string>();
  /** New segments that a manifest may name which could not be written: they stay until one without them is durable. */
  readonly #unsure = new Set<string>();
  readonly #checks = new Map<string, Promise<Fault | undefined>>();
  /** The manifest as it was written last. */
  #manifest: Stamp | undefined;
  /** The manifest that was durable last. */
  #saved: { readonly segments: readonly Segment[]; readonly losses: readonly StoredLoss[] } | undefined;
  /** Events before this instant are about to go, or gone. */
  #cutoff: bigint | undefined;
  #noted: { readonly of: readonly unknown[]; readonly note: FolderNote } | undefined;
  #hasLosses = false;
  #isDeleted = false;
  #change: Promise<void> = Promise.resolve();
  readonly counts = { quarantined: 0, quarantinedBytes: 0 };

  constructor(directory: string, { project, began }: FolderIdentity, options: SegmentsOptions) {
    this.directory = directory;
    this.project = project;
    this.began = began;
    this.#options = options;
  }

  /**
   * Carries out the plan of a folder, and opens it. `rebuild` rebuilds a summary, as `Rebuild` says. A file that cannot be moved, in
   * a folder that cannot be written to, stays where it is: answers are right all the same.
   */
  static async open(plan: FolderPlan, options: SegmentsOptions, rebuild: Rebuild): Promise<Segments> {
    const opened = new Segments(plan.directory, plan, options);
    opened.#losses = plan.losses;
    opened.#hasLosses = plan.losses.length > 0;
    if (plan.manifest === "whole") opened.#manifest = stampOrNone(join(plan.directory, MANIFEST));
    opened.#flushed = plan.flushed;
    if (plan.blocked !== undefined) {
      opened.#blocked = `${plan.directory} ${plan.blocked}`;
      const isTaken = plan.blocked.startsWith("is that of");
      options.log(
        "error",
        isTaken
          ? "events are missing: another folder is in the place of a project's; give it its own name, then start again"
          : "events are missing: the folder of a project cannot be read; make it readable for this user, then start again",
        {
          folder: plan.directory,
          error: plan.blocked,
        },
      );
      return opened;
    }
    await opened.#carryOut(plan, rebuild);
    return opened;
  }

  async #carryOut(plan: FolderPlan, rebuild: Rebuild): Promise<void> {
    const { directory, project } = this;
    const tell = (message: string, fields: Record<string, unknown>) =>
      this.#options.log("error", message, { project, ...fields });
    // Without a manifest these are all segments, which is reported once, below.
    const isSaid = plan.manifest !== "is missing" && plan.manifest !== "is damaged";
    for (const { from, file } of plan.adopted) {
      if (from !== file) await this.#attempt(() => rename(join(directory, from), join(directory, file)));
      if (isSaid) this.#options.log("warn", "adopted a segment that no manifest named", { project, file });
    }
    for (const { file, isPossible } of plan.returned) {
      if (isPossible) this.#options.log("warn", "all events of a project are there again", { project });
      else this.#options.log("warn", "a lost segment is back", { project, file });
    }
    for (const { file, reason } of plan.quarantined) {
      const quarantinePath = await this.#attempt(() => this.#quarantine(file));
      // A file beside a segment is reported with the segment.
      if (quarantinePath !== undefined && ownerOf(file) === undefined)
        tell(`a file ${reason}; it was quarantined`, { file: quarantinePath });
    }
    for (const { id, file, reason, isPossible } of plan.losses) {
      if (this.#options.accepted?.has(id)) continue;
      const message = isPossible
        ? `events may be missing: ${reason}`
        : `events are missing: ${file === "" ? "" : "a file "}${reason}`;
      tell(message, { file: join(directory, file), loss: id });
    }
    if (plan.manifest === "is missing" || plan.manifest === "is damaged") {
      if (plan.segments.length + plan.losses.length > 0 || plan.manifest === "is damaged")
        tell(`a manifest ${plan.manifest}; it was rebuilt from the segments`, {
          file: join(directory, MANIFEST),
          segments: plan.segments.length,
        });
    }
    const losses: StoredLoss[] = [];
    const segments: Segment[] = [];
    for (const { entry, sidecar } of plan.segments) {
      const path = join(directory, entry.file);
      const loaded = await this.#load(path, entry, sidecar, rebuild);
      if (loaded.ok) segments.push(loaded.value);
      else {
        const [reason] = loaded.problems;
        losses.push(folderLoss(this, { file: entry.file, reason, bytes: entry.bytes, entry }, this.#options.nowMs()));
        tell(`events are missing: a segment ${reason}`, { file: path, loss: losses.at(-1)!.id });
      }
    }
    this.#segments = segments;
    this.#losses = [...this.#losses, ...losses];
    for (const file of plan.superseded) this.#dropped.add(file);
    const isAsWritten =
      plan.manifest === "whole" &&
      !plan.isLossNew &&
      losses.length + plan.quarantined.length + plan.adopted.length + plan.returned.length + plan.superseded.length ===
        0;
    // The folder is created again with the next events.
    if (plan.manifest === "new" && stampOf(directory) === undefined) return;
    if (isAsWritten) {
      this.#saved = { segments, losses: this.#losses };
      for (const file of plan.superseded) await this.#attempt(() => this.#removeSuperseded(file));
      this.#dropped.clear();
      return;
    }
    await this.#attempt(async () => {
      await this.#writeManifest();
      for (const file of plan.superseded) {
        await this.#removeSuperseded(file);
        this.#dropped.delete(file);
      }
      await syncDirectory(directory);
    });
  }

  /** A directory in a file's place is not ours, so it is kept. */
  async #removeSuperseded(file: string): Promise<void> {
    const path = join(this.directory, file);
    if (isDirectory(path)) await this.#quarantine(file);
    else await rm(path, { force: true });
  }

  /** A segment with its summary, or what is wrong with it. */
  async #load(
    path: string,
    entry: ManifestEntry & { readonly integrity: Integrity },
    sidecar: PlannedSegment["sidecar"],
    rebuild: Rebuild,
  ): Promise<LoadedSegment> {
    const { integrity, bytes } = entry;
    let currentSidecar = sidecar === "first version" ? undefined : sidecar;
    if (currentSidecar === undefined) {
      // A damaged file would give a wrong summary.
      const fault = await faultOf(path, bytes, integrity, { nowMs: this.#options.nowMs() });
      if (fault !== undefined) return { ok: false, problems: [fault] };
      if (sidecar === undefined)
        this.#options.log("warn", "a summary is being rebuilt from its segment", { file: path });
      try {
        const rebuilt = await rebuild(path, { ...integrity, bytes });
        currentSidecar = rebuilt.sidecar;
        if (rebuilt.error !== undefined)
          this.#options.log("warn", "a summary cannot be written: it is made again at each start until it can", {
            file: summaryPath(path),
            error: rebuilt.error,
          });
      } catch (error) {
        this.#options.log("error", "a summary could not be rebuilt", { file: path, error: String(error) });
        return { ok: false, problems: ["has no summary, and none could be made"] };
      }
    }
    try {
      return { ok: true, value: await segmentOf(path, entry, integrity, currentSidecar ?? (await readSidecar(path))) };
    } catch (error) {
      return { ok: false, problems: [unreadable(error)] };
    }
  }

  /** Undefined if the system does not allow it in the folder. */
  async #attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#options.log("error", "a project's folder cannot be repaired", {
        folder: this.directory,
        error: String(error),
      });
      return undefined;
    }
  }

  get all(): readonly Segment[] {
    return this.#segments;
  }

  get flushed(): number {
    return this.#flushed;
  }

  get losses(): readonly StoredLoss[] {
    return this.#losses;
  }

  /** Says in the list of folders what the manifest says; undefined if there is no manifest. */
  get note(): FolderNote | undefined {
    if (this.#saved === undefined) return undefined;
    const { segments, losses } = this.#saved;
    const cutoff = this.#cutoff;
    const of = [segments, losses, cutoff];
    if (this.#noted === undefined || of.some((one, i) => one !== this.#noted!.of[i])) {
      const isLeft = ({ last }: { last: string }) => cutoff === undefined || BigInt(last) >= cutoff;
      const entries = [...segments.map(entryOf), ...losses.flatMap(({ entry }) => entry ?? [])].filter(isLeft);
      const newest = entries.reduce((most, { sequence }) => Math.max(most, sequence), 0);
      this.#noted = { of, note: { newest, held: heldEvents(entries) } };
    }
    return this.#noted.note;
  }

  /**
   * Events before an instant are about to go: `note` leaves them out from now on. Returns whether there are any.
   */
  leave(cutoff: bigint): boolean {
    this.#cutoff = cutoff;
    const isGoing = ({ last }: { last: bigint }) => last < cutoff;
    return this.#segments.some(isGoing) || this.#losses.some(({ entry }) => entry && BigInt(entry.last) < cutoff);
  }

  /** Why nothing may be written to the folder. */
  get blocked(): string | undefined {
    return this.#blocked;
  }

  get identity(): FolderIdentity {
    return { project: this.project, began: this.began };
  }

  /** A name that no file of the folder has, for events between two sequences. */
  newPath(first: number, last: number): string {
    return join(this.directory, segmentName(first, last, Math.floor(this.#options.nowMs()).toString(36), this.#made++));
  }

  /**
   * Replaces segments by others, atomically and durably, after all earlier changes. `onChange` runs with the change,
   * before any reader sees it. Resolves to false, without a change, if the project was deleted.
   */
  replace(
    removed: readonly Segment[],
    added: readonly Segment[],
    { flushed, onChange = () => {} }: { flushed?: number; onChange?: () => void } = {},
  ): Promise<boolean> {
    return this.#serialize(async () => {
      if (this.#isDeleted) return false;
      if (this.#blocked !== undefined) throw new Error(`${this.#blocked}: nothing is written there`);
      // A segment that was lost meanwhile must not come back by a merge that read it before.
      const there = removed.filter((one) => this.#segments.includes(one));
      if (added.length > 0 && there.length < removed.length) return false;
      await mkdir(this.directory, { recursive: true });
      const next = {
        segments: [...this.#segments.filter((one) => !there.includes(one)), ...added],
        flushed: Math.max(flushed ?? 0, this.#flushed),
        dropped: [...this.#dropped, ...there.map(({ path }) => basename(path))],
      };
      // A flush that failed is tried again with the same files.
      for (const { path } of added) this.#unsure.delete(basename(path));
      try {
        await this.#writeManifest(next);
      } catch (error) {
        // It may be there all the same: if its folder could not be synced, or the process ends now.
        for (const { path } of added) this.#unsure.add(basename(path));
        throw error;
      }
      this.#segments = next.segments;
      this.#flushed = next.flushed;
      for (const { path } of there) this.#dropped.add(basename(path));
      onChange();
      for (const { path } of there) this.#discard(path);
      return true;
    });
  }

  /** Forgets losses of events before an instant, and removes files that were quarantined before it. */
  expireLosses(before: bigint): Promise<void> {
    return this.#serialize(async () => {
      if (this.#isDeleted || this.#blocked !== undefined || stampOrNone(this.directory) === undefined) return;
      const beforeMs = Number(before / 1_000_000n);
      const losses = this.#losses.filter((loss) => {
        const range = rangeOf(loss);
        return range === undefined ? loss.atMs >= beforeMs : range.last >= before;
      });
      if (losses.length < this.#losses.length) {
        this.#losses = losses;
        await this.#writeManifest();
      }
      const folder = join(this.directory, QUARANTINE);
      const neededNames = new Set(losses.flatMap(({ file }) => withDerived(file)));
      for (const name of (await unlessGone(readdir(folder))) ?? []) {
        const path = join(folder, name);
        if (!neededNames.has(name.replace(/\.\d+$/, "")) && Number(stampOf(path)?.mtime ?? 0) < Number(before))
          await rm(path, { force: true, recursive: true });
      }
    });
  }

  /**
   * Looks whether files are as they were when they were last read as a whole, and reads those that are not. Throws
   * SegmentsLost if some are damaged or gone.
   */
  async check(segments: readonly Segment[]): Promise<void> {
    let isLost = false;
    for (const segment of segments) {
      if (isUntouched(segment)) continue;
      const fault = await this.examine(segment);
      if (fault === undefined) continue;
      await this.markLost(segment, fault);
      isLost = true;
    }
    if (isLost) throw new SegmentsLost();
  }

  /** The same for all, without throwing. */
  async checkAll(): Promise<void> {
    await this.check(this.#segments).catch((error: unknown) => {
      if (!(error instanceof SegmentsLost)) throw error;
    });
  }

  /** Verifies a whole file. Concurrent callers share one check. */
  examine(segment: Segment, options: ReadOptions = {}): Promise<Fault | undefined> {
    const { path, bytes, integrity } = segment;
    const pending = this.#checks.get(path);
    if (pending !== undefined) return pending;
    const check = faultOf(path, bytes, integrity, { nowMs: this.#options.nowMs(), ...options }).finally(() =>
      this.#checks.delete(path),
    );
    this.#checks.set(path, check);
    return check;
  }

  /** Takes a segment out of use: as far as is known, its events are lost. */
  markLost(segment: Segment, fault: Fault): Promise<void> {
    return this.#serialize(async () => {
      const at = this.#segments.find(({ path }) => path === segment.path);
      if (at === undefined || this.#isDeleted) return;
      const entry = entryOf(at);
      const { file, bytes } = entry;
      const loss = folderLoss(this, { file, reason: fault, bytes, entry }, this.#options.nowMs());
      this.#segments = this.#segments.filter((one) => one !== at);
      this.#losses = [...this.#losses, loss];
      const details = { project: this.project, file: at.path, loss: loss.id };
      this.#options.log("error", `events are missing: a segment ${fault}`, details);
      await this.#attempt(() => this.#writeManifest());
      if (fault !== "is damaged") return;
      const quarantinePath = await this.#attempt(() => this.#quarantine(file));
      for (const name of withDerived(file).slice(1)) await this.#attempt(() => this.#quarantine(name));
      if (quarantinePath !== undefined)
        this.#options.log("error", "a damaged segment was quarantined", { ...details, file: quarantinePath });
    });
  }

  /** Records the integrity of the files as it is now: when each was last read as a whole. */
  save(): Promise<void> {
    return this.#serialize(async () => {
      if (stampOrNone(this.directory) !== undefined && !this.#isDeleted && this.#blocked === undefined)
        await this.#writeManifest();
    });
  }

  /** Replaces a segment by the same one with more known about it. */
  exchange(before: Segment, after: Segment): Promise<void> {
    return this.#serialize(async () => {
      if (this.#isDeleted || !this.#segments.includes(before)) return;
      this.#segments = this.#segments.map((one) => (one === before ? after : one));
      if (this.#blocked === undefined) await this.#writeManifest();
    });
  }

  /** The project is deleted: nothing is added any more. */
  delete(): void {
    this.#isDeleted = true;
  }

  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** Removes the folder of a deleted project; no change that was under way creates it again. */
  removeFolder(): Promise<void> {
    return this.#serialize(async () => {
      // From here on the folder will be removed, whatever becomes of the journal.
      await unlessGone(writeDurably(join(this.directory, REMOVED), ""));
      await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  #serialize<Result>(change: () => Promise<Result>): Promise<Result> {
    const done = this.#change.then(change);
    this.#change = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  /** Removes a new segment that was not added after all, as soon as no manifest can name it. */
  async abandon(path: string): Promise<void> {
    if (!this.#unsure.has(basename(path))) await removeSegment(path);
  }

  /** The segments as they are now, and what is lost; their files stay until `release`. */
  snapshot(): { segments: readonly Segment[]; losses: readonly StoredLoss[]; release: () => void } {
    const segments = this.#segments;
    const losses = this.#losses;
    for (const { path } of segments) this.#readers.set(path, (this.#readers.get(path) ?? 0) + 1);
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      for (const { path } of segments) {
        const left = this.#readers.get(path)! - 1;
        if (left > 0) this.#readers.set(path, left);
        else {
          this.#readers.delete(path);
          if (this.#obsolete.delete(path)) this.#remove(path);
        }
      }
    };
    return { segments, losses, release };
  }

  /** Writes the present state, except for what is about to change. */
  async #writeManifest({
    segments = this.#segments,
    flushed = this.#flushed,
    dropped = [...this.#dropped],
  }: {
    segments?: readonly Segment[];
    flushed?: number;
    dropped?: readonly string[];
  } = {}): Promise<void> {
    const { directory, project, began } = this;
    const losses = this.#losses;
    const named = { segments: segments.map(entryOf), dropped: [...dropped, ...this.#unsure] };
    const manifest = { version: 2, project, began, flushed, ...named, losses } as const;
    if (losses.length > 0 || this.#hasLosses) {
      // Nothing else records missing files if the manifest is lost.
      await writeDurably(join(directory, LOSSES), printWithChecksum(losses));
      this.#hasLosses = losses.length > 0;
    }
    try {
      await writeManifest(directory, manifest);
    } catch (error) {
      if (!["EISDIR", "EEXIST", "ENOTEMPTY"].includes(errorCode(error))) throw error;
      for (const name of [MANIFEST, `${MANIFEST}.new`]) {
        if (isDirectory(join(directory, name))) await this.#quarantine(name);
      }
      await writeManifest(directory, manifest);
    }
    this.#manifest = stampOf(join(directory, MANIFEST));
    this.#saved = { segments, losses };
    for (const file of this.#unsure) {
      this.#unsure.delete(file);
      void removeSegment(join(directory, file)).catch(() => {});
    }
  }

  /** Rewrites the manifest if another process removed or changed it. */
  async mendManifest(): Promise<void> {
    const path = join(this.directory, MANIFEST);
    const isTouched = () => this.#manifest !== undefined && !isSame(this.#manifest, stampOrNone(path));
    if (this.#isDeleted || this.#blocked !== undefined || !isTouched()) return;
    await this.#serialize(async () => {
      if (this.#isDeleted || !isTouched() || stampOrNone(this.directory) === undefined) return;
      this.#options.log("error", "a manifest was changed by another process; it is being rewritten", { file: path });
      await this.#attempt(() => this.#writeManifest());
    });
  }

  #discard(path: string): void {
    if (this.#readers.has(path)) this.#obsolete.add(path);
    else this.#remove(path);
  }

  #remove(path: string): void {
    // Until then the manifest names it as dropped, and the next start removes it.
    void removeSegment(path).then(
      () => this.#dropped.delete(basename(path)),
      () => {},
    );
  }

  /** Where a file of the folder is kept; undefined if there is none of that name. */
  async #quarantine(file: string): Promise<string | undefined> {
    const quarantined = await quarantineFile(join(this.directory, file));
    if (quarantined === undefined) return undefined;
    this.counts.quarantined++;
    this.counts.quarantinedBytes += quarantined.bytes;
    return quarantined.path;
  }
}

/** Undefined also if the system refuses. */
function stampOrNone(path: string): Stamp | undefined {
  try {
    return stampOf(path);
  } catch {
    return undefined;
  }
}
