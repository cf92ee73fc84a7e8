import { useState } from "preact/hooks";
import { call } from "../data/call.ts";
import { Code } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { useSending } from "../kit/sending.ts";

export interface SecretDialogProps {
  readonly projectId: string;
  readonly notificationId: string;
  onClose(): void;
}

/** Makes a secret that signs what is posted to a webhook, and shows it once. */
export function SecretDialog({ projectId, notificationId, onClose }: SecretDialogProps) {
  const [secret, setSecret] = useState("");
  const sending = useSending();
  if (secret !== "")
    return (
      <Dialog title="The signing secret" onClose={onClose}>
        <p class="lead">
          It is shown here only now. Give it to the program that takes the webhook: each request has a header{" "}
          <code>X-Signature: t=…,v1=…</code>, and one <code>v1</code> is the HMAC-SHA256, in hex, of <code>t</code>, a
          dot and the body, with this secret. Refuse requests whose <code>t</code> is more than a few minutes old.
        </p>
        <Code text={secret} />
        <div class="row end spaced">
          <button type="button" class="button primary" onClick={onClose}>
            I have kept it
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Make a new signing secret?" onClose={onClose}>
      <p class="lead">
        What is posted is signed with it from now on. An earlier secret signs, too, for 24 hours: in that time, give the
        new one to your program.
      </p>
      {sending.problem && <p class="note error">{sending.problem}</p>}
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          Keep it as it is
        </button>
        <button
          type="button"
          class="button primary"
          disabled={sending.isSending}
          onClick={() =>
            void sending.send(async () => {
              const input = { project_id: projectId, notification_id: notificationId };
              setSecret((await call("rotate_webhook_secret", input)).secret);
            })
          }
        >
          Make a new secret
        </button>
      </div>
    </Dialog>
  );
}
