import { crc32 } from "node:zlib";
import type { Loss } from "./store.ts";

/** Batches of the journal that were acknowledged and cannot be read. */
export interface JournalLoss {
  readonly id: string;
  readonly file: string;
  readonly reason: string;
  readonly atMs: number;
  readonly bytes: number;
  /** Length that the file had. A file of this length was put back. */
  readonly fileBytes: number;
  /** Undefined if it is not known. */
  readonly project?: string | undefined;
  /** Whether nothing tells if there is one: the folder may be an older copy, or what was known of losses is damaged. */
  readonly isPossible?: boolean;
}

/** The possible loss if the events have not come as far as the records noted; undefined if they have. */
export function olderLoss(next: number, position: number | undefined, atMs: number): JournalLoss | undefined {
  if (position === undefined || next >= position) return undefined;
  const reason = "may lack events: the folder of the events is an older copy, as the records have seen later ones";
  return { id: lossId(`position ${position}`), file: "", reason, atMs, bytes: 0, fileBytes: 0, isPossible: true };
}

/** A possible loss could not be noted on a full disk, and the next start would not find it again. */
export class UnnotedLoss extends Error {
  override readonly name = "UnnotedLoss";
  constructor(directory: string, cause: unknown) {
    super(
      `${directory} may lack events, as the records have seen later ones, and there is no space left on its disk to note that: put the newer folder back, or make room, then start again`,
      { cause },
    );
  }
}

/** The id of a loss. Short, since people type it. */
export const lossId = (name: string) => crc32(name).toString(16).padStart(8, "0");

/** A loss of the journal as the store reports it. */
export const journalLoss = (
  { id, file, reason, bytes, project = "", isPossible = false }: JournalLoss,
  accepted: ReadonlySet<string>,
): Loss => ({
  id,
  project,
  file: isPossible ? file || "projects" : `journal/${file}`,
  reason,
  bytes,
  events: undefined,
  firstMs: undefined,
  lastMs: undefined,
  isPossible,
  isAccepted: accepted.has(id),
});
