import { inviteMessage, signInMessage } from "../mail/messages.ts";
import type { UnsentMail } from "../mail/queue.ts";
import { noteInviteMailed, unmailedInvites } from "../records/invites.ts";
import type { Records } from "../records/open.ts";
import { noteSignInMailed, unmailedSignIns } from "../records/sign-ins.ts";
import { teamNamed } from "../records/teams.ts";
import { linkOf } from "./links.ts";
import type { PublicAddress } from "./public-address.ts";
import { mayComeIn, type SignUp } from "./sign-up.ts";

interface Senders {
  readonly records: Records;
  readonly address: PublicAddress;
  readonly signUp: SignUp;
}

/**
 * The mails of sign-ins and invites that the records say are not sent. Links are made from the id of the record when a mail
 * is written, so that no secret is stored for it.
 */
export async function unsentMails({ records, address, signUp }: Senders, now: string): Promise<UnsentMail[]> {
  const { db, seal } = records;
  const signIns = (await unmailedSignIns(db, now)).map(
    (row): UnsentMail => ({
      id: row.id,
      message: async () =>
        (await mayComeIn(db, signUp, row.email_key, now))
          ? {
              ...signInMessage({
                to: row.email,
                url: address.link(`/sign-in/confirm/${linkOf(seal, "confirm", row.id)}`),
                device: row.device,
                address: row.address,
                startedAt: new Date(row.created_at),
                expiresAt: new Date(row.expires_at),
              }),
              id: row.id,
            }
          : undefined,
      done: (at) => noteSignInMailed(db, row.id, at),
    }),
  );
  const invites = (await unmailedInvites(db, now)).map(
    (row): UnsentMail => ({
      id: row.id,
      message: async () => {
        const inviter = await db
          .selectFrom("users")
          .select("email")
          .where("id", "=", row.created_by)
          .executeTakeFirst();
        const invite = inviteMessage({
          to: row.email,
          url: address.link(`/accept/${linkOf(seal, "invite", row.id)}`),
          team: (await teamNamed(db, row.team_id))?.name ?? row.team_id,
          invitedBy: inviter?.email ?? "Whoever runs the service",
          role: row.role,
          expiresAt: new Date(row.expires_at),
        });
        return { ...invite, id: row.id };
      },
      done: (at) => noteInviteMailed(db, row.id, at),
    }),
  );
  return [...signIns, ...invites];
}
