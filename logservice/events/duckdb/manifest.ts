import { join } from "node:path";
import { NotAFile, readDataFile } from "../../data-file.ts";
import { NewerVersion, printWithChecksum, readWithChecksum, writeDurably } from "../durable.ts";
import type { Interval } from "../intervals.ts";
import type { HeldEvents } from "./held-events.ts";
import { type Fault, type Integrity, unreadable } from "./integrity.ts";

export const MANIFEST = "manifest.json";
/** A second copy of the losses in the manifest. */
export const LOSSES = "losses.json";
/** Folder inside a project's folder, for files that are not used and may hold events that no other file holds. */
export const QUARANTINE = "quarantine";
/** A file that marks a deleted project: the whole folder may be removed. */
export const REMOVED = "removed";

/** The manifest of a project's folder. */
export interface Manifest {
  readonly version: 2;
  /** The project and the sequence in the folder's name, which tell a folder that was renamed or put in another's place. */
  readonly project: string;
  readonly began: number;
  /** All events up to this sequence are in the segments; the journal may still hold copies of them. */
  readonly flushed: number;
  readonly segments: readonly ManifestEntry[];
  /** Files whose events were deleted, or are in other segments now. They are removed when nothing reads them any more. */
  readonly dropped: readonly string[];
  readonly losses: readonly StoredLoss[];
}

export interface ManifestEntry {
  readonly file: string;
  readonly events: number;
  /** Size of the file. */
  readonly bytes: number;
  /** The events as JSON. */
  readonly eventBytes: number;
  /** Nanoseconds since 1970, as digits. */
  readonly first: string;
  readonly last: string;
  /** The last sequence. */
  readonly sequence: number;
  /** See SegmentMetadata. */
  readonly intervals?: readonly Interval[];
  /** Absent in format 1. */
  readonly integrity?: Integrity;
}

/** Events that were acknowledged and cannot be read. */
export interface StoredLoss {
  readonly id: string;
  readonly file: string;
  readonly reason: string;
  readonly atMs: number;
  /** Size of the file, as far as it is known. */
  readonly bytes: number;
  /** The manifest's entry of the file, so that the file is used again if it is put back. */
  readonly entry?: ManifestEntry;
  /** Whether it is not known that anything is missing: only that nothing proves the opposite. */
  readonly isPossible?: boolean;
  /** The events of which some may be missing. */
  readonly held?: HeldEvents;
}

export type ReadManifest =
  | { readonly kind: "whole"; readonly manifest: Manifest }
  /** Manifest format 1: no checksums, no intervals. */
  | { readonly kind: "first version"; readonly manifest: Manifest }
  | { readonly kind: "lost"; readonly fault: Fault };

/** Reads the manifest of a folder. Throws NewerVersion. */
export async function readManifest(
  folder: string,
  identity: { project: string; began: number },
): Promise<ReadManifest> {
  const path = join(folder, MANIFEST);
  try {
    return parseManifest(path, await readDataFile(path, "utf8"), identity);
  } catch (error) {
    if (error instanceof NewerVersion) throw error;
    if (error instanceof NotAFile) return { kind: "lost", fault: "is damaged" };
    return { kind: "lost", fault: unreadable(error) };
  }
}

/** The losses of a folder whose manifest is lost. */
export async function readLosses(folder: string): Promise<readonly StoredLoss[]> {
  const text = await readDataFile(join(folder, LOSSES), "utf8").catch(() => "");
  const losses = readWithChecksum(text);
  return Array.isArray(losses) ? (losses as StoredLoss[]) : [];
}

/** Reads the text of a manifest. Throws NewerVersion. */
export function parseManifest(path: string, text: string, identity: { project: string; began: number }): ReadManifest {
  const summed = readWithChecksum(text) as Manifest | undefined;
  const { version, flushed, segments } = summed ?? parsed(text);
  if (typeof version === "number" && version > 2) throw new NewerVersion(path);
  // Another file of the store, in the manifest's place, has a right sum, too.
  const isManifest = Number.isSafeInteger(flushed) && Array.isArray(segments);
  if (summed !== undefined && isManifest) return { kind: "whole", manifest: summed };
  if (version !== 1 || !isManifest) return { kind: "lost", fault: "is damaged" };
  const { project, began } = identity;
  return {
    kind: "first version",
    manifest: { version: 2, project, began, flushed: flushed!, segments: segments!, dropped: [], losses: [] },
  };
}

/** Reads a manifest without a checksum: one of format 1, or of a newer format, of which only the version is read. */
function parsed(text: string): { version?: number; flushed?: number; segments?: ManifestEntry[] } {
  try {
    return JSON.parse(text) ?? {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}

export const writeManifest = (folder: string, manifest: Manifest): Promise<void> =>
  writeDurably(join(folder, MANIFEST), printWithChecksum(manifest));
