import { call } from "../data/call.ts";
import { say } from "../kit/toasts.tsx";
import { membersOf, type NotificationDraft } from "./draft.ts";

/** Makes a notification, and the secret that signs what is posted to a webhook: "" for other kinds, and if that failed. */
export async function makeNotification(
  projectId: string,
  draft: NotificationDraft,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { id } = await call("add_notification", { notification: { ...membersOf(draft), project_id: projectId } });
  if (draft.type !== "webhook") return { id, secret: "" };
  try {
    return { id, secret: await makeSecret(projectId, id) };
  } catch {
    // The notification is there, and its page says that it is not signed yet.
    say("The notification was created, but not its signing secret: create it on the page of the notification");
    return { id, secret: "" };
  }
}

/** Makes another secret for a webhook. */
export async function makeSecret(projectId: string, id: string): Promise<string> {
  return (await call("rotate_webhook_secret", { project_id: projectId, notification_id: id })).secret;
}
