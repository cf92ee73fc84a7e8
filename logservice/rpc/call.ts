import type { Transaction } from "kysely";
import type { Operations, Scope } from "../../schema/rpc.generated.ts";
import type { OpenExchanges } from "../access/open-exchanges.ts";
import type { Grant } from "../access/tokens.ts";
import type { EventsStore } from "../events/store.ts";
import { writeAudit } from "../records/audit.ts";
import type { Records } from "../records/open.ts";
import type { Tables } from "../records/tables.ts";
import type { BatchKey, OpenAppends } from "./append.ts";
import type { Printable } from "./json-text.ts";

/** What the operations work on. */
export interface Service {
  readonly records: Records;
  readonly events: EventsStore;
  /** The requests being answered; the removal of a token ends those it opened. */
  readonly exchanges: OpenExchanges;
  /** The appends under way; the removal of a project waits for them. */
  readonly appends: OpenAppends;
  readonly region: string;
  nowMs(): number;
}

/** Who asks, and how long they wait. */
export interface Call {
  readonly grant: Grant;
  /** Aborted where the client left or the time is over. */
  readonly signal: AbortSignal;
  readonly batchKey: BatchKey | undefined;
  /** The client's end of the connection. */
  readonly address: string;
}

/** One function for each operation: its input is checked, its scope granted. */
export type Handlers<Names extends keyof Operations = keyof Operations> = {
  readonly [Name in Names]: (
    service: Service,
    input: Operations[Name]["input"],
    call: Call,
  ) => Promise<Printable<Operations[Name]["output"]>>;
};

/** A change of records and the line about it in the audit, both or neither. The change answers what it changed. */
export function changing(
  { records, nowMs }: Service,
  { grant, address }: Call,
  operation: keyof Operations,
  change: (db: Transaction<Tables>, now: string) => Promise<{ readonly projectId?: string; readonly targetId: string }>,
): Promise<{ readonly targetId: string }> {
  return records.db.transaction().execute(async (db) => {
    const at = new Date(nowMs()).toISOString();
    const { projectId = "", targetId } = await change(db, at);
    const who = { at, actor: grant.id, address };
    await writeAudit(db, { ...who, operation, project_id: projectId, target_id: targetId, result: "done" });
    return { targetId };
  });
}

/** The scopes of a list that a grant lacks. */
export function lacking(grant: Grant, scopes: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => !grant.scopes.has(scope));
}
