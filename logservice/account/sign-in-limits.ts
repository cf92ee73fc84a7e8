import type { Kysely } from "kysely";
import type { Clock } from "../../grammar/units/clock.ts";
import { networkOf, siteOf } from "../access/client-address.ts";
import type { Tables } from "../records/tables.ts";
import { Buckets, takeAll } from "./buckets.ts";

const MINUTE_MS = 60_000;
const ATTEMPTS = "attempts to sign in";

/**
 * Bounds how often a sign-in is begun. It counts by whoever begins it and by mails to an address, so that nobody fills
 * another one's mailbox. What strangers cause does not count against somebody who signed in from this network before, nor
 * against the holder of an invite's link or of a browser that signed in as the address, so that nobody can lock another out.
 */
export class SignInLimits {
  readonly #byNetwork: Buckets;
  readonly #bySite: Buckets;
  readonly #byNetworkAndMail: Buckets;
  readonly #byMail: Buckets;
  readonly #byProof: Buckets;
  readonly #invitesByPerson: Buckets;
  readonly #invitesByMail: Buckets;

  constructor(clock: Clock) {
    this.#byNetwork = new Buckets(20, 30_000, clock);
    this.#bySite = new Buckets(200, 3_000, clock);
    this.#byNetworkAndMail = new Buckets(6, 2 * MINUTE_MS, clock);
    this.#byMail = new Buckets(20, 6 * MINUTE_MS, clock);
    this.#byProof = new Buckets(6, 2 * MINUTE_MS, clock);
    this.#invitesByPerson = new Buckets(100, MINUTE_MS, clock);
    this.#invitesByMail = new Buckets(10, 6 * MINUTE_MS, clock);
  }

  /**
   * Throws `rate_limited`. It is the same for addresses that nobody has. `proof` names the invite or the browser that speaks
   * for whoever asks: it has a budget of its own, which nobody else can use up.
   */
  async take(db: Kysely<Tables>, emailKey: string, address: string, proof?: string): Promise<void> {
    if (proof !== undefined) return takeAll([[this.#byProof, proof]], ATTEMPTS);
    const network = networkOf(address);
    const own = [
      [this.#byNetwork, network],
      [this.#bySite, siteOf(address)],
      [this.#byNetworkAndMail, `${network} ${emailKey}`],
    ] as const;
    // Whoever is over an own limit is refused before anything is looked up.
    const isOver = own.some(([buckets, name]) => buckets.waitMs(name) > 0);
    const isFull = this.#byMail.waitMs(emailKey) > 0;
    if (isFull && !isOver && (await hasSignedIn(db, emailKey, network))) return takeAll(own, ATTEMPTS);
    takeAll([...own, [this.#byMail, emailKey]], ATTEMPTS);
  }

  /** Bounds the mails of invites: anybody may have a team where everybody may sign up. Throws `rate_limited`. */
  takeInvite(personId: string, emailKey: string): void {
    const entries = [
      [this.#invitesByPerson, personId],
      [this.#invitesByMail, emailKey],
    ] as const;
    takeAll(entries, "invites");
  }
}

/**
 * Whether the holder of an address has signed in from a network before: the audit knows where it was asked for, which is
 * written when it is confirmed, and where it was confirmed.
 */
async function hasSignedIn(db: Kysely<Tables>, emailKey: string, network: string): Promise<boolean> {
  const rows = await db
    .selectFrom("audit")
    .innerJoin("users", "users.email", "audit.actor")
    .select("audit.address")
    .distinct()
    .where("users.email_key", "=", emailKey)
    .where("audit.operation", "in", ["start_sign_in", "confirm_sign_in"])
    .where("audit.result", "=", "done")
    .execute();
  return rows.some(({ address }) => networkOf(address) === network);
}
