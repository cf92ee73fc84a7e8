import { randomBytes } from "node:crypto";
import type { Operations } from "../../schema/rpc.generated.ts";
import type { Grant } from "../access/grant.ts";
import { tokenHash } from "../access/token.ts";
import { isUnwritable } from "../access/tokens.ts";
import { addExportTicket, findExportTicket, takeExportTicket } from "../records/export-tickets.ts";
import type { Records } from "../records/open.ts";

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
/** The clocks of two processes may differ by so much. */
const SKEW_MS = 5_000;
/** The oldest ones of a token end early: a loop that never fetches must not fill the records. */
const MOST_OF_ONE = 16;

/** The credential that asks, in the team that it is about. */
type Holder = Pick<Grant, "id" | "team">;

interface Ticket {
  readonly holder: string;
  readonly madeMs: number;
  readonly order: ExportOrder;
}

/** The tickets for exports. They are in the records: whichever process of the service a link leads to knows them. */
export class ExportTickets {
  readonly #records: Pick<Records, "db">;
  /** By their hashes, those that the records could not take, as on a full disk, where reading goes on. */
  readonly #unwritten = new Map<string, Ticket>();

  constructor(records: Pick<Records, "db">) {
    this.#records = records;
  }

  /** Makes a ticket of `newTicket` good for who asks, in the team that asks. */
  async add(ticket: string, order: ExportOrder, grant: Holder, nowMs: number): Promise<void> {
    const row = { hash: tokenHash(ticket), holder: holderOf(grant), made_ms: nowMs, export: JSON.stringify(order) };
    try {
      await addExportTicket(this.#records.db, row, { most: MOST_OF_ONE, lastsMs: LASTS_MS });
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      this.#keep(row.hash, { holder: row.holder, madeMs: nowMs, order });
    }
  }

  /** Takes the order of a ticket, once, for whoever asked for it; undefined otherwise. */
  async take(ticket: string, grant: Holder, nowMs: number): Promise<ExportOrder | undefined> {
    // One that somebody else has seen stays good for who asked for it.
    const key = { hash: tokenHash(ticket), holder: holderOf(grant) };
    const taken = this.#takeUnwritten(key) ?? (await this.#takeWritten(key));
    return taken !== undefined && isGood(taken, nowMs) ? taken.order : undefined;
  }

  async #takeWritten(key: TicketKey): Promise<Ticket | undefined> {
    const row = await takeExportTicket(this.#records.db, key).catch((error: unknown) => {
      if (!isUnwritable(error)) throw error;
      // It is good again until it ends, for the same person.
      return findExportTicket(this.#records.db, key);
    });
    return row && { holder: row.holder, madeMs: row.made_ms, order: JSON.parse(row.export) };
  }

  #takeUnwritten({ hash, holder }: TicketKey): Ticket | undefined {
    const ticket = this.#unwritten.get(hash);
    if (ticket?.holder !== holder) return undefined;
    this.#unwritten.delete(hash);
    return ticket;
  }

  #keep(hash: string, ticket: Ticket): void {
    const own: string[] = [];
    for (const [other, entry] of this.#unwritten) {
      if (!isGood(entry, ticket.madeMs)) this.#unwritten.delete(other);
      else if (entry.holder === ticket.holder) own.push(other);
    }
    if (own.length >= MOST_OF_ONE) this.#unwritten.delete(own[0]!);
    this.#unwritten.set(hash, ticket);
  }
}

interface TicketKey {
  readonly hash: string;
  readonly holder: string;
}

/** The address alone must say which team it is about: a link has no headers. */
export const newTicket = ({ team }: Pick<Grant, "team">) => `${team}.${randomBytes(24).toString("base64url")}`;

/** The team that a ticket names; undefined if it is no ticket. */
export function teamOfTicket(ticket: string): string | undefined {
  return /^([a-z0-9_-]+)\.[\w-]+$/i.exec(ticket)?.[1];
}

const holderOf = ({ id, team }: Holder) => `${id} ${team}`;

/** A clock that was set back makes no ticket last longer than those of two processes may differ. */
const isGood = ({ madeMs }: Pick<Ticket, "madeMs">, nowMs: number) =>
  nowMs >= madeMs - SKEW_MS && nowMs - madeMs < LASTS_MS;
