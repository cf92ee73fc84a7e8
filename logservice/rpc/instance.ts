import { instanceId } from "../records/instance.ts";
import type { Handlers } from "./call.ts";

export const instance: Handlers<"get_instance_config"> = {
  async get_instance_config({ records, region }, _, { grant }) {
    return { config: { project_id: (await instanceId(records.db)) ?? "", region, team_id: grant.team } };
  },
};
