import type { Alert } from "../../../schema/rpc.generated.ts";
import { mayDo } from "../data/session.ts";

/** Whether the person may change an alert: one on the disk is for owners. */
export const mayChangeAlert = ({ kind }: Pick<Alert, "kind">) =>
  mayDo("alerts:write") && (kind === "events" || mayDo("team:owner"));
