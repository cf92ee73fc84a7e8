import { randomBytes } from "node:crypto";
import type { Operations } from "../../schema/rpc.generated.ts";
import type { Grant } from "../access/grant.ts";

/** The order that a ticket is for: a file that was asked for and is not sent yet. */
export interface ExportOrder {
  readonly range: Required<Pick<Operations["add_export"]["input"], "project_id" | "start" | "stop" | "query">>;
  /** The key of the project's events: another project may get the same id. */
  readonly eventsKey: string;
  /** Whether the query has stages, which give rows. */
  readonly isTable: boolean;
  readonly format: Operations["add_export"]["input"]["format"];
  /** Columns of a CSV of events after the first three. */
  readonly fields: readonly string[];
}

/** How long a ticket is good for: a browser follows the link at once. */
const LASTS_MS = 60_000;
/** The oldest ones of a token end early: a loop that never fetches must not fill the memory. */
const MOST_OF_ONE = 16;

/** The tickets for exports. They are in memory alone: a restart ends them, and the client asks again. */
export class ExportTickets {
  readonly #held = new Map<string, { readonly order: ExportOrder; readonly holder: string; readonly madeMs: number }>();

  /** Makes a ticket for who asks, in the team that asks. */
  add(order: ExportOrder, { id, team }: Pick<Grant, "id" | "team">, nowMs: number): string {
    const holder = holderOf({ id, team });
    const own: string[] = [];
    for (const [ticket, entry] of this.#held) {
      if (!isGood(entry, nowMs)) this.#held.delete(ticket);
      else if (entry.holder === holder) own.push(ticket);
    }
    if (own.length >= MOST_OF_ONE) this.#held.delete(own[0]!);
    // The address alone must say which team it is about: a link has no headers.
    const ticket = `${team}.${randomBytes(24).toString("base64url")}`;
    this.#held.set(ticket, { order, holder, madeMs: nowMs });
    return ticket;
  }

  /** Takes the order of a ticket, once, for whoever asked for it; undefined otherwise. */
  take(ticket: string, { id, team }: Pick<Grant, "id" | "team">, nowMs: number): ExportOrder | undefined {
    const entry = this.#held.get(ticket);
    // One that somebody else has seen stays good for who asked for it.
    if (entry === undefined || entry.holder !== holderOf({ id, team })) return undefined;
    this.#held.delete(ticket);
    return isGood(entry, nowMs) ? entry.order : undefined;
  }
}

/** The team that a ticket names; undefined if it is no ticket. */
export function teamOfTicket(ticket: string): string | undefined {
  return /^([a-z0-9_-]+)\.[\w-]+$/i.exec(ticket)?.[1];
}

const holderOf = ({ id, team }: Pick<Grant, "id" | "team">) => `${id} ${team}`;

/** A clock that was set back makes no ticket last longer. */
const isGood = ({ madeMs }: { readonly madeMs: number }, nowMs: number) => {
  return nowMs >= madeMs && nowMs - madeMs < LASTS_MS;
};
