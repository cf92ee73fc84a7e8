import type { Alert } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { say } from "../kit/toasts.tsx";
import { visibleText } from "../kit/visible.ts";

/** Mutes an alert, or has it notify again, and says what that means. `undo` does the opposite. */
export async function setMuted({ id, project_id, name }: Alert, muted: boolean, undo: () => void): Promise<void> {
  await call("update_alert", { alert: { id, project_id, muted } });
  say(
    visibleText(
      muted
        ? `Muted “${name}”: it is evaluated, but nobody is notified`
        : `Unmuted “${name}”: it notifies again, also of what is triggered now`,
    ),
    undo,
  );
}
