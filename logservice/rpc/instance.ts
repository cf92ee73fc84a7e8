import { instanceId } from "../records/instance.ts";
import type { Handlers } from "./call.ts";

/** There is one team until people sign in. */
const TEAM_ID = "owner";

export const instance: Handlers<"get_instance_config"> = {
  async get_instance_config({ records, region }) {
    return { config: { project_id: (await instanceId(records.db)) ?? "", region, team_id: TEAM_ID } };
  },
};
