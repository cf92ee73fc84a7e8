import { addToken, listTokens, refuseOfRemoved, removeToken } from "../access/tokens.ts";
import { RpcError } from "../error.ts";
import { refuseMore } from "../records/team-limits.ts";
import { changeRecords, type Handlers, missingScopes } from "./call.ts";

export const tokens: Handlers<"get_tokens" | "add_token" | "remove_token"> = {
  async get_tokens({ records }, _, { grant }) {
    return { tokens: await listTokens(records.db, grant.team) };
  },

  async add_token(service, { token }, call) {
    const beyond = missingScopes(call.grant, token.scopes);
    if (beyond.length > 0) {
      throw new RpcError("forbidden", `this token lacks ${beyond.join(", ")} itself and cannot grant it`);
    }
    let secret = "";
    await changeRecords(service, call, async (db, now) => {
      // Also what a token of theirs makes is found when a person is removed.
      const { team, by } = call.grant;
      await refuseOfRemoved(db, call.grant);
      await refuseMore(db, team, "tokens", service.teamLimits);
      const addedToken = await addToken(db, { ...token, team, by }, now);
      secret = addedToken.secret;
      return { targetId: addedToken.id, detail: token.description ?? "" };
    });
    return { id: secret };
  },

  async remove_token(service, { token_id }, call) {
    let removed = "";
    await changeRecords(service, call, async (db) => {
      const { id, hash, description } = await removeToken(db, token_id, { kind: "api", team: call.grant.team });
      removed = hash;
      return { targetId: id, detail: description };
    });
    service.exchanges.end(removed);
    return undefined;
  },
};
