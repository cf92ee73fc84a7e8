import type { Alert } from "../../../schema/rpc.generated.ts";
import { mayDo } from "../data/session.ts";

/** Whether the person may change an alert here: one on the disk is for owners, and that of an app is in its tool.json. */
export const mayChangeAlert = ({ kind, managed_by }: Pick<Alert, "kind" | "managed_by">) =>
  managed_by === "" && mayDo("alerts:write") && (kind === "events" || mayDo("team:owner"));
