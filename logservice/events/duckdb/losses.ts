import { type JournalLoss, journalLoss, lossId } from "../loss.ts";
import type { Loss } from "../store.ts";
import type { FolderIdentity } from "./folder-name.ts";
import type { StoredLoss } from "./manifest.ts";

/** A loss in a project's folder. Its id is the same whenever the same file is found missing. */
export function folderLoss(
  { project, began }: FolderIdentity,
  loss: Omit<StoredLoss, "id" | "atMs">,
  atMs: number,
): StoredLoss {
  return { id: lossId(`${project}~${began}/${loss.file}`), atMs, ...loss };
}

/** As the store reports it. */
export function toLoss(
  { project, began }: FolderIdentity,
  { id, file, reason, bytes, entry }: StoredLoss,
  accepted: ReadonlySet<string>,
): Loss {
  return {
    id,
    project,
    file: file === "" ? `${project}~${began}` : `${project}~${began}/${file}`,
    reason,
    bytes,
    events: entry?.events,
    firstMs: entry && Number(BigInt(entry.first) / 1_000_000n),
    lastMs: entry && Number(BigInt(entry.last) / 1_000_000n) + 1,
    isAccepted: accepted.has(id),
  };
}

/** Which events are missing, and which of these losses were accepted. */
export class Losses {
  readonly #journal: readonly JournalLoss[];
  #accepted: ReadonlySet<string> = new Set();

  /** Losses of the journal do not change while the store is open. */
  constructor(journal: readonly JournalLoss[]) {
    this.#journal = journal;
  }

  accept(ids: ReadonlySet<string>): void {
    this.#accepted = ids;
  }

  /** Number of bytes that an answer lacks. A loss of unknown size counts as at least 1. */
  bytesOf(
    project: string,
    losses: readonly StoredLoss[],
    range?: { readonly from: bigint; readonly to: bigint },
  ): number {
    let sum = 0;
    for (const { id, bytes, entry } of losses) {
      const isTouched =
        range === undefined ||
        entry === undefined ||
        (BigInt(entry.last) >= range.from && BigInt(entry.first) < range.to);
      if (isTouched && !this.#accepted.has(id)) sum += Math.max(1, bytes);
    }
    // The times of these events are not known, and usually not their project either.
    for (const loss of this.#journal) {
      const isTouched = loss.project === undefined || loss.project === project;
      if (isTouched && !this.#accepted.has(loss.id)) sum += Math.max(1, loss.bytes);
    }
    return sum;
  }

  all(folders: Iterable<FolderIdentity & { readonly losses: readonly StoredLoss[] }>): Loss[] {
    return [
      ...this.#journal.map((loss) => journalLoss(loss, this.#accepted)),
      ...[...folders].flatMap((one) => one.losses.map((loss) => toLoss(one, loss, this.#accepted))),
    ];
  }
}
