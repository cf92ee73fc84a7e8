import type { Kysely } from "kysely";
import type { Scope, Token } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { isOfStorage } from "../records/away.ts";
import { compiledQuery } from "../records/compiled.ts";
import { personIn } from "../records/people.ts";
import { RecordsReplaced } from "../records/replaced.ts";
import { newId } from "../records/row.ts";
import { changeToken, isWholeToken, tokenSum } from "../records/row-sums.ts";
import type { AccessTokenKind, Tables, TokenRow } from "../records/tables.ts";
import type { Grant } from "./grant.ts";
import { ROLE_SCOPES } from "./roles.ts";
import { newToken, tokenHash } from "./token.ts";

type Db = Kysely<Tables>;

/** The last use of a token is stored to the minute, since each write is synced to the disk. */
const LAST_USED_STEP_MS = 60_000;
/** A token of the command line ends when it was not used for this long. */
const IDLE_MS = 90 * 24 * 3_600_000;

/**
 * The grant of the token with this hash; undefined if there is none, or it has ended. Throws `unauthorized` if its row is
 * damaged.
 */
export async function grantOf(db: Db, hash: string, nowMs: number): Promise<Grant | undefined> {
  const row = await rowWithHash(db, hash);
  if (row === undefined) return undefined;
  if (!isWholeToken(row))
    throw new RpcError("unauthorized", `the record of the token ${row.id} is damaged: remove it and make another one`);
  if (hasEnded(row, nowMs)) return undefined;
  const grant = await grantOfRow(db, row);
  if (grant !== undefined) await noteUse(db, row, nowMs);
  return grant;
}

/** The row of the token with this hash, if it is whole and has not ended. */
export async function tokenRowOf(db: Db, hash: string, nowMs: number): Promise<TokenRow | undefined> {
  const row = await rowWithHash(db, hash);
  return row === undefined || !isWholeToken(row) || hasEnded(row, nowMs) ? undefined : row;
}

const rowWithHash = compiledQuery((db, hash: string) => db.selectFrom("tokens").selectAll().where("hash", "=", hash));

/** Whether there is a token with this hash whose time is over. */
export async function isExpired(db: Db, hash: string, nowMs: number): Promise<boolean> {
  const row = await db.selectFrom("tokens").select("expires_at").where("hash", "=", hash).executeTakeFirst();
  return row !== undefined && row.expires_at !== null && Date.parse(row.expires_at) <= nowMs;
}

/** When the token ends that a request is made with; null if it does not, or is none. */
export async function expiryOf(db: Db, { id, kind }: Pick<Grant, "id" | "kind">): Promise<string | null> {
  if (kind === "session") return null;
  return (
    (await db.selectFrom("tokens").select("expires_at").where("id", "=", id).executeTakeFirst())?.expires_at ?? null
  );
}

async function grantOfRow(
  db: Db,
  { id, kind, team_id: team, created_by, scopes, project_id, stage }: TokenRow,
): Promise<Grant | undefined> {
  const by = created_by;
  if (kind !== "command") {
    const own = { id, kind, team, actor: id, person: undefined, by, scopes: new Set(JSON.parse(scopes) as Scope[]) };
    return kind === "app" ? { ...own, app: { project: project_id, stage } } : own;
  }
  const person = await personIn(db, created_by, team);
  if (person?.role === undefined) return undefined;
  return { id, kind, team, actor: person.email, person, by, scopes: ROLE_SCOPES[person.role] };
}

function hasEnded({ kind, expires_at, last_used_at, created_at }: TokenRow, nowMs: number): boolean {
  if (expires_at !== null && Date.parse(expires_at) <= nowMs) return true;
  return kind === "command" && nowMs - Date.parse(last_used_at ?? created_at) > IDLE_MS;
}

async function noteUse(db: Db, row: TokenRow, nowMs: number): Promise<void> {
  const { kind, last_used_at } = row;
  const lastMs = last_used_at === null ? Number.NEGATIVE_INFINITY : Date.parse(last_used_at);
  const [now, last] = [nowMs, lastMs].map((ms) => Math.floor(ms / LAST_USED_STEP_MS));
  // An earlier time counts, too: otherwise one from a clock that was ahead would stay until that time. Not where it ends the
  // token: a clock may be back for a moment.
  if (now === last || (kind === "command" && now! < last!)) return;
  const usedAt = new Date(nowMs).toISOString();
  await unlessBusy(changeToken(db, row, { last_used_at: usedAt }));
}

/** Waits for a write that may fail, as on a full disk or during a long backup: no reason to refuse a request that reads. */
export async function unlessBusy(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!isUnwritable(error)) throw error;
  });
}

/** Whether a write failed for want of the disk or the database, or because the records have been replaced. */
export const isUnwritable = (error: unknown): boolean => error instanceof RecordsReplaced || isOfStorage(error);

/** The API tokens of a team and those of deployed apps, oldest first. */
export async function listTokens(db: Db, team: string): Promise<Token[]> {
  const makers = await emailsOfUsers(db);
  return (await listRows(db, ["api", "app"], team)).map((row) => tokenOf(row, makers));
}

/** The API tokens of all teams and those of deployed apps, each with its team's id, oldest first. */
export async function listTokensOfAll(db: Db): Promise<(Token & { readonly team: string })[]> {
  const makers = await emailsOfUsers(db);
  return (await listRows(db, ["api", "app"])).map((row) => ({ ...tokenOf(row, makers), team: row.team_id }));
}

/** The rows of the tokens of these kinds, oldest first. */
export async function listRows(db: Db, kinds: readonly AccessTokenKind[], team?: string): Promise<TokenRow[]> {
  let query = db.selectFrom("tokens").selectAll().where("kind", "in", kinds);
  if (team !== undefined) query = query.where("team_id", "=", team);
  return query.orderBy("created_at").orderBy("id").execute();
}

export interface NewToken {
  readonly team: string;
  readonly kind?: AccessTokenKind;
  /** The id of the person that makes it, or stands for the token that it is made with. */
  readonly by?: string;
  readonly description?: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: string;
  /** The token itself; a random one unless told otherwise. */
  readonly secret?: string;
  /** Whether its person came in by a link that another one handed over. */
  readonly isUnproven?: boolean;
  /** The bounds of a token of kind `app`. */
  readonly app?: { readonly project: string; readonly stage: string };
}

/** Makes a token. Returns the secret, which is stored nowhere, and the public id. */
export async function addToken(
  db: Db,
  {
    team,
    kind = "api",
    by = "",
    description = "",
    scopes,
    expiresAt,
    secret = newToken(),
    isUnproven = false,
    app = { project: "", stage: "" },
  }: NewToken,
  now: string,
): Promise<{ readonly secret: string; readonly id: string }> {
  const id = `tok_${newId()}`;
  const row = {
    id,
    hash: tokenHash(secret),
    ...{ team_id: team, kind, created_by: by, description },
    scopes: JSON.stringify([...new Set(scopes)]),
    created_at: now,
    last_used_at: null,
    expires_at: expiresAt ?? null,
    unproven: Number(isUnproven),
    ...{ project_id: app.project, stage: app.stage },
  };
  await db
    .insertInto("tokens")
    .values({ ...row, sum: tokenSum(row) })
    .execute();
  return { secret, id };
}

export interface TokenFilter {
  /** Any kind and any team unless told otherwise. */
  readonly kinds?: readonly AccessTokenKind[];
  readonly team?: string;
}

/** Removes a token by its public id or the secret. Returns its row. */
export async function removeToken(db: Db, idOrSecret: string, { kinds, team }: TokenFilter = {}): Promise<TokenRow> {
  let query = db
    .selectFrom("tokens")
    .selectAll()
    .where((where) => where.or([where("id", "=", idOrSecret), where("hash", "=", tokenHash(idOrSecret))]));
  if (kinds !== undefined) query = query.where("kind", "in", kinds);
  if (team !== undefined) query = query.where("team_id", "=", team);
  const row = await query.executeTakeFirst();
  // The message does not repeat what was sent: it may be a secret.
  if (row === undefined) throw new RpcError("not_found", "there is no such token");
  await db.deleteFrom("tokens").where("id", "=", row.id).execute();
  return row;
}

function tokenOf(row: TokenRow, makers: ReadonlyMap<string, string>): Token {
  const { id, description, project_id, stage, created_at, last_used_at, expires_at } = row;
  const created_by = makers.get(row.created_by) ?? "";
  if (!isWholeToken(row)) {
    const said = `damaged, and refused: remove it and make another one (${description})`;
    return {
      id,
      description: said,
      scopes: [],
      project_id: "",
      stage: "",
      created_at: "1970-01-01T00:00:00.000Z",
      created_by,
      last_used_at: null,
      expires_at: null,
    };
  }
  const scopes = JSON.parse(row.scopes) as Scope[];
  return { id, description, scopes, project_id, stage, created_at, created_by, last_used_at, expires_at };
}

/** The addresses of all people by their ids, those of removed members, too. */
export async function emailsOfUsers(db: Db): Promise<ReadonlyMap<string, string>> {
  const users = await db.selectFrom("users").select(["id", "email"]).execute();
  return new Map(users.map(({ id, email }) => [id, email]));
}

/**
 * Throws `forbidden` if a token was made by a person who is not in its team any more: such a token makes no others, which
 * would outlive it.
 */
export async function refuseOfRemoved(db: Db, { by, person, team }: Grant): Promise<void> {
  if (person !== undefined || by === "" || (await personIn(db, by, team))?.role !== undefined) return;
  throw new RpcError("forbidden", "whoever made this token is not in the team any more: it cannot make others");
}
