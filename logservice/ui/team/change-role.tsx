import { useState } from "preact/hooks";
import type { Member, Role } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { Dialog } from "../kit/dialog.tsx";
import { DialogEnd } from "../kit/dialog-end.tsx";
import { useSending } from "../kit/sending.ts";
import { Text } from "../kit/text.tsx";
import type { HandedLink } from "./link-dialog.tsx";
import { withArticle } from "./roles.ts";

export interface ChangeRoleProps {
  readonly member: Member;
  readonly role: Role;
  readonly isSelf: boolean;
  /** With the ids of the person's tokens that may do more than the new role. */
  onChanged(tokens: readonly string[]): void;
  /** A link for the person to sign in again. */
  onLink(link: HandedLink): void;
  onClose(): void;
}

/**
 * Changes a role on a service that sends no mails: whoever came in by a link that somebody handed over is signed out by it,
 * and cannot come back alone.
 */
export function ChangeRole({ member: { email }, role, isSelf, onChanged, onLink, onClose }: ChangeRoleProps) {
  const [isChanged, setChanged] = useState(false);
  const sending = useSending();
  if (isChanged)
    return (
      <Dialog title="The role was changed" onClose={onClose}>
        <p class="lead">
          <Text text={email} /> is {withArticle(role)} now, and has to sign in again. Create a new link for that, and
          hand it over.
        </p>
        <DialogEnd
          sending={sending}
          onClose={onClose}
          cancel="Done"
          onPress={() =>
            void sending.send(async () => {
              const made = await call("add_member_link", { email });
              onClose();
              onLink({ ...made, email, kind: "sign-in" });
            })
          }
        >
          Create sign-in link
        </DialogEnd>
      </Dialog>
    );
  return (
    <Dialog title={isSelf ? "Change your own role?" : "Change the role?"} onClose={onClose}>
      <p class="lead">
        {isSelf ? (
          <>
            You become {withArticle(role)}. If you came in by a link that somebody handed to you, you are signed out
            now, and need a new one.
          </>
        ) : (
          <>
            <Text text={email} /> becomes {withArticle(role)}. This service sends no mails: if the person came in by a
            link that was handed over, the windows and terminals of this person are signed out now, as somebody else may
            have opened the link, too. You can create a new one next.
          </>
        )}
      </p>
      <DialogEnd
        sending={sending}
        onClose={onClose}
        cancel="Keep the role"
        onPress={() =>
          void sending.send(async () => {
            const { tokens } = await call("update_member", { email, role });
            onChanged(tokens);
            setChanged(!isSelf);
          })
        }
      >
        Change the role
      </DialogEnd>
    </Dialog>
  );
}
