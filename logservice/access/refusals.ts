import type { Kysely } from "kysely";
import type { ErrorType } from "../error.ts";
import { removeRefusals, writeAudit } from "../records/audit.ts";
import type { AuditRow, Tables } from "../records/tables.ts";

type Request = Pick<AuditRow, "actor" | "address" | "operation">;

/** Who tries again and again is written down once in so long ... */
const ONCE_MS = 3_600_000;
/** ... and so many different refusals at most: anybody can make them, and each is a write that waits for the disk. */
export const MAX_REFUSALS = 500;
const KEPT_MS = 90 * 24 * 3_600_000;

/** Writes down in the audit who was refused. Changes that were made are written with the change (`rpc/call.ts`). */
export class Refusals {
  readonly #db: Kysely<Tables>;
  readonly #clockMs: () => number;
  readonly #failed: (error: unknown) => void;
  /** Those of the current hour, by the clock that nobody sets. */
  readonly #noted = new Set<string>();
  #beganMs = Number.NEGATIVE_INFINITY;

  /** `failed` is told why a refusal could not be written down. */
  constructor(db: Kysely<Tables>, clockMs: () => number, failed: (error: unknown) => void) {
    this.#db = db;
    this.#clockMs = clockMs;
    this.#failed = failed;
  }

  /** Never rejects: a refusal that cannot be written down is one all the same. */
  async note(request: Request, result: ErrorType): Promise<void> {
    // Somebody asked for what is not theirs. Other errors are mistakes.
    if (result !== "unauthorized" && result !== "forbidden") return;
    const nowMs = performance.now();
    const db = this.#db;
    const clockMs = this.#clockMs();
    try {
      if (nowMs - this.#beganMs > ONCE_MS) {
        this.#noted.clear();
        this.#beganMs = nowMs;
        await removeRefusals(db, new Date(clockMs - KEPT_MS).toISOString());
      }
      const key = JSON.stringify([request, result]);
      if (this.#noted.has(key) || this.#noted.size >= MAX_REFUSALS) return;
      this.#noted.add(key);
      const at = new Date(clockMs).toISOString();
      await writeAudit(db, { ...request, result, at, project_id: "", target_id: "" });
    } catch (error) {
      // A full disk is told by what fails of it.
      if (!/^SQLITE_(FULL|BUSY|IOERR|READONLY)/.test(String((error as { code?: unknown }).code))) {
        this.#failed(error);
      }
    }
  }
}
