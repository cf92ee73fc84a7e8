import { removeCredential } from "../access/remove-credential.ts";
import {
  type Asker,
  beginSignIn,
  confirmSignIn,
  denySignIn,
  POLL_SECONDS,
  signInOfAsker,
  tokenOfSignIn,
} from "../account/sign-in.ts";
import { RpcError } from "../error.ts";
import { teamsOf } from "../records/people.ts";
import type { Handlers } from "./call.ts";

export const account: Handlers<"start_sign_in" | "poll_sign_in" | "confirm_sign_in" | "sign_out" | "get_account"> = {
  async start_sign_in(service, { email, team_id = "", device }, { address, device: agent }) {
    const asker: Asker = { kind: "command", device: device || agent, address };
    const { secret, row } = await beginSignIn(service, { email, team: team_id }, asker);
    const { code, expires_at } = row;
    return { secret, code, expires_at, interval: POLL_SECONDS, mailed: service.account.mails !== undefined };
  },

  async poll_sign_in(service, { secret }) {
    const row = await signInOfAsker(service, secret);
    if (row?.kind !== "command") return { status: "ended" };
    if (row.status === "waiting") return { status: row.tries_left > 0 ? "waiting" : "ended" };
    const entered = await tokenOfSignIn(service, row, secret);
    if (entered === undefined) return { status: "ended" };
    const { token, team } = entered;
    return {
      status: "confirmed",
      email: entered.user.email,
      teams: [...entered.teams],
      ...(token !== undefined && team !== undefined && { token, team_id: team }),
    };
  },

  async confirm_sign_in(service, { link, code = "", deny = false }, { address }) {
    if (!deny && code === "") throw new RpcError("invalid", "code: is required");
    const row = deny ? await denySignIn(service, link) : await confirmSignIn(service, link, code, address);
    return { email: row.email };
  },

  async sign_out(service, _, { grant, address }) {
    const at = new Date(service.nowMs()).toISOString();
    const hash = await removeCredential(service.records.db, grant, { at, address });
    if (hash !== undefined) service.exchanges.end(hash, "you signed out");
    return undefined;
  },

  async get_account({ records }, _, { grant }) {
    const { kind, id, team, person, scopes } = grant;
    const teams = person === undefined ? [] : await teamsOf(records.db, person.id);
    return {
      account: {
        kind: kind as Exclude<typeof kind, "nobody">,
        id,
        email: person?.email ?? "",
        team_id: team,
        role: person?.role ?? "",
        scopes: [...scopes],
        teams,
      },
    };
  },
};
