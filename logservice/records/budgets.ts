import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** A token bucket for each name, which holds `burst` and gets another token every `perMs`. */
export interface SharedBudget {
  /** Names the kind; unique. */
  readonly kind: string;
  readonly burst: number;
  readonly perMs: number;
}

/** A bucket of which a token is taken. */
export type BudgetTake = readonly [budget: SharedBudget, name: string];

/** How long until each has a token, in milliseconds; 0 if all have. Takes nothing. */
export async function budgetsWaitMs(db: Kysely<Tables>, takes: readonly BudgetTake[], nowMs: number): Promise<number> {
  return waitMsOf(takes, await fullTimes(db, takes, nowMs), nowMs);
}

/** Takes a token of each bucket, and returns 0; or takes none and returns how long until all have one, in milliseconds. */
export async function takeBudgets(db: Kysely<Tables>, takes: readonly BudgetTake[], nowMs: number): Promise<number> {
  const fulls = await fullTimes(db, takes, nowMs);
  const waitMs = waitMsOf(takes, fulls, nowMs);
  if (waitMs > 0) return waitMs;
  await db.deleteFrom("budgets").where("full_ms", "<=", nowMs).execute();
  for (const [at, take] of takes.entries()) {
    const full_ms = fulls[at]! + take[0].perMs;
    await db
      .insertInto("budgets")
      .values({ hash: hashOf(take), full_ms })
      .onConflict((conflict) => conflict.column("hash").doUpdateSet({ full_ms }))
      .execute();
  }
  return 0;
}

function waitMsOf(takes: readonly BudgetTake[], fulls: readonly number[], nowMs: number): number {
  return Math.max(...takes.map(([{ burst, perMs }], at) => fulls[at]! - nowMs - (burst - 1) * perMs), 0);
}

/** When each bucket is full. */
async function fullTimes(db: Kysely<Tables>, takes: readonly BudgetTake[], nowMs: number): Promise<readonly number[]> {
  const hashes = takes.map(hashOf);
  const rows = await db.selectFrom("budgets").selectAll().where("hash", "in", hashes).execute();
  return takes.map(([{ burst, perMs }], at) => {
    const full = rows.find(({ hash }) => hash === hashes[at])?.full_ms ?? 0;
    // A clock that was set back makes nobody wait longer than for an empty bucket.
    return Math.min(Math.max(full, nowMs), nowMs + burst * perMs);
  });
}

/** The names are addresses of people, some of whom have only been named by strangers. */
const hashOf = ([{ kind }, name]: BudgetTake) => createHash("sha256").update(`${kind} ${name}`).digest("hex");
