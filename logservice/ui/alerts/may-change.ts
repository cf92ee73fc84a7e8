import type { Alert } from "../../../schema/rpc.generated.ts";
import { mayDo } from "../data/session.ts";

/** Whether the person may change an alert here: one on the disk is for owners, and that of an app is in its tool.json. */
export const mayChangeAlert = (alert: Pick<Alert, "kind" | "managed_by">) =>
  alert.managed_by === "" && mayReleaseAlert(alert);

/** Whether the person may change an alert once no app has it in its tool.json. */
export const mayReleaseAlert = ({ kind }: Pick<Alert, "kind">) =>
  mayDo("alerts:write") && (kind === "events" || mayDo("team:owner"));
