import type { AlertInput, Notification } from "../../../schema/rpc.generated.ts";

/**
 * An alert that exists only for a test of a notification: the service sends tests of alerts, stored or not. It counts all
 * events, so that the message shows some.
 */
export function testAlertOf({ id, project_id, name }: Notification): AlertInput {
  return {
    ...{ project_id, notification_id: id!, name: `Test of ${name}`.slice(0, 255), description: "" },
    ...{ query: "| count", severity: "info", operator: ">=", threshold: 0, interval: 5, limit: 3 },
  };
}
