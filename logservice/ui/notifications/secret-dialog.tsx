import { useState } from "preact/hooks";
import { Dialog } from "../kit/dialog.tsx";
import { DialogEnd } from "../kit/dialog-end.tsx";
import { useSending } from "../kit/sending.ts";
import { OneTimeSecret } from "../kit/shown-once.tsx";
import { Unsaved } from "../kit/unsaved.tsx";
import { makeSecret } from "./make.ts";

export interface SecretDialogProps {
  readonly projectId: string;
  readonly notificationId: string;
  onClose(): void;
}

/** Makes another secret that signs what is posted to a webhook, and shows it once. */
export function SecretDialog({ projectId, notificationId, onClose }: SecretDialogProps) {
  const [secret, setSecret] = useState("");
  const sending = useSending();
  if (secret !== "") return <NewSecret secret={secret} onClose={onClose} />;
  return (
    <Dialog title="Make a new signing secret?" onClose={onClose}>
      <p class="lead">
        What is posted is signed with it from now on. The secret of before signs, too, for 24 hours: in that time, give
        the new one to your program.
      </p>
      <Unsaved isChanged={false} isSending={sending.isSending} />
      <DialogEnd
        sending={sending}
        onClose={onClose}
        cancel="Keep it as it is"
        onPress={() =>
          void sending.send(async () => {
            setSecret(await makeSecret(projectId, notificationId));
          })
        }
      >
        Make a new secret
      </DialogEnd>
    </Dialog>
  );
}

/** A secret that was just made. */
export function NewSecret({ secret, onClose }: { readonly secret: string; onClose(): void }) {
  return (
    <OneTimeSecret title="The signing secret" text={secret} onClose={onClose}>
      Copy it now: it will not be shown again. Give it to the program that takes the webhook: each request has a header{" "}
      <code>X-Signature: t=…,v1=…</code>, and one <code>v1</code> is the HMAC-SHA256, in hex, of <code>t</code>, a dot
      and the body, with this secret. Refuse requests whose <code>t</code> is more than a few minutes old.
    </OneTimeSecret>
  );
}
