import { call } from "../data/call.ts";
import { say } from "../kit/toasts.tsx";

/** Mutes an alert, or has it tell again, and says what that means. */
export async function setMuted(project_id: string, id: string, muted: boolean): Promise<void> {
  await call("update_alert", { alert: { id, project_id, muted } });
  say(muted ? "Muted: it is evaluated, and tells nobody" : "Unmuted: what is triggered now is told");
}
