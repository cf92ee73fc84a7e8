import type { Kysely } from "kysely";
import { RpcError } from "../error.ts";
import type { Tables } from "../records/tables.ts";

/** Ends an exchange: what it waits for is rejected with the error, which becomes its answer. */
export type EndExchange = (error: RpcError) => void;

/**
 * The exchanges that are being answered, by the hash of their token, so that they end with it. By the hash and not by the
 * public id because that is known before the records are asked: an exchange that is opened first and looked up second
 * is either ended here or does not find its token any more, whenever the removal comes.
 */
export class OpenExchanges {
  readonly #byHash = new Map<string, Set<EndExchange>>();

  /** Returns what is to be called when the exchange is over. */
  open(hash: string, end: EndExchange): () => void {
    const ends = this.#byHash.get(hash) ?? new Set();
    this.#byHash.set(hash, ends);
    ends.add(end);
    return () => {
      ends.delete(end);
      if (ends.size === 0 && this.#byHash.get(hash) === ends) this.#byHash.delete(hash);
    };
  }

  /**
   * Ends all that is open with a token which was just removed. Tails and queries end at once, and so does what is still
   * waiting for its turn or its body. A change of records or an append that has begun finishes: ending it would leave
   * the client without the answer whether it is stored.
   */
  end(hash: string): void {
    const ends = this.#byHash.get(hash);
    if (ends === undefined) return;
    this.#byHash.delete(hash);
    for (const end of ends) end(new RpcError("unauthorized", "this token was removed"));
  }

  /** The same for all tokens that the records no longer have: another process removes them as well. */
  async endRemoved(db: Kysely<Tables>): Promise<void> {
    const hashes = [...this.#byHash.keys()];
    for (let at = 0; at < hashes.length; at += MAX_ASKED) {
      const asked = hashes.slice(at, at + MAX_ASKED);
      const known = await db.selectFrom("tokens").select("hash").where("hash", "in", asked).execute();
      const kept = new Set(known.map(({ hash }) => hash));
      for (const hash of asked) if (!kept.has(hash)) this.end(hash);
    }
  }
}

/** Parameters of one statement. SQLite takes 32,766, PostgreSQL 65,535. */
const MAX_ASKED = 1_000;
