import { useState } from "preact/hooks";
import type { Member, Role } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { session, team } from "../data/session.ts";
import { FormField } from "../kit/field.tsx";
import { FormDialog } from "../kit/form-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { TextField } from "../kit/text-field.tsx";
import { say } from "../kit/toasts.tsx";
import type { HandedLink } from "./link-dialog.tsx";
import { rolesUpTo } from "./roles.ts";

export interface InviteProps {
  /** Who is in the team, and who is invited. */
  readonly members: readonly Member[];
  /** With the link to hand over, unless it goes by mail. */
  onMade(link: HandedLink | undefined): void;
  onClose(): void;
}

/** Invites a person by address and role. */
export function Invite({ members, onMade, onClose }: InviteProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const sending = useSending(["email", "role"]);
  return (
    <FormDialog
      title="Invite member"
      sending={sending}
      button={session.value!.isMailing ? "Send invite" : "Create invite"}
      onSend={() =>
        void sending.send(async () => {
          const to = email.trim();
          if (members.some(({ state, email }) => state === "member" && email.toLowerCase() === to.toLowerCase()))
            throw new Error(`email: ${to} is in the team already. The role is changed in the list.`);
          const { mailed, link, expires_at } = await call("add_member", { email: to, role });
          if (mailed) say(`${to} gets a mail with the invite`);
          onMade(link === undefined ? undefined : { kind: "invite", email: to, link, expires_at });
        })
      }
      onClose={onClose}
    >
      <TextField
        label="Address"
        hint={
          session.value!.isMailing
            ? "The invite goes there by mail, and expires after 7 days."
            : "This service sends no mails: you get a link to hand over. It expires after 7 days."
        }
        wrong={sending.wrongAt("email")}
        type="email"
        required
        autoFocus
        maxLength={254}
        autoComplete="off"
        placeholder="ann@example.com"
        value={email}
        onText={setEmail}
      />
      <FormField label="Role" wrong={sending.wrongAt("role")}>
        {(control) => (
          <select {...control} value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
            {rolesUpTo(team.value?.role).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        )}
      </FormField>
    </FormDialog>
  );
}
