import type { Transaction } from "kysely";
import type { Operations, Scope } from "../../schema/rpc.generated.ts";
import type { Grant } from "../access/grant.ts";
import type { OpenExchanges } from "../access/open-exchanges.ts";
import type { EventsStore } from "../events/store.ts";
import { writeAudit } from "../records/audit.ts";
import type { Records } from "../records/open.ts";
import type { ProjectKey } from "../records/projects.ts";
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

/** The request of an operation: whose it is, and until when the answer is wanted. */
export interface Call {
  readonly grant: Grant;
  /** Aborted when the client disconnects or the time is up. */
  readonly signal: AbortSignal;
  readonly batchKey: BatchKey | undefined;
  /** Address of the client's end of the connection. */
  readonly address: string;
}

/** One function for each operation. It is called with checked input and a granted scope. */
export type Handlers<Names extends keyof Operations = keyof Operations> = {
  readonly [Name in Names]: (
    service: Service,
    input: Operations[Name]["input"],
    call: Call,
  ) => Promise<Printable<Operations[Name]["output"]>>;
};

/** Changes records and writes the line of the audit about it, both or neither. `change` returns what it changed. */
export function changeRecords(
  { records, nowMs }: Service,
  { grant, address }: Call,
  operation: keyof Operations,
  change: (db: Transaction<Tables>, now: string) => Promise<{ readonly projectId?: string; readonly targetId: string }>,
): Promise<{ readonly targetId: string }> {
  return records.db.transaction().execute(async (db) => {
    const at = new Date(nowMs()).toISOString();
    const { projectId = "", targetId } = await change(db, at);
    const who = { at, team_id: grant.team, actor: grant.actor, address };
    await writeAudit(db, { ...who, operation, project_id: projectId, target_id: targetId, result: "done" });
    return { targetId };
  });
}

/** The scopes of a list that a grant does not have. */
export function missingScopes(grant: Grant, scopes: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => !grant.scopes.has(scope));
}

/** The project of this id in the team that the request is about. */
export const projectOf = ({ grant }: Pick<Call, "grant">, id: string): ProjectKey => ({ team_id: grant.team, id });
