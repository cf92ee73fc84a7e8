import { useState } from "preact/hooks";
import type { Member, Role } from "../../../schema/rpc.generated.ts";
import { ROLES } from "../../access/roles.ts";
import { call } from "../data/call.ts";
import { mayDo, session, team } from "../data/session.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { RowButton } from "../kit/row-button.tsx";
import { useSending } from "../kit/sending.ts";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { Ago } from "../kit/time.tsx";
import { say } from "../kit/toasts.tsx";
import { ChangeRole } from "./change-role.tsx";
import { Invite } from "./invite.tsx";
import { Invites } from "./invites.tsx";
import { type HandedLink, LinkDialog } from "./link-dialog.tsx";
import { RemovePerson } from "./remove-person.tsx";
import { isLastOwner, mayChange, rolesUpTo, withArticle } from "./roles.ts";
import { TokensLeft, type TokensLeftProps } from "./tokens-left.tsx";

export interface PeopleProps {
  readonly members: readonly Member[];
  /** Whether the team may not invite others, as it has no Pro. */
  readonly isWithoutPro: boolean;
  reload(): Promise<void>;
}

/** Who is in the team, and who was invited. */
export function People({ members, isWithoutPro, reload }: PeopleProps) {
  const [isInviting, setInviting] = useState(false);
  const [removing, setRemoving] = useState<Member | undefined>(undefined);
  const [changing, setChanging] = useState<{ readonly member: Member; readonly role: Role } | undefined>(undefined);
  const [link, setLink] = useState<HandedLink | undefined>(undefined);
  const [left, setLeft] = useState<TokensLeftProps["of"] | undefined>(undefined);
  const sending = useSending();
  const mayWrite = mayDo("team:write");
  const own = team.value?.role;
  const self = session.value!.account.email;
  const joined = members.filter(({ state }) => state === "member");
  const invited = members.filter(({ state }) => state === "invited");

  const roleChanged = (member: Member, role: Role, tokens: readonly string[]): void => {
    say(`${member.email} is ${withArticle(role)} now`);
    // A change of one's own role changes what the page may show.
    if (member.email === self) location.reload();
    else if (tokens.length > 0)
      setLeft({
        title: "Tokens that may do more than the new role",
        text: `${member.email} is ${withArticle(role)} now. Tokens that they created before may still do more:`,
        ids: tokens,
      });
  };
  const setRole = async (member: Member, role: Role): Promise<void> => {
    const { email } = member;
    await sending.send(async () => roleChanged(member, role, (await call("update_member", { email, role })).tokens));
    // A refused role must not stay chosen.
    await reload();
  };
  const makeLink = (member: Member): void => {
    void sending.send(async () => {
      const made = await call("add_member_link", { email: member.email });
      setLink({ ...made, email: member.email, kind: "sign-in" });
    });
  };

  return (
    <>
      <ProblemNote text={sending.problem} />
      <section>
        <Head
          count={joined.length}
          invites={mayWrite ? (isWithoutPro ? "without Pro" : "freely") : undefined}
          invite={() => setInviting(true)}
        />
        <Table labelledBy="people" columns={["Address", "Role", "Since"]} hasActions>
          {joined.map((member) => {
            const isSelf = member.email === self;
            const mayThis = mayChange(own, member);
            return (
              <tr key={member.id}>
                <td class="named">
                  <Text text={member.email} /> {isSelf && <span class="tag">you</span>}
                </td>
                <td>
                  {mayThis ? (
                    <select
                      aria-label={`Role of ${member.email}`}
                      value={member.role}
                      disabled={sending.isSending}
                      onChange={(event) => {
                        const role = event.currentTarget.value as Role;
                        // Until the service has agreed, the page shows what is.
                        event.currentTarget.value = member.role;
                        if (session.value!.isMailing) void setRole(member, role);
                        else setChanging({ member, role });
                      }}
                    >
                      {ROLES.filter((role) => rolesUpTo(own).includes(role)).map((role) => (
                        <option key={role} value={role}>
                          {role}
                        </option>
                      ))}
                    </select>
                  ) : (
                    member.role
                  )}
                </td>
                <td class="soft">
                  <Ago at={member.since} />
                </td>
                <td class="actions">
                  {mayThis && !isSelf && !session.value!.isMailing && (
                    <RowButton
                      text="Sign-in link"
                      spoken={`Sign-in link for ${member.email}`}
                      onPress={() => makeLink(member)}
                    />
                  )}{" "}
                  {(mayThis || isSelf) && (
                    <RowButton
                      text={isSelf ? "Leave" : "Remove"}
                      spoken={isSelf ? "Leave the team" : `Remove ${member.email}`}
                      onPress={() => setRemoving(member)}
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </Table>
      </section>
      {invited.length > 0 && (
        <Invites
          invited={invited}
          isWithoutPro={isWithoutPro}
          reload={reload}
          onLink={(email, made) => setLink({ ...made, email, kind: "invite" })}
        />
      )}
      {isInviting && (
        <Invite
          members={members}
          onClose={() => setInviting(false)}
          onMade={(made) => {
            setInviting(false);
            if (made !== undefined) setLink(made);
            void reload();
          }}
        />
      )}
      {link && <LinkDialog of={link} onClose={() => setLink(undefined)} />}
      {removing && (
        <RemovePerson
          member={removing}
          isSelf={removing.email === self}
          isLastOwner={isLastOwner(members, removing)}
          onRemoved={(tokens) => {
            if (tokens.length > 0)
              setLeft({
                title: "Tokens that still work",
                text: `${removing.email} was removed. Tokens that they created still work:`,
                ids: tokens,
              });
            return reload();
          }}
          onClose={() => setRemoving(undefined)}
        />
      )}
      {changing && (
        <ChangeRole
          {...changing}
          isSelf={changing.member.email === self}
          onChanged={(tokens) => {
            roleChanged(changing.member, changing.role, tokens);
            void reload();
          }}
          onLink={setLink}
          onClose={() => setChanging(undefined)}
        />
      )}
      {left && !changing && !link && <TokensLeft of={left} onClose={() => setLeft(undefined)} />}
    </>
  );
}

interface HeadProps {
  readonly count: number;
  /** Undefined for who may not invite. */
  readonly invites: "freely" | "without Pro" | undefined;
  invite(): void;
}

function Head({ count, invites, invite }: HeadProps) {
  return (
    <>
      <div class="head">
        <h2 id="people">{count === 1 ? "1 member" : `${count} members`}</h2>
        {invites === "freely" && (
          <button type="button" class="button primary" onClick={invite}>
            Invite member
          </button>
        )}
      </div>
      {invites === "without Pro" && (
        <p class="hint">
          Inviting others needs Pro, which the team does not have:{" "}
          {mayDo("billing:write") ? "subscribe below." : "an owner of the team can subscribe."}
        </p>
      )}
    </>
  );
}
