import type { Kysely, Transaction } from "kysely";
import { RecordsAway } from "./away.ts";
import type { Tables } from "./tables.ts";

/**
 * The codes by which PostgreSQL takes a transaction back that another one got in the way of: it is to be run again
 * (postgresql.org/docs/current/mvcc-serialization-failure-handling.html). SQLite has its transactions wait instead.
 */
const CONFLICTS = ["40001", "40P01"];

/** More than any transaction has needed. Those that are tried again take turns, so each of them can only lose to other processes. */
const MOST_TRIES = 30;

/**
 * Runs `work` in a transaction, from its beginning again if another transaction got in the way, or the connection broke off
 * before its end. So `work` must have no effect but on the records, and whatever it sets outside it must set each time. What
 * can't be taken back belongs before or after it, or within `once`.
 */
export async function transact<T>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const run = () => db.transaction().execute(work);
  let isInTurn = false;
  for (let tries = 1; ; tries++) {
    try {
      return await (isInTurn ? inTurn(run) : run());
    } catch (error) {
      isInTurn = isConflict(error);
      const isTakenBack = isInTurn || (error instanceof RecordsAway && error.isTakenBack);
      if (tries === MOST_TRIES || !isTakenBack) throw error;
    }
  }
}

/** Does something once, however often the transaction around it is tried. */
export function once<Facts extends unknown[]>(act: (...facts: Facts) => void): (...facts: Facts) => void {
  let isDone = false;
  return (...facts) => {
    if (isDone) return;
    act(...facts);
    isDone = true;
  };
}

const isConflict = (error: unknown) => CONFLICTS.includes(String((error as { code?: unknown } | undefined)?.code));

/** Ends when the transactions before it have ended that are tried again. */
let last: Promise<unknown> = Promise.resolve();
/** Each begins a turn that waits. */
const waiting = new Set<() => void>();

function inTurn<T>(act: () => Promise<T>): Promise<T> {
  const turn = turnAfter(last).then(act);
  last = turn.catch((error: unknown) => {
    if (!(error instanceof RecordsAway)) return;
    // Each of them would wait for the database in vain for as long as this one, one after the other.
    for (const begin of waiting) begin();
  });
  return turn;
}

/** Resolves when the turn before has ended, or when one has found the database away. */
function turnAfter(before: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const begin = () => {
      waiting.delete(begin);
      resolve();
    };
    waiting.add(begin);
    void before.then(begin);
  });
}
