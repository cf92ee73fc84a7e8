import { isInstallationOwner } from "../access/installation-owner.ts";
import { instanceId } from "../records/instance.ts";
import type { Handlers } from "./call.ts";

export const instance: Handlers<"get_instance_config"> = {
  async get_instance_config({ records, region }, _, { grant }) {
    const disk_alerts = await isInstallationOwner(records.db, grant);
    return { config: { project_id: (await instanceId(records.db)) ?? "", region, team_id: grant.team, disk_alerts } };
  },
};
