import { toldLoss } from "./duckdb/losses.ts";
import type { StoredLoss } from "./duckdb/manifest.ts";
import type { Segments } from "./duckdb/segments.ts";
import type { Selection } from "./duckdb/source.ts";
import type { JournalLoss } from "./journal/journal-list.ts";
import type { Loss } from "./store.ts";

/** Which events are missing, and which of these losses somebody knows of. */
export class Losses {
  readonly #journal: readonly JournalLoss[];
  #accepted: ReadonlySet<string> = new Set();

  /** `journal` are those of the journal, which do not change while the store is open. */
  constructor(journal: readonly JournalLoss[]) {
    this.#journal = journal;
  }

  accept(ids: ReadonlySet<string>): void {
    this.#accepted = ids;
  }

  /** Bytes that are missing from an answer; at least 1 for a loss of which nobody knows how large it is. */
  bytesOf(project: string, losses: readonly StoredLoss[], range?: Pick<Selection, "from" | "to">): number {
    let sum = 0;
    for (const { id, bytes, entry } of losses) {
      const isTouched =
        range === undefined ||
        entry === undefined ||
        (BigInt(entry.last) >= range.from && BigInt(entry.first) < range.to);
      if (isTouched && !this.#accepted.has(id)) sum += Math.max(1, bytes);
    }
    // When those events were is not known, and mostly not whose either.
    for (const loss of this.#journal) {
      const isTouched = loss.project === undefined || loss.project === project;
      if (isTouched && !this.#accepted.has(loss.id)) sum += Math.max(1, loss.bytes);
    }
    return sum;
  }

  all(projects: Iterable<Segments>): Loss[] {
    const unknown = { events: undefined, firstMs: undefined, lastMs: undefined };
    const ofJournal = this.#journal.map(({ id, file, reason, bytes, project = "" }) => ({
      ...unknown,
      ...{ id, project, file: `journal/${file}`, reason, bytes, isAccepted: this.#accepted.has(id) },
    }));
    return [
      ...ofJournal,
      ...[...projects].flatMap((one) => one.losses.map((loss) => toldLoss(one, loss, this.#accepted))),
    ];
  }
}
