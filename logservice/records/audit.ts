import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { AuditRow, Tables } from "./tables.ts";

type Entry = Omit<AuditRow, "id" | "detail"> & Partial<Pick<AuditRow, "detail">>;

/** The longest detail of an entry in characters. */
const LONGEST_DETAIL = 1_000;

/** Writes who changed what, in the transaction of the change, so that neither exists without the other. */
export async function writeAudit(db: Kysely<Tables>, { detail = "", ...entry }: Entry): Promise<void> {
  await db
    .insertInto("audit")
    // A statement of SQL may have any character, and PostgreSQL has no text with this one.
    .values({ ...entry, detail: detail.slice(0, LONGEST_DETAIL).replaceAll("\0", "\ufffd"), id: newId() })
    .execute();
}

/** Wrong codes of the same person at the same thing are counted in one line for this long: anybody can cause them. */
const JOINED_MS = 3_600_000;

/** Writes that a wrong code was typed, or counts it in the line about the one before. */
export async function noteWrongCode(db: Kysely<Tables>, entry: Omit<Entry, "result" | "detail">): Promise<void> {
  const { at, team_id, actor, operation, target_id } = entry;
  const earlier = await db
    .selectFrom("audit")
    .select(["id", "detail"])
    .where("actor", "=", actor)
    .where("operation", "=", operation)
    .where("team_id", "=", team_id)
    .where("target_id", "=", target_id)
    .where("result", "=", "unauthorized")
    .where("at", ">", new Date(Date.parse(at) - JOINED_MS).toISOString())
    .orderBy("at", "desc")
    .executeTakeFirst();
  const count = Number.parseInt(earlier?.detail ?? "0", 10) + 1;
  const detail = count === 1 ? "1 wrong code" : `${count} wrong codes`;
  if (earlier === undefined) return writeAudit(db, { ...entry, result: "unauthorized", detail });
  await db.updateTable("audit").set({ detail }).where("id", "=", earlier.id).execute();
}

export interface AuditFilter {
  /** Teams whose entries are listed; "" for requests of nobody known. */
  readonly teams: readonly string[];
  /** RFC 3339 in UTC with milliseconds. Both ends are included. */
  readonly start: string | undefined;
  readonly stop: string | undefined;
  readonly projectId: string | undefined;
  readonly limit: number;
  /** The last entry of the previous page. */
  readonly after: Pick<AuditRow, "at" | "id"> | undefined;
}

/** A page of the audit, newest first. */
export function findAudit(db: Kysely<Tables>, filter: AuditFilter): Promise<AuditRow[]> {
  const { teams, start, stop, projectId, limit, after } = filter;
  let query = db.selectFrom("audit").selectAll().where("team_id", "in", teams);
  if (start !== undefined) query = query.where("at", ">=", start);
  if (stop !== undefined) query = query.where("at", "<=", stop);
  if (projectId !== undefined) query = query.where("project_id", "=", projectId);
  if (after !== undefined) {
    query = query.where((where) =>
      where.or([where("at", "<", after.at), where.and([where("at", "=", after.at), where("id", "<", after.id)])]),
    );
  }
  return query.orderBy("at", "desc").orderBy("id", "desc").limit(limit).execute();
}

/** Removes refusals and statements of SQL before a time, since there may be very many. Changes are kept forever. */
export async function removeRefusals(db: Kysely<Tables>, before: string): Promise<void> {
  await db
    .deleteFrom("audit")
    .where((where) => where.or([where("result", "!=", "done"), where("operation", "=", "query")]))
    .where("at", "<", before)
    .execute();
}
