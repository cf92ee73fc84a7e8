import type { Clock } from "../../grammar/units/clock.ts";
import type { Grant } from "../access/grant.ts";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";

type ExportLimits = Pick<Limits, "exportsPerPerson" | "exportsPerTeam" | "exportsAtOnce" | "holdMs">;

/** Whose export it is. */
type Holder = Pick<Grant, "id" | "by" | "team">;

interface Place {
  readonly person: string;
  readonly team: string;
  /** When it is given up, in the time of a monotonic clock; never while the export is sent. */
  readonly untilMs: number;
}

/** How long a ticket keeps a place: a browser follows the link at once, and is then not refused. */
const KEPT_MS = 10_000;

/**
 * The places for exports: those that are being sent, and those that are kept for a ticket that was just given. All sessions
 * of a person and all tokens that they made count together, so that nobody takes the places of everybody else.
 */
export class OpenExports {
  readonly #limits: ExportLimits;
  readonly #stopping: AbortSignal;
  readonly #clock: Clock;
  readonly #sent = new Set<Place>();
  readonly #reservations = new Map<string, Place>();
  #rows = 0;
  #bytes = 0;

  /** `stopping` is aborted when the service begins to stop. */
  constructor(limits: ExportLimits, stopping: AbortSignal, clock: Clock) {
    this.#limits = limits;
    this.#stopping = stopping;
    this.#clock = clock;
  }

  /** Throws `rate_limited` if there is no place, and `unavailable` when the service stops. */
  requirePlace(holder: Holder): void {
    if (this.#stopping.aborted) throw new RpcError("unavailable", "the service is shutting down");
    const { exportsPerPerson, exportsPerTeam, exportsAtOnce, holdMs } = this.#limits;
    const nowMs = this.#clock.monotonicMs();
    for (const [ticket, { untilMs }] of this.#reservations) if (untilMs <= nowMs) this.#reservations.delete(ticket);
    const places = [...this.#sent, ...this.#reservations.values()];
    const refuse = (what: string) =>
      new RpcError("rate_limited", `${what} already: wait until one of them has ended, or end one`, {
        retryAfterMs: holdMs,
      });
    const ofPerson = places.filter(({ person }) => person === personOf(holder)).length;
    if (ofPerson >= exportsPerPerson) {
      const whose = holder.by === "" ? "of this token" : "of yours, by any of your sessions and tokens,";
      throw refuse(`${exportsPerPerson} exports ${whose} are being sent`);
    }
    const ofTeam = places.filter(({ team }) => team === holder.team).length;
    if (ofTeam >= exportsPerTeam) throw refuse(`${exportsPerTeam} exports of this team are being sent`);
    if (places.length >= exportsAtOnce) throw refuse(`${exportsAtOnce} exports are being sent`);
  }

  /** Keeps a place for the export of a ticket for a moment. There must be one: see `requirePlace`. */
  keep(ticket: string, holder: Holder): void {
    this.#reservations.set(ticket, placeOf(holder, this.#clock.monotonicMs() + KEPT_MS));
  }

  /** Takes the place that was kept for a ticket, or any. Returns what gives it back. Throws as `requirePlace`. */
  enter(ticket: string, holder: Holder): () => void {
    const reservation = this.#reservations.get(ticket);
    // Whoever has only seen the ticket of somebody else takes nothing from them.
    const isOwn =
      reservation !== undefined && reservation.person === personOf(holder) && reservation.team === holder.team;
    if (isOwn) this.#reservations.delete(ticket);
    this.requirePlace(holder);
    const place = placeOf(holder, Number.POSITIVE_INFINITY);
    this.#sent.add(place);
    return () => void this.#sent.delete(place);
  }

  sent(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }

  metrics(): Readonly<Record<string, number>> {
    return { exports: this.#sent.size, exported_rows_total: this.#rows, exported_bytes_total: this.#bytes };
  }
}

/** Who answers for it: the person, or the token of whoever runs the service. */
const personOf = ({ id, by }: Holder) => by || id;

const placeOf = (holder: Holder, untilMs: number): Place => ({
  ...{ person: personOf(holder), team: holder.team, untilMs },
});
