import type { Kysely } from "kysely";
import type { Clock } from "../../grammar/units/clock.ts";
import type { ErrorType } from "../error.ts";
import { removeRefusals, writeAudit } from "../records/audit.ts";
import { isOfStorage } from "../records/away.ts";
import type { AuditRow, Tables } from "../records/tables.ts";

type Request = Pick<AuditRow, "team_id" | "actor" | "address" | "operation">;

/** The same refusal is written down once in this time ... */
const ONCE_MS = 3_600_000;
/**
 * ... and at most this many different ones of a team, and of nobody known: anybody can cause them, and each is a write that
 * waits for the disk. Each team has a count of its own, so that one team cannot hide what happens in another one.
 */
export const MAX_REFUSALS = 500;
const KEPT_MS = 90 * 24 * 3_600_000;

/** Writes refused requests into the audit. Changes are written by `rpc/call.ts`, in the transaction of the change. */
export class Refusals {
  readonly #db: Kysely<Tables>;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  /** Refusals of the current hour by team. The hour is measured by a monotonic clock. */
  readonly #noted = new Map<string, Set<string>>();
  #beganMs = Number.NEGATIVE_INFINITY;

  /** `failed` is called with the error if a refusal could not be written. */
  constructor(db: Kysely<Tables>, clock: Clock, failed: (error: unknown) => void) {
    this.#db = db;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** Never rejects: the request is refused even if that cannot be written down. */
  async note(request: Request, result: ErrorType): Promise<void> {
    // Other errors are mistakes of clients that may do what they ask for.
    if (result !== "unauthorized" && result !== "forbidden") return;
    const nowMs = this.#clock.monotonicMs();
    const db = this.#db;
    const clockMs = this.#clock.nowMs();
    try {
      if (nowMs - this.#beganMs > ONCE_MS) {
        this.#noted.clear();
        this.#beganMs = nowMs;
        await removeRefusals(db, new Date(clockMs - KEPT_MS).toISOString());
      }
      const key = JSON.stringify([request, result]);
      const noted = this.#noted.get(request.team_id) ?? new Set();
      this.#noted.set(request.team_id, noted);
      if (noted.has(key) || noted.size >= MAX_REFUSALS) return;
      noted.add(key);
      const at = new Date(clockMs).toISOString();
      await writeAudit(db, { ...request, result, at, project_id: "", target_id: "" });
    } catch (error) {
      // A full or failing disk is reported by what else fails.
      const isReadOnly = /^SQLITE_READONLY/.test(String((error as { code?: unknown }).code));
      if (!isReadOnly && !isOfStorage(error)) this.#failed(error);
    }
  }
}
