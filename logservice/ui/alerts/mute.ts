import type { Alert } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { say } from "../kit/toasts.tsx";
import { visibleText } from "../kit/visible.ts";

/** Mutes an alert, or has it notify again, and says so. `undone` is called if the person takes it back. */
export async function setMuted(
  { id, project_id, name }: Pick<Alert, "id" | "project_id" | "name">,
  muted: boolean,
  undone: () => void,
): Promise<void> {
  const set = (muted: boolean) => call("update_alert", { alert: { id, project_id, muted } });
  await set(muted);
  say(`${muted ? "Muted" : "Unmuted"} “${visibleText(name)}”`, () =>
    set(!muted).then(undone, () => say("It could not be undone: try again on the page of the alert")),
  );
}
