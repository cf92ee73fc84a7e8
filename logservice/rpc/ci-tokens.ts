import { addToken, emailsOfUsers, listRows, removeToken } from "../access/tokens.ts";
import { refuseMore } from "../records/team-limits.ts";
import { changeRecords, type Handlers } from "./call.ts";

/** A token in the settings of a build server is forgotten there: it ends by itself. */
const LASTS_MS = 365 * 24 * 3_600_000;
/** The scopes that a build needs: to send its events to projects that are there. */
const SCOPES = ["projects:read", "events:write"] as const;
/** Those of a build that brings searches, alerts and notifications to what its tool.json says, besides. */
const APPLY_SCOPES = [
  ...(["searches:read", "searches:write", "alerts:read", "alerts:write"] as const),
  ...(["notifications:read", "notifications:write"] as const),
];

export const ciTokens: Handlers<"get_ci_tokens" | "add_ci_token" | "remove_ci_token"> = {
  async get_ci_tokens({ records: { db } }, _, { grant }) {
    const users = await emailsOfUsers(db);
    const tokens = (await listRows(db, ["ci"], grant.team)).map((row) => ({
      id: row.id,
      name: row.description,
      created_at: row.created_at,
      created_by: users.get(row.created_by) ?? "",
      last_used_at: row.last_used_at,
      expires_at: row.expires_at!,
      applies: row.scopes.includes("alerts:write"),
    }));
    return { tokens };
  },

  async add_ci_token(service, { name, applies = false }, call) {
    const { team, person } = call.grant;
    const expiresAt = new Date(service.nowMs() + LASTS_MS).toISOString();
    const scopes = applies ? [...SCOPES, ...APPLY_SCOPES] : SCOPES;
    let secret = "";
    const { targetId: id } = await changeRecords(service, call, async (db, now) => {
      const token = { team, kind: "ci", by: person!.id, description: name, scopes, expiresAt } as const;
      await refuseMore(db, team, "tokens", service.teamLimits);
      const addedToken = await addToken(db, token, now);
      secret = addedToken.secret;
      return { targetId: addedToken.id, detail: name };
    });
    return { id, token: secret, expires_at: expiresAt };
  },

  async remove_ci_token(service, { token_id }, call) {
    let removed = "";
    await changeRecords(service, call, async (db) => {
      const { id, hash, description } = await removeToken(db, token_id, { kinds: ["ci"], team: call.grant.team });
      removed = hash;
      return { targetId: id, detail: description };
    });
    service.exchanges.end(removed);
    return undefined;
  },
};
