import { parseDuration } from "../../grammar/units/duration.ts";
import type { LogAlert } from "../../schema/index.ts";
import type { AlertInput } from "../../schema/rpc.generated.ts";

/** An alert of tool.json as the log service takes it. Its notification is named by `notificationId`. */
export function alertInput(
  name: string,
  alert: LogAlert,
  { project, notificationId }: { readonly project: string; readonly notificationId: string },
): AlertInput {
  const { notify: _, tests: _tests, interval, repeat, severity = "error", ...members } = alert;
  return {
    ...members,
    ...{ project_id: project, name, severity, notification_id: notificationId },
    interval: minutesOf(interval) ?? DEFAULT_INTERVAL,
    ...(repeat !== undefined && { repeat: minutesOf(repeat) ?? 0 }),
  };
}

/** Minutes, as tool.schema.json has it. */
const DEFAULT_INTERVAL = 5;

function minutesOf(text: string | undefined): number | undefined {
  const duration = text === undefined ? undefined : parseDuration(text);
  return duration?.ok ? duration.value / 60_000 : undefined;
}
