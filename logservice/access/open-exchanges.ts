import type { Kysely } from "kysely";
import { RpcError } from "../error.ts";
import type { Tables } from "../records/tables.ts";
import { credentialsLeft } from "./credentials-left.ts";
import type { Grant } from "./grant.ts";

/** Ends an exchange: whatever it awaits rejects with the error, which becomes the answer. */
export type EndExchange = (error: RpcError) => void;

/** An exchange being answered. */
export interface OpenExchange {
  /** Whom it was granted to; undefined until its credential was looked up. */
  grant: Grant | undefined;
  /** To be called when it is over. */
  close(): void;
}

/**
 * The exchanges being answered, by the hash of their token or session, so that they end when that is removed. The key is
 * the hash and not the public id because the hash is known before the records are read: an exchange registers first and
 * looks its token up second, so whenever the removal happens, it is either ended here or does not find its token.
 */
export class OpenExchanges {
  readonly #byHash = new Map<string, Set<OpenExchange & { readonly end: EndExchange }>>();
  /** Grows with each removal that is found by what was granted: an exchange whose lookup began before looks again. */
  #removals = 0;

  /** Registers an exchange. */
  open(hash: string, end: EndExchange): OpenExchange {
    const open = this.#byHash.get(hash) ?? new Set();
    this.#byHash.set(hash, open);
    const exchange = {
      grant: undefined as Grant | undefined,
      end,
      close: () => {
        open.delete(exchange);
        if (open.size === 0 && this.#byHash.get(hash) === open) this.#byHash.delete(hash);
      },
    };
    open.add(exchange);
    return exchange;
  }

  /** Grants an exchange what `lookUp` finds, which looks again if somebody was removed meanwhile. Returns that. */
  async grant(exchange: OpenExchange, lookUp: () => Promise<Grant | undefined>): Promise<Grant | undefined> {
    for (;;) {
      const removals = this.#removals;
      const grant = await lookUp();
      if (removals !== this.#removals) continue;
      // At once: a removal that comes next finds it.
      exchange.grant = grant;
      return grant;
    }
  }

  /**
   * Ends the exchanges of a token or session that was just removed. Tails and queries end at once, and so do requests that
   * wait for their turn or their body. A change of records or an append that has begun finishes; otherwise the client would
   * not know whether it is stored.
   */
  end(hash: string, message = "this token was removed"): void {
    const open = this.#byHash.get(hash);
    if (open === undefined) return;
    this.#byHash.delete(hash);
    for (const { end } of open) end(new RpcError("unauthorized", message));
  }

  /** Ends the exchanges of a team that was removed, or of one person there who was, by any credential of theirs. */
  endIn(team: string, personId?: string): void {
    this.#removals++;
    for (const open of this.#byHash.values()) {
      for (const { grant, end } of open) {
        if (grant?.team !== team || (personId !== undefined && grant.person?.id !== personId)) continue;
        end(
          new RpcError(
            "unauthorized",
            personId === undefined ? "this team was removed" : "you were removed from this team",
          ),
        );
      }
    }
  }

  /**
   * Ends the exchanges whose credential has ended, or was removed by another process. If that is looked for all the time,
   * without a change, those that are being granted are left to the next look: a lookup that takes longer than the time between
   * them would never end.
   */
  async endRemoved(db: Kysely<Tables>, nowMs: number, isChange = true): Promise<void> {
    if (isChange) this.#removals++;
    // Those that were granted nothing yet look their credentials up themselves, after this, and say what is wrong with them.
    const before = [...this.#byHash].map(
      ([hash, open]) => [hash, [...open].filter(({ grant }) => grant !== undefined)] as const,
    );
    const hashes = before.filter(([, open]) => open.length > 0).map(([hash]) => hash);
    const left = await credentialsLeft(db, hashes, nowMs);
    for (const [hash, open] of before) {
      const user = left.get(hash);
      for (const { grant, end } of open) {
        if (user === undefined) end(new RpcError("unauthorized", "this token or session has ended"));
        else if (grant?.person !== undefined && grant.team !== "" && !user.teams.has(grant.team))
          end(new RpcError("unauthorized", "you were removed from this team"));
      }
    }
  }
}
