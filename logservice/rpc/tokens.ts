import { addToken, listTokens, removeToken } from "../access/tokens.ts";
import { RpcError } from "../error.ts";
import { changing, type Handlers, lacking } from "./call.ts";

export const tokens: Handlers<"get_tokens" | "add_token" | "remove_token"> = {
  async get_tokens({ records }) {
    return { tokens: await listTokens(records.db) };
  },

  async add_token(service, { token }, call) {
    const beyond = lacking(call.grant, token.scopes);
    if (beyond.length > 0) {
      throw new RpcError("forbidden", `this token lacks ${beyond.join(", ")} itself and cannot grant it`);
    }
    let secret = "";
    await changing(service, call, "add_token", async (db, now) => {
      const added = await addToken(db, token, now);
      secret = added.secret;
      return { targetId: added.id };
    });
    return { id: secret };
  },

  async remove_token(service, { token_id }, call) {
    let removed = "";
    await changing(service, call, "remove_token", async (db) => {
      const { id, hash } = await removeToken(db, token_id);
      removed = hash;
      return { targetId: id };
    });
    service.exchanges.end(removed);
    return undefined;
  },
};
