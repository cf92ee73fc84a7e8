import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { systemClock } from "../../grammar/units/clock.ts";
import { isWholeFilter } from "./duckdb/bloom-filter.ts";
import { ConnectionPool } from "./duckdb/connection-pool.ts";
import { openDuckDb } from "./duckdb/duckdb.ts";
import { findFolders, planFolders, refuseOthers } from "./duckdb/find-folders.ts";
import { nextSequence } from "./duckdb/flushed.ts";
import { FOLDER_LIST, FolderList } from "./duckdb/folder-list.ts";
import type { FolderPlan } from "./duckdb/folder-plan.ts";
import { Inspector } from "./duckdb/inspector.ts";
import { toLoss } from "./duckdb/losses.ts";
import { filterPath, ownerOf } from "./duckdb/segment-files.ts";
import { unlessGone } from "./durable.ts";
import { containsInterval, type Interval, unionOf } from "./intervals.ts";
import { JOURNAL_LIST, JournalList } from "./journal/journal-list.ts";
import { type ReadJournal, readJournalFiles } from "./journal/recovery.ts";
import { suspectLoss } from "./journal/repair.ts";
import { isWholeKeys } from "./journal/seen-keys.ts";
import { livingOwnerOf } from "./lock.ts";
import { type JournalLoss, journalLoss, olderLoss } from "./loss.ts";
import type { Loss } from "./store.ts";

/** The problem of a file. */
export type FileState =
  /** Events that were acknowledged are not there. */
  | "damaged"
  | "missing"
  | "unreadable"
  /** Events that were acknowledged may not be there: nothing proves that all are. */
  | "uncertain"
  /** Can be rebuilt from other files; no event is missing because of it. */
  | "rebuildable"
  /** All that it holds is in other files. */
  | "superseded"
  /** A segment that no manifest names and that nothing else holds. */
  | "unnamed"
  /** Not a file of the store, or of another folder or installation. */
  | "foreign"
  /** Events of a project that the records do not have: no request can reach them. */
  | "unknown"
  /** Beside the files of the store: nothing in it is read. */
  | "ignored"
  /** The end of the journal after a crash: no batch that was acknowledged. */
  | "torn";

export interface EventsFinding {
  /** Below the folder of the events. */
  readonly file: string;
  readonly state: FileState;
  readonly detail: string;
  /** If events are missing because of it. */
  readonly loss?: Loss;
}

export interface EventsReport {
  /** Process that holds the directory: files that it is working on are not reported. */
  readonly pid: number | undefined;
  readonly projects: number;
  readonly segments: number;
  /** Size of the segments. */
  readonly bytes: number;
  /** The events that are in no segment yet. */
  readonly journal: { readonly events: number; readonly bytes: number };
  readonly findings: readonly EventsFinding[];
}

/** The facts that the records know. */
export interface RecordFacts {
  readonly nowMs: number;
  /** Ids of losses. */
  readonly accepted: ReadonlySet<string>;
  /** The installation; undefined if that is unknown. */
  readonly owner?: string | undefined;
  /** How far the events had come; undefined if that is unknown. */
  readonly position?: number | undefined;
  /** The keys of all projects; undefined if that is unknown. */
  readonly projects?: ReadonlySet<string>;
}

/**
 * Reads all files of an events folder and says what is wrong with them. Changes nothing, and needs no lock. Throws
 * NewerVersion for files of a newer version.
 */
export async function checkEvents(directory: string, facts: RecordFacts): Promise<EventsReport> {
  const pid = await livingOwnerOf(directory);
  let report = await look(directory, { ...facts, pid });
  // A service changes files while they are checked: only what is still wrong a moment later is reported.
  for (let looks = 1; pid !== undefined && report.findings.length > 0 && looks < LOOKS; looks++) {
    const again = await look(directory, { ...facts, pid });
    const isStill = ({ file, state }: EventsFinding) =>
      again.findings.some((one) => one.file === file && one.state === state);
    report = { ...again, findings: report.findings.filter(isStill) };
  }
  return report;
}

const LOOKS = 3;

async function look(
  directory: string,
  {
    nowMs,
    accepted,
    owner,
    position,
    projects: knownProjects,
    pid,
  }: RecordFacts & { readonly pid: number | undefined },
): Promise<EventsReport> {
  await refuseOthers(directory, undefined);
  const findings: EventsFinding[] = [];
  const journal = await readJournalFiles(
    join(directory, "journal"),
    await JournalList.open(join(directory, JOURNAL_LIST)),
  );
  await lookAtKeys(directory, findings);
  const readers = await ConnectionPool.open(
    () => openDuckDb(":memory:", { threads: "2", memory_limit: "512MB" }),
    systemClock,
  );
  try {
    const inspector = new Inspector(readers);
    const projects = join(directory, "projects");
    const { list, isKnown, isDamaged } = await FolderList.open(directory);
    const lists = [
      { file: FOLDER_LIST, isKnown, isDamaged },
      { file: JOURNAL_LIST, isKnown: journal.list.isKnown, isDamaged: journal.list.isDamaged },
    ];
    for (const { file, isKnown, isDamaged } of lists) {
      // Format 1 had neither.
      if (isKnown || lists.every((one) => !one.isKnown && !one.isDamaged)) continue;
      const detail = `is ${isDamaged ? "damaged" : "missing"}: files that are gone besides are not missed`;
      findings.push({ file, state: "rebuildable", detail });
    }
    if (owner !== undefined && list.owner !== undefined && list.owner !== owner) {
      const detail = "is of another log service: the service does not start with these events";
      findings.push({ file: FOLDER_LIST, state: "foreign", detail });
    }
    const ignored = (_level: string, message: string, { folder }: Record<string, unknown>) =>
      findings.push({ file: below(directory, String(folder)), state: "ignored", detail: message });
    const folders = (await unlessGone(readdir(projects)))
      ? await findFolders(projects, { list: list.all, deletions: journal.deletions, inspector, log: ignored })
      : { claimed: [], removed: [], missing: [...list.all].map(([folder, one]) => ({ folder, ...one })) };
    const options = { list: list.all, journal, inspector, nowMs, isThorough: true };
    const plans = await planFolders(projects, folders, options);
    lookAtJournal(journal, { plans, accepted, nowMs, position }, findings);
    let [segments, bytes] = [0, 0];
    for (const plan of plans) {
      if (knownProjects?.has(plan.project) === false && plan.segments.length > 0) {
        const file = below(directory, plan.directory);
        findings.push({ file, state: "unknown", detail: "the records do not have its project" });
      }
      segments += plan.segments.length;
      bytes += plan.segments.reduce((sum, { entry }) => sum + entry.bytes, 0);
      findings.push(...(await findingsOf(plan, { accepted, inspector, isRunning: pid !== undefined })));
    }
    lookAtNotFiles(journal, findings);
    const { eventsOf, ...inJournal } = waitingIn(journal, plans);
    if (knownProjects !== undefined) lookAtUnknown(eventsOf, { plans, knownProjects }, findings);
    const all = new Set([...plans.map(({ project }) => project), ...eventsOf.keys(), ...(knownProjects ?? [])]);
    return { pid, projects: all.size, segments, bytes, journal: inJournal, findings };
  } finally {
    await readers.close();
  }
}

const below = (directory: string, path: string) => path.slice(directory.length + 1);

/** The batches of the journal that no segment holds and that were not deleted. */
function waitingIn(journal: ReadJournal, plans: readonly FolderPlan[]) {
  const held = new Map<string, Interval[]>();
  for (const { project, segments } of plans) {
    const intervals = segments.flatMap(({ entry }) => entry.intervals ?? []);
    held.set(project, unionOf([...(held.get(project) ?? []), ...intervals]));
  }
  const eventsOf = new Map<string, number>();
  let [events, bytes] = [0, 0];
  for (const { frame, body } of journal.files.flatMap(({ batches }) => batches)) {
    const { project, sequence, lines } = frame;
    if (frame.isDeletion || sequence < (journal.deletions.get(project) ?? 0)) continue;
    if (containsInterval(held.get(project) ?? [], [sequence, sequence + lines - 1])) continue;
    eventsOf.set(project, (eventsOf.get(project) ?? 0) + lines);
    events += lines;
    bytes += body.length;
  }
  return { eventsOf, events, bytes };
}

interface Plans {
  readonly plans: readonly FolderPlan[];
}

/** Events in the journal alone of projects that the records do not have. Those with segments are known by their folders. */
function lookAtUnknown(
  eventsOf: ReadonlyMap<string, number>,
  { plans, knownProjects }: { readonly knownProjects: ReadonlySet<string> } & Plans,
  findings: EventsFinding[],
): void {
  const withSegments = new Set(plans.filter(({ segments }) => segments.length > 0).map(({ project }) => project));
  const unknown = [...eventsOf].filter(([project]) => !knownProjects.has(project) && !withSegments.has(project));
  if (unknown.length === 0) return;
  const events = unknown.reduce((sum, [, count]) => sum + count, 0);
  const what = events === 1 ? "an event" : `${events} events`;
  const whose = unknown.length === 1 ? "a project" : `${unknown.length} projects`;
  findings.push({
    file: "journal",
    state: "unknown",
    detail: `holds ${what} of ${whose} that the records do not have`,
  });
}

function lookAtJournal(
  { list, files, suspects }: ReadJournal,
  { plans, accepted, nowMs, position }: Pick<RecordFacts, "accepted" | "nowMs" | "position"> & Plans,
  findings: EventsFinding[],
): void {
  const held = {
    flushed: Math.max(0, ...plans.map(({ flushed }) => flushed)),
    isHeld(project: string, interval: Interval) {
      const own = plans.filter((plan) => plan.project === project).flatMap(({ segments }) => segments);
      return containsInterval(unionOf(own.flatMap(({ entry }) => entry.intervals ?? [])), interval);
    },
  };
  const tell = (entry: JournalLoss) => {
    const loss = journalLoss(entry, accepted);
    if (!findings.some((one) => one.loss?.id === loss.id))
      findings.push({
        file: loss.file,
        state: loss.isPossible ? "uncertain" : stateOf(loss.reason),
        detail: loss.reason,
        loss,
      });
  };
  for (const loss of list.losses) tell(loss);
  const folders = plans.map((plan) => ({ ...plan, all: plan.segments.map(({ entry }) => entry) }));
  const older = olderLoss(nextSequence(folders, { files, suspects }), position, nowMs);
  if (older !== undefined) tell(older);
  for (const suspect of suspects) {
    const file = `${String(suspect.begin).padStart(16, "0")}.ndjson`;
    const loss = suspectLoss(suspect, file, held, nowMs);
    if (loss !== undefined) tell(loss);
    else if (suspect.kind === "torn")
      findings.push({ file: `journal/${file}`, state: "torn", detail: "ends in half a batch" });
  }
}

/** Those that are no loss. */
function lookAtNotFiles({ notFiles }: ReadJournal, findings: EventsFinding[]): void {
  for (const { path } of notFiles) {
    const file = `journal/${basename(path)}`;
    if (!findings.some((one) => one.file === file))
      findings.push({ file, state: "foreign", detail: "is not a file: no event is missing because of it" });
  }
}

async function lookAtKeys(directory: string, findings: EventsFinding[]): Promise<void> {
  const folder = join(directory, "keys");
  for (const name of (await unlessGone(readdir(folder))) ?? []) {
    if (name.endsWith(".ndjson") && !(await isWholeKeys(join(folder, name)))) {
      const detail = "is damaged: a batch that is sent again with its idempotency key may count twice";
      findings.push({ file: `keys/${name}`, state: "damaged", detail });
    }
  }
}

async function findingsOf(
  plan: FolderPlan,
  { accepted, inspector, isRunning }: { accepted: ReadonlySet<string>; inspector: Inspector; isRunning: boolean },
): Promise<EventsFinding[]> {
  const folder = `projects/${below(join(plan.directory, ".."), plan.directory)}`;
  const at = (file: string) => (file === "" ? folder : `${folder}/${file}`);
  const findings: EventsFinding[] = plan.losses.map((stored) => ({
    file: at(stored.file),
    state: stored.isPossible ? "uncertain" : stateOf(stored.reason),
    detail: stored.reason,
    loss: toLoss(plan, stored, accepted),
  }));
  if (!["whole", "first version", "new"].includes(plan.manifest) && plan.blocked === undefined)
    findings.push({ file: at("manifest.json"), state: "rebuildable", detail: plan.manifest });
  for (const { entry, sidecar } of plan.segments) {
    const path = join(plan.directory, entry.file);
    if (sidecar === undefined)
      findings.push({ file: at(`${entry.file}.json`), state: "rebuildable", detail: "is missing or damaged" });
    const { sum } = entry.integrity;
    // Not every large segment has one, and none needs it.
    const hasFilter = existsSync(filterPath(path)) && sum !== undefined;
    if (hasFilter && !(await isWholeFilter(path, { bytes: entry.bytes, sum }, await inspector.engine())))
      findings.push({ file: filterPath(at(entry.file)), state: "rebuildable", detail: "is missing or damaged" });
  }
  // A service makes and removes files before and after its manifest says so.
  if (isRunning) return findings;
  const isNamed = plan.manifest === "whole" || plan.manifest === "first version";
  for (const { from } of isNamed ? plan.adopted : [])
    findings.push({ file: at(from), state: "unnamed", detail: "is a segment that no manifest names" });
  const lostFiles = new Set(plan.losses.map(({ file }) => file));
  for (const { file, reason } of plan.quarantined)
    if (!lostFiles.has(file) && !lostFiles.has(ownerOf(file) ?? "") && file !== "manifest.json")
      findings.push({ file: at(file), state: "foreign", detail: reason });
  for (const file of plan.superseded.filter((file) => existsSync(join(plan.directory, file))))
    findings.push({ file: at(file), state: "superseded", detail: "holds nothing that other files do not hold" });
  return findings;
}

function stateOf(reason: string): FileState {
  if (reason.includes("cannot be read")) return "unreadable";
  return /missing|emptied/.test(reason) ? "missing" : "damaged";
}

/** Whether a finding is a problem, and not only something that the next start repairs. */
export const isWrong = ({ state, loss }: EventsFinding) =>
  loss === undefined ? !["torn", "superseded", "ignored"].includes(state) : !loss.isAccepted;
