import { plainGroup } from "../alerts/group.ts";
import { RpcError } from "../error.ts";
import { retryDelivery } from "../records/deliveries.ts";
import { findDeliveries } from "../records/delivery-list.ts";
import { getProject } from "../records/projects.ts";
import { changeRecords, type Handlers, projectOf } from "./call.ts";
import { pageOf, readCursor } from "./page-cursor.ts";

const DEFAULT_LIMIT = 100;

export const deliveries: Handlers<"get_deliveries" | "retry_delivery"> = {
  async get_deliveries({ records: { db } }, input, call) {
    const { project_id, alert_id, notification_id, status, limit = DEFAULT_LIMIT, cursor } = input;
    const project = projectOf(call, project_id);
    await getProject(db, project);
    const filter = { alertId: alert_id, notificationId: notification_id, status };
    const deliveries = await findDeliveries(db, project, { ...filter, limit: limit + 1, after: readCursor(cursor) });
    const { rows, ...more } = pageOf(deliveries, limit, ({ created_at: at, id }) => ({ at, id }));
    return { deliveries: rows.map((row) => ({ ...row, group: plainGroup(row.group) })), ...more };
  },

  async retry_delivery(service, { project_id, delivery_id }, call) {
    let target: string | undefined;
    await changeRecords(service, call, async (db, now) => {
      target = await retryDelivery(db, projectOf(call, project_id), delivery_id, now);
      if (target === undefined)
        throw new RpcError("not_found", "this project has no such delivery that waits or was given up");
      return { projectId: project_id, targetId: delivery_id };
    });
    service.deliveries.kick(target);
    return undefined;
  },
};
