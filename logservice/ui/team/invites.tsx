import type { Member } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { session, team } from "../data/session.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { RowButton } from "../kit/row-button.tsx";
import { useSending } from "../kit/sending.ts";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { Ago, At } from "../kit/time.tsx";
import { say } from "../kit/toasts.tsx";
import { mayChange } from "./roles.ts";

export interface InvitesProps {
  readonly invited: readonly Member[];
  /** Whether nobody may be invited again, as the team has no Pro. */
  readonly isWithoutPro: boolean;
  reload(): Promise<void>;
  onLink(email: string, made: { readonly link: string; readonly expires_at: string }): void;
}

/** The invites that wait to be accepted. */
export function Invites({ invited, isWithoutPro, reload, onLink }: InvitesProps) {
  const sending = useSending();
  const again = ({ email, role }: Member): void => {
    void sending.send(async () => {
      const { link, expires_at } = await call("add_member", { email, role });
      if (link === undefined) say(`${email} gets another mail; the link in the one before no longer works`);
      else onLink(email, { link, expires_at });
      await reload();
    });
  };
  const takeBack = ({ email }: Member): void => {
    void sending.send(async () => {
      await call("remove_member", { email });
      say(`The invite of ${email} was revoked`);
      await reload();
    });
  };
  return (
    <section>
      <h2 id="invites">Invited</h2>
      <ProblemNote text={sending.problem} />
      <Table labelledBy="invites" columns={["Address", "Role", "Invited", "Expires"]} hasActions>
        {invited.map((member) => (
          <tr key={member.id}>
            <td class="named">
              <Text text={member.email} />
            </td>
            <td>{member.role}</td>
            <td class="soft">
              <Ago at={member.since} />
            </td>
            <td class="soft">
              {member.expires_at && (
                <>
                  <span class="when-stacked">expires </span>
                  <At at={member.expires_at} />
                </>
              )}
            </td>
            <td class="actions">
              {mayChange(team.value?.role, member) && (
                <>
                  {!isWithoutPro && (
                    <RowButton
                      text={session.value!.isMailing ? "Resend" : "New link"}
                      spoken={`${session.value!.isMailing ? "Resend to" : "New link for"} ${member.email}`}
                      isDisabled={sending.isSending}
                      onPress={() => again(member)}
                    />
                  )}{" "}
                  <RowButton
                    text="Revoke"
                    spoken={`Revoke the invite of ${member.email}`}
                    isDisabled={sending.isSending}
                    onPress={() => takeBack(member)}
                  />
                </>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
