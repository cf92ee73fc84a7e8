import type { Transaction } from "kysely";
import type { Clock } from "../../grammar/units/clock.ts";
import type { Notification, Operations, Scope } from "../../schema/rpc.generated.ts";
import type { Grant } from "../access/grant.ts";
import type { OpenExchanges } from "../access/open-exchanges.ts";
import { requireStillGranted } from "../access/still-granted.ts";
import type { Account } from "../account/account.ts";
import type { EventArrivals } from "../alerts/arrivals.ts";
import type { Evaluator } from "../alerts/evaluator.ts";
import type { Billing } from "../billing/billing.ts";
import type { EventsStore } from "../events/store.ts";
import type { DeliveryQueue } from "../notify/delivery-queue.ts";
import type { DeliveryOutcome } from "../notify/send.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import { writeAudit } from "../records/audit.ts";
import type { Records } from "../records/open.ts";
import type { ProjectKey } from "../records/projects.ts";
import type { Tables } from "../records/tables.ts";
import type { TeamLimits } from "../records/team-limits.ts";
import { transact } from "../records/transact.ts";
import type { TurnTaker } from "../turns/turns.ts";
import type { BatchKey, OpenAppends } from "./append.ts";
import type { ExportTickets } from "./export-tickets.ts";
import type { Printable } from "./json-text.ts";
import type { OpenExports } from "./open-exports.ts";
import type { ScannedBatch } from "./scan-events.ts";

/** The parts of the service that the operations work on. */
export interface Service {
  readonly records: Records;
  readonly events: EventsStore;
  /** The requests being answered; the removal of a token ends those it opened. */
  readonly exchanges: OpenExchanges;
  /** The appends under way; the removal of a project waits for them. */
  readonly appends: OpenAppends;
  /** Takes what alerts need to know of events that were stored. */
  readonly arrivals: Pick<EventArrivals, "note">;
  /** The files that were asked for and are not sent yet. */
  readonly exportTickets: ExportTickets;
  /** The files that are being sent. */
  readonly openExports: OpenExports;
  readonly account: Account;
  readonly billing: Billing;
  /** Delivers what alerts tell. */
  readonly deliveries: Pick<DeliveryQueue, "kick" | "metrics">;
  readonly testing: {
    /** Counts a test of a team, and of people by their ids. Throws `rate_limited`, and `invalid` if it would send too much. */
    take(team: string, notification: Notification, people: readonly string[]): void;
    /** Sends a test of a notification and waits for the outcome. */
    send(notification: Notification, message: AlertMessage, signal: AbortSignal): Promise<DeliveryOutcome>;
    /** Counts text messages with codes. Throws as `take` does. */
    takeCodes(team: string, numbers: readonly string[], people: readonly string[]): void;
    /** Sends a number the code that confirms it and waits for the outcome. */
    sendCode(number: string, code: string): Promise<DeliveryOutcome>;
  };
  /** Whom the operator lets the service tell. */
  readonly notifies: {
    /** Whether mails are sent, and text messages. */
    readonly isMailing: boolean;
    readonly isTexting: boolean;
    /** Whether plain http and private addresses are permitted. */
    readonly allowsPrivate: boolean;
  };
  /** Evaluates the alerts; told of what has changed. */
  readonly evaluator: Pick<Evaluator, "changed" | "metrics">;
  readonly region: string;
  /** The records that a team may have at most. */
  readonly teamLimits: TeamLimits;
  readonly clock: Clock;
  /** The time of `clock` that people count. */
  nowMs(): number;
}

/** The request of an operation: whose it is, and until when the answer is wanted. */
export interface Call {
  readonly grant: Grant;
  /** Aborted when the client disconnects or the time is up. */
  readonly signal: AbortSignal;
  readonly batchKey: BatchKey | undefined;
  /** Network address of whoever sent the request. */
  readonly address: string;
  /** The name that the client gives itself, for people. */
  readonly device: string;
}

/** A call as its handler gets it. */
export interface OperationCall extends Call {
  /** The operation that was asked for, by which the audit names the change. */
  readonly operation: keyof Operations;
}

/** The input of an operation. A batch of events may have been scanned instead of parsed. */
export type OperationInput<Name extends keyof Operations> =
  | Operations[Name]["input"]
  | (Name extends "add_events" ? ScannedBatch : never);

/** One function for each operation. It is called with checked input and a granted scope. */
export type Handlers<Names extends keyof Operations = keyof Operations, C extends Call = OperationCall> = {
  readonly [Name in Names]: (
    service: Service,
    input: OperationInput<Name>,
    call: C,
  ) => Promise<Printable<Operations[Name]["output"]>>;
};

/** The target of a change, for the audit. */
export interface Changed {
  /** The team of the request unless told otherwise. */
  readonly teamId?: string;
  readonly projectId?: string;
  readonly targetId: string;
  readonly detail?: string;
  /** The id that `changeRecords` returns instead of the target. */
  readonly id?: string;
}

/**
 * Changes records and writes the line of the audit about it, both or neither. `change` returns what it changed. Throws if
 * what the request was granted has ended meanwhile.
 */
export function changeRecords(
  service: Service,
  call: OperationCall,
  change: (db: Transaction<Tables>, now: string) => Promise<Changed>,
): Promise<{ readonly targetId: string }> {
  return finishChange(service, call, async (db, now) => {
    await requireStillGranted(db, call.grant);
    return change(db, now);
  });
}

/** Changes records as the end of a change that has begun elsewhere, whatever happened to who asked for it. */
export function finishChange(
  { records, nowMs }: Service,
  { grant, address, operation }: OperationCall,
  change: (db: Transaction<Tables>, now: string) => Promise<Changed>,
): Promise<{ readonly targetId: string }> {
  return transact(records.db, async (db) => {
    const at = new Date(nowMs()).toISOString();
    const { teamId = grant.team, projectId = "", targetId, detail = "", id = targetId } = await change(db, at);
    const who = { at, team_id: teamId, actor: grant.actor, address };
    await writeAudit(db, { ...who, operation, project_id: projectId, target_id: targetId, result: "done", detail });
    return { targetId: id };
  });
}

/** The scopes of a list that a grant does not have. */
export function missingScopes(grant: Grant, scopes: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => !grant.scopes.has(scope));
}

/** Who takes turns for a request. */
export const askerOf = ({ grant }: Pick<Call, "grant">): TurnTaker => ({ team: grant.team, member: grant.id });

/** The project of this id in the team that the request is about. */
export const projectOf = ({ grant }: Pick<Call, "grant">, id: string): ProjectKey => ({ team_id: grant.team, id });
