import type { Kysely } from "kysely";
import { RpcError } from "../error.ts";
import type { Tables } from "../records/tables.ts";

/** Ends an exchange: whatever it awaits rejects with the error, which becomes the answer. */
export type EndExchange = (error: RpcError) => void;

/**
 * The exchanges being answered, by the hash of their token, so that they end when the token is removed. The key is the hash
 * and not the public id because the hash is known before the records are read: an exchange registers first and looks its
 * token up second, so whenever the removal happens, it is either ended here or does not find its token.
 */
export class OpenExchanges {
  readonly #byHash = new Map<string, Set<EndExchange>>();

  /** Registers an exchange. Returns a function to call when it is over. */
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
   * Ends the exchanges of a token that was just removed. Tails and queries end at once, and so do requests that wait for
   * their turn or their body. A change of records or an append that has begun finishes; otherwise the client would not
   * know whether it is stored.
   */
  end(hash: string): void {
    const ends = this.#byHash.get(hash);
    if (ends === undefined) return;
    this.#byHash.delete(hash);
    for (const end of ends) end(new RpcError("unauthorized", "this token was removed"));
  }

  /** Ends the exchanges of all tokens that the records no longer have: other processes remove tokens, too. */
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

/** Parameters of one statement. SQLite allows 32,766, PostgreSQL 65,535. */
const MAX_ASKED = 1_000;
