import { type JournalLoss, journalLoss, lossId } from "../loss.ts";
import type { Loss } from "../store.ts";
import type { FolderIdentity } from "./folder-name.ts";
import type { HeldEvents } from "./held-events.ts";
import type { StoredLoss } from "./manifest.ts";

/** A loss in a project's folder. Its id is the same whenever the same file is found missing. */
export function folderLoss(
  { project, began }: FolderIdentity,
  loss: Omit<StoredLoss, "id" | "atMs">,
  atMs: number,
): StoredLoss {
  return { id: lossId(`${project}~${began}/${loss.file}`), atMs, ...loss };
}

/** Whether a loss is one of that folder: lists of losses are copied and exchanged with folders. */
export function isLossOf({ project, began }: FolderIdentity, { id, file, isPossible, held }: StoredLoss): boolean {
  return id === lossId(`${project}~${began}/${isPossible ? mark(held) : file}`);
}

const mark = (held: HeldEvents | undefined) => `?${held?.newest ?? ""}.${held?.sum ?? ""}`;

/** A loss of which nothing proves that it is none. Its id is another one if other events may be missing. */
export function possibleLoss(
  { project, began }: FolderIdentity,
  { reason, bytes, held }: Pick<StoredLoss, "reason" | "bytes"> & { readonly held: HeldEvents | undefined },
  atMs: number,
): StoredLoss {
  const id = lossId(`${project}~${began}/${mark(held)}`);
  return { id, atMs, file: "", reason, bytes, isPossible: true, ...(held && { held }) };
}

/** When the lost events were, in nanoseconds since 1970; undefined if nothing tells. */
export function rangeOf({ entry, held }: StoredLoss): { readonly first: bigint; readonly last: bigint } | undefined {
  const range = entry ?? held;
  return range && { first: BigInt(range.first), last: BigInt(range.last) };
}

/** As the store reports it. */
export function toLoss({ project, began }: FolderIdentity, loss: StoredLoss, accepted: ReadonlySet<string>): Loss {
  const { id, file, reason, bytes, entry, isPossible = false } = loss;
  const range = rangeOf(loss);
  return {
    id,
    project,
    file: file === "" ? `${project}~${began}` : `${project}~${began}/${file}`,
    reason,
    bytes,
    events: entry?.events,
    firstMs: range && Number(range.first / 1_000_000n),
    lastMs: range && Number(range.last / 1_000_000n) + 1,
    isPossible,
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
    for (const loss of losses) {
      const own = rangeOf(loss);
      const isTouched = range === undefined || own === undefined || (own.last >= range.from && own.first < range.to);
      if (isTouched && !this.#accepted.has(loss.id)) sum += Math.max(1, loss.bytes);
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
