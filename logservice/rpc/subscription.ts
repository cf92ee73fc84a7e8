import { RpcError } from "../error.ts";
import type { Handlers } from "./call.ts";

const NEEDS_NONE = "this service needs no subscription: everybody has Pro";

export const subscription: Handlers<
  "get_subscription" | "add_subscription" | "change_card" | "remove_subscription"
> = {
  async get_subscription(_, __, { grant }) {
    if (grant.team === "")
      throw new RpcError("invalid", "X-Team: is required: you are in several teams or in none; get_teams lists them");
    return { team_id: grant.team, provider: "none", status: "none", edition: "pro" };
  },

  async add_subscription() {
    throw new RpcError("conflict", NEEDS_NONE);
  },

  async change_card() {
    throw new RpcError("conflict", NEEDS_NONE);
  },

  async remove_subscription() {
    throw new RpcError("conflict", NEEDS_NONE);
  },
};
