import { copyFile, mkdir, open, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory, unlessDiskFull } from "../durable.ts";
import type { Interval } from "../intervals.ts";
import { type JournalLoss, lossId } from "../loss.ts";
import { encodeFrame } from "./frame.ts";
import { journalFile } from "./journal-file.ts";
import type { ReadJournal, RecoveredFile, Suspect } from "./recovery.ts";

/** The damage in files that a crash or a bad disk left. */
export interface JournalDamage {
  readonly tornBytes: number;
  readonly quarantined: readonly string[];
}

/** Tells which batches that the journal no longer has are in segments. */
export interface HeldElsewhere {
  /** Whether all events of a project between two sequences are in segments. */
  isHeld(project: string, interval: Interval): boolean;
  /** The last sequence that is in any segment. */
  readonly flushed: number;
}

/**
 * Decides which suspects are losses and records these, then repairs the files: the torn end that a crash left is cut off,
 * and a damaged file is quarantined and replaced by one with its intact batches. What is no file is quarantined as it is.
 */
export async function repairJournal(
  directory: string,
  { files, notFiles, suspects, list }: ReadJournal,
  held: HeldElsewhere,
  nowMs: number,
): Promise<JournalDamage> {
  const losses = new Map(list.losses.map((loss) => [loss.id, loss]));
  for (const { path, bytes, begin } of files) {
    const isWhole = !suspects.some((one) => one.kind !== "torn" && one.begin === begin);
    for (const [id, { file, fileBytes }] of losses) {
      if (isWhole && file === nameOf(path) && bytes >= fileBytes) losses.delete(id);
    }
  }
  let isNew = false;
  const damagedFiles = new Set<number>();
  let tornBytes = 0;
  for (const suspect of suspects) {
    const { path } = journalFile(directory, suspect.begin);
    if (suspect.kind === "torn") {
      tornBytes += suspect.bytes;
      continue;
    }
    if (suspect.kind !== "missing") damagedFiles.add(suspect.begin);
    const loss = suspectLoss(suspect, nameOf(path), held, nowMs);
    if (loss === undefined || losses.has(loss.id)) continue;
    losses.set(loss.id, loss);
    isNew = true;
  }
  // Recorded before the repaired files no longer show the losses.
  const entries = files.map(({ begin }) => [begin, list.files.get(begin)] as const);
  if (isNew) await list.replace(entries, [...losses.values()]);
  else if (losses.size < list.losses.length) await unlessDiskFull(list.replace(entries, [...losses.values()]));
  const quarantined: string[] = [];
  for (const { path } of notFiles) quarantined.push(await moveToQuarantine(directory, path, nowMs));
  for (const file of files) {
    const torn = suspects.find(({ kind, begin }) => kind === "torn" && begin === file.begin);
    if (damagedFiles.has(file.begin)) quarantined.push(await quarantine(directory, file, nowMs));
    else if (torn?.kind === "torn") await truncate(file.path, torn.length);
  }
  return { tornBytes, quarantined };
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The loss that a suspect means; undefined if it is none, or if segments hold its batches. */
export function suspectLoss(
  suspect: Suspect,
  file: string,
  held: HeldElsewhere,
  atMs: number,
): JournalLoss | undefined {
  if (suspect.kind === "torn") return undefined;
  if (suspect.kind === "missing") {
    // Files become segments in their order: if later ones did, this one was removed before, and the list is an old one.
    if (held.flushed >= suspect.before - 1) return undefined;
    const bytes = suspect.bytes ?? 0;
    const reason = suspect.isTaken ? "is missing: what has its name is not a file" : "is missing";
    return { id: lossId(file), file, reason, atMs, bytes, fileBytes: bytes };
  }
  if (suspect.kind === "short") {
    const { length, bytes } = suspect;
    return { id: lossId(`${file}@${length}`), file, reason: "is cut off", atMs, bytes, fileBytes: length + bytes };
  }
  const { project, interval, bytes } = suspect.frame;
  const { fileBytes } = suspect;
  if (project !== undefined && interval !== undefined && held.isHeld(project, interval)) return undefined;
  return { id: lossId(`${file}@${suspect.at}`), file, reason: "is damaged", atMs, bytes, fileBytes, project };
}

/** Quarantines a damaged file and replaces it by one with its intact batches. Returns the path of the quarantined copy. */
async function quarantine(directory: string, { path, batches }: RecoveredFile, nowMs: number): Promise<string> {
  const quarantinePath = await quarantinePathOf(directory, path, nowMs);
  const temporaryPath = `${path}.mended`;
  await rm(temporaryPath, { force: true });
  const handle = await open(temporaryPath, "w");
  try {
    for (const { frame, body } of batches) {
      await handle.write(encodeFrame(frame, body));
      await handle.write(body);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await copyFile(path, quarantinePath);
  const copy = await open(quarantinePath, "r+");
  await copy.sync().finally(() => copy.close());
  await syncDirectory(join(quarantinePath, ".."));
  await rename(temporaryPath, path);
  await syncDirectory(directory);
  return quarantinePath;
}

async function moveToQuarantine(directory: string, path: string, nowMs: number): Promise<string> {
  const quarantinePath = await quarantinePathOf(directory, path, nowMs);
  await rename(path, quarantinePath);
  await syncDirectory(join(quarantinePath, ".."));
  await syncDirectory(directory);
  return quarantinePath;
}

async function quarantinePathOf(directory: string, path: string, nowMs: number): Promise<string> {
  const folder = join(directory, "quarantine");
  await mkdir(folder, { recursive: true });
  return join(folder, `${nameOf(path)}.${nowMs}`);
}
