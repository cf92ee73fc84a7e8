import type { Kysely } from "kysely";
import type { Scope, TokenInput } from "../../schema/rpc.generated.ts";
import type { Grant } from "../access/grant.ts";
import { addToken, expiryOf, listTokens, refuseOfRemoved, removeToken } from "../access/tokens.ts";
import { RpcError } from "../error.ts";
import { eventsKeyOf } from "../records/projects.ts";
import { isWholeToken } from "../records/row-sums.ts";
import type { Tables, TokenRow } from "../records/tables.ts";
import { refuseMore } from "../records/team-limits.ts";
import { type Call, changeRecords, type Handlers, missingScopes } from "./call.ts";
import { isZeroTime } from "./read-input.ts";
import { readTimeInput } from "./read-range.ts";

export const tokens: Handlers<"get_tokens" | "add_token" | "remove_token"> = {
  async get_tokens({ records }, _, { grant }) {
    return { tokens: await listTokens(records.db, grant.team) };
  },

  async add_token(service, { token }, call) {
    const beyond = missingScopes(call.grant, token.scopes);
    if (beyond.length > 0) {
      throw new RpcError("forbidden", `this token lacks ${beyond.join(", ")} itself and cannot grant it`);
    }
    const { project_id: project = "" } = token;
    if (project !== "") await eventsKeyOf(service.records.db, { team_id: call.grant.team, id: project });
    const app = readApp(token);
    const expiresAt = readExpiry(token.expires_at, service.nowMs());
    let secret = "";
    await changeRecords(service, call, async (db, now) => {
      await refuseLater(db, call, expiresAt);
      // Also what a token of theirs makes is found when a person is removed.
      const { team, by } = call.grant;
      await refuseOfRemoved(db, call.grant);
      await refuseMore(db, team, "tokens", service.teamLimits);
      // It may have been removed meanwhile.
      if (app !== undefined) await eventsKeyOf(db, { team_id: team, id: app.project });
      const { description = "", scopes } = token;
      const own = { team, by, description, scopes, ...(expiresAt !== undefined && { expiresAt }) };
      const addedToken = await addToken(db, app === undefined ? own : { ...own, kind: "app", app }, now);
      secret = addedToken.secret;
      return { targetId: addedToken.id, detail: token.description ?? "" };
    });
    return { id: secret };
  },

  async remove_token(service, { token_id }, call) {
    let removed = "";
    await changeRecords(service, call, async (db) => {
      const row = await removeToken(db, token_id, { kinds: ["api", "app"], team: call.grant.team });
      const { id, hash, description } = row;
      // Whoever has the secret of a token could use it, so may end it, too.
      if (token_id === id) refuseWider(call, row);
      removed = hash;
      return { targetId: id, detail: description };
    });
    service.exchanges.end(removed);
    return undefined;
  },
};

/** The project and stage of the token of a deployed app; undefined for one of all projects. Throws `invalid`. */
function readApp({ project_id: project = "", stage = "", scopes }: TokenInput): Grant["app"] {
  if (project === "") {
    if (stage === "") return undefined;
    throw new RpcError("invalid", "token.stage: needs project_id, too: only the token of an app has a stage");
  }
  if (scopes.some((scope) => scope !== "events:write")) {
    throw new RpcError("invalid", "token.scopes: must be events:write alone with project_id");
  }
  return { project, stage };
}

/** Throws `forbidden` for a token that may do more than the credential: it could not make it again, and others rely on it. */
function refuseWider({ grant }: Call, row: TokenRow): void {
  // A damaged row is refused everywhere, and may be removed by all that remove tokens.
  const beyond = isWholeToken(row) ? missingScopes(grant, JSON.parse(row.scopes) as Scope[]) : [];
  if (beyond.length === 0) return;
  throw new RpcError(
    "forbidden",
    `this token lacks ${beyond.join(", ")}, and cannot remove one that has more than itself`,
  );
}

/** The end of a token in the form that it is stored in; undefined if it has none. Throws `invalid` if it is over. */
function readExpiry(text: string | null | undefined, nowMs: number): string | undefined {
  if (text === null || text === undefined || text === "" || isZeroTime(text)) return undefined;
  const atMs = readTimeInput(text, "token.expires_at");
  if (atMs <= nowMs) throw new RpcError("invalid", "token.expires_at: must be later than now");
  return new Date(atMs).toISOString();
}

/** Throws `invalid` if a token would outlive the one that it is made with. */
async function refuseLater(db: Kysely<Tables>, { grant }: Call, expiresAt: string | undefined): Promise<void> {
  const last = await expiryOf(db, grant);
  if (last === null || (expiresAt !== undefined && expiresAt <= last)) return;
  throw new RpcError(
    "invalid",
    `token.expires_at: must be at most ${last}, when the token ends that this one is made with`,
  );
}
