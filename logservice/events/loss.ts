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
}

/** The id of a loss. Short, since people type it. */
export const lossId = (name: string) => crc32(name).toString(16).padStart(8, "0");

/** A loss of the journal as the store reports it. */
export const journalLoss = (
  { id, file, reason, bytes, project = "" }: JournalLoss,
  accepted: ReadonlySet<string>,
): Loss => ({
  id,
  project,
  file: `journal/${file}`,
  reason,
  bytes,
  events: undefined,
  firstMs: undefined,
  lastMs: undefined,
  isPossible: false,
  isAccepted: accepted.has(id),
});
