import type { Kysely } from "kysely";
import type { Clock } from "../../grammar/units/clock.ts";
import { networkOf, siteOf } from "../access/client-address.ts";
import { RpcError } from "../error.ts";
import { type BudgetTake, budgetsWaitMs, type SharedBudget, takeBudgets } from "../records/budgets.ts";
import type { Tables } from "../records/tables.ts";
import { transact } from "../records/transact.ts";

const MINUTE_MS = 60_000;
const BY_NETWORK: SharedBudget = { kind: "sign-ins of a network", burst: 20, perMs: 30_000 };
const BY_SITE: SharedBudget = { kind: "sign-ins of a site", burst: 200, perMs: 3_000 };
const BY_NETWORK_AND_MAIL: SharedBudget = {
  kind: "sign-ins of a network as an address",
  burst: 6,
  perMs: 2 * MINUTE_MS,
};
const BY_MAIL: SharedBudget = { kind: "sign-ins as an address", burst: 20, perMs: 6 * MINUTE_MS };
const BY_PROOF: SharedBudget = { kind: "sign-ins by a proof", burst: 6, perMs: 2 * MINUTE_MS };
const INVITES_BY_PERSON: SharedBudget = { kind: "invites of a person", burst: 100, perMs: MINUTE_MS };
const INVITES_BY_MAIL: SharedBudget = { kind: "invites to an address", burst: 10, perMs: 6 * MINUTE_MS };

/**
 * Bounds how often a sign-in is begun. It counts by whoever begins it and by mails to an address, so that nobody fills
 * another one's mailbox. What strangers cause does not count against somebody who signed in from this network before, nor
 * against the holder of an invite's link or of a browser that signed in as the address, so that nobody can lock another out.
 */
export class SignInLimits {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Throws `rate_limited`. It is the same for addresses that nobody has. `proof` names the invite or the browser that speaks
   * for whoever asks: it has a budget of its own, which nobody else can use up.
   */
  async take(db: Kysely<Tables>, emailKey: string, address: string, proof?: string): Promise<void> {
    const network = networkOf(address);
    const own: readonly BudgetTake[] =
      proof === undefined
        ? [
            [BY_NETWORK, network],
            [BY_SITE, siteOf(address)],
            [BY_NETWORK_AND_MAIL, `${network} ${emailKey}`],
          ]
        : [[BY_PROOF, proof]];
    const ofMail: readonly BudgetTake[] = proof === undefined ? [[BY_MAIL, emailKey]] : [];
    // Whoever is over an own limit is refused before anything else is looked up.
    refuseBefore(await budgetsWaitMs(db, own, this.#clock.nowMs()), ATTEMPTS);
    const waitMs = await transact(db, async (db) => {
      const nowMs = this.#clock.nowMs();
      const isFull = ofMail.length > 0 && (await budgetsWaitMs(db, ofMail, nowMs)) > 0;
      const isKnown = isFull && (await hasSignedIn(db, emailKey, network));
      return takeBudgets(db, isKnown ? own : [...own, ...ofMail], nowMs);
    });
    refuseBefore(waitMs, ATTEMPTS);
  }

  /**
   * Bounds the mails of invites: anybody may have a team where everybody may sign up. To be called in the transaction that adds
   * the invite. Throws `rate_limited`.
   */
  async takeInvite(db: Kysely<Tables>, personId: string, emailKey: string): Promise<void> {
    const takes = [
      [INVITES_BY_PERSON, personId],
      [INVITES_BY_MAIL, emailKey],
    ] as const;
    refuseBefore(await takeBudgets(db, takes, this.#clock.nowMs()), "invites");
  }
}

const ATTEMPTS = "attempts to sign in";

/** Throws `rate_limited` if there is something to wait for: `many` are too many. */
function refuseBefore(waitMs: number, many: string): void {
  if (waitMs <= 0) return;
  throw new RpcError("rate_limited", `too many ${many}: wait a moment, then try again`, { retryAfterMs: waitMs });
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
