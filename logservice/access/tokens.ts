import type { Kysely } from "kysely";
import type { Scope, Token } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { newId } from "../records/row.ts";
import type { Tables, TokenRow } from "../records/tables.ts";
import { newToken, tokenHash } from "./token.ts";

/** What a request may do. */
export interface Grant {
  /** The public id of its token. */
  readonly id: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** When a token was used is written down to the minute: each write is synced to the disk. */
const LAST_USED_STEP_MS = 60_000;

/** What the token of this hash may do; undefined if there is none. */
export async function grantOf(db: Kysely<Tables>, hash: string, nowMs: number): Promise<Grant | undefined> {
  const row = await db.selectFrom("tokens").selectAll().where("hash", "=", hash).executeTakeFirst();
  if (row === undefined) return undefined;
  const lastMs = row.last_used_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.last_used_at);
  // Earlier, too: a time of a clock that was ahead would stand until that comes.
  if (Math.floor(nowMs / LAST_USED_STEP_MS) !== Math.floor(lastMs / LAST_USED_STEP_MS)) {
    const last_used_at = new Date(nowMs).toISOString();
    // What cannot be written, on a full disk or beside a long backup, is no reason to refuse the request.
    await db
      .updateTable("tokens")
      .set({ last_used_at })
      .where("id", "=", row.id)
      .execute()
      .catch((error: { code?: unknown }) => {
        if (!/^SQLITE_(FULL|BUSY|IOERR)/.test(String(error.code))) throw error;
      });
  }
  return { id: row.id, scopes: new Set(JSON.parse(row.scopes)) };
}

/** The tokens by public id, oldest first. */
export async function listTokens(db: Kysely<Tables>): Promise<Token[]> {
  const rows = await db.selectFrom("tokens").selectAll().orderBy("created_at").orderBy("id").execute();
  return rows.map(tokenOf);
}

/** Makes a token; answers the secret, which is kept nowhere, and the public id. */
export async function addToken(
  db: Kysely<Tables>,
  token: { readonly description?: string; readonly scopes: readonly Scope[] },
  now: string,
): Promise<{ readonly secret: string; readonly id: string }> {
  const secret = newToken();
  const id = `tok_${newId()}`;
  await db
    .insertInto("tokens")
    .values({
      id,
      hash: tokenHash(secret),
      description: token.description ?? "",
      scopes: JSON.stringify([...new Set(token.scopes)]),
      created_at: now,
      last_used_at: null,
    })
    .execute();
  return { secret, id };
}

/** Removes a token by its public id or itself; answers its public id and its hash. */
export async function removeToken(db: Kysely<Tables>, idOrSecret: string): Promise<Pick<TokenRow, "id" | "hash">> {
  const row = await db
    .selectFrom("tokens")
    .select(["id", "hash"])
    .where((where) => where.or([where("id", "=", idOrSecret), where("hash", "=", tokenHash(idOrSecret))]))
    .executeTakeFirst();
  // What was sent may be a secret, so that it is not said again.
  if (row === undefined) throw new RpcError("not_found", "there is no such token");
  await db.deleteFrom("tokens").where("id", "=", row.id).execute();
  return row;
}

function tokenOf({ id, description, scopes, created_at, last_used_at }: TokenRow): Token {
  return { id, description, scopes: JSON.parse(scopes), created_at, last_used_at };
}
