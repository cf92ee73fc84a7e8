import type { Kysely } from "kysely";
import type { Role, Scope } from "../../schema/rpc.generated.ts";
import { isAbove, ROLE_SCOPES, ROLES } from "../access/roles.ts";
import { acceptInvite, inviteOfLink } from "../account/invites.ts";
import { linkOf } from "../account/links.ts";
import { requireEmail } from "../account/sign-in.ts";
import { makeSignInLink } from "../account/sign-in-link.ts";
import { RpcError } from "../error.ts";
import { addInvite, listInvites, removeInvite, removeInvitesBy } from "../records/invites.ts";
import { teamsOf, userOf } from "../records/people.ts";
import { isWholeToken } from "../records/row-sums.ts";
import type { Tables, TokenRow } from "../records/tables.ts";
import { listMembers, lockTeam, type MemberOf, removeMembership, setRole } from "../records/teams.ts";
import { endIfTeamless } from "../records/unproven.ts";
import { type Call, changeRecords, type Handlers } from "./call.ts";

type Db = Kysely<Tables>;

export const members: Handlers<
  "get_members" | "add_member" | "add_member_link" | "accept_invite" | "update_member" | "remove_member"
> = {
  async get_members({ records: { db }, nowMs }, _, { grant }) {
    const memberList = (await listMembers(db, grant.team)).map(({ id, email, role, since }) => {
      return { id, email, role, state: "member" as const, since };
    });
    const invites = await listInvites(db, grant.team, new Date(nowMs()).toISOString());
    const invited = invites.map(({ id, email, role, created_at, expires_at }) => {
      return { id, email, role, state: "invited" as const, since: created_at, expires_at };
    });
    return { members: [...memberList, ...invited].sort((a, b) => (a.email < b.email ? -1 : 1)) };
  },

  async add_member(service, { email: text, role: requestedRole }, call) {
    const { records, account, nowMs } = service;
    const { team, person } = call.grant;
    const { address: email, key: email_key } = requireEmail(text);
    let role: Role = requestedRole ?? "member";
    refuseAbove(call, role);
    let [link, expires_at] = ["", ""];
    const { targetId: id } = await changeRecords(service, call, async (db, now) => {
      const member = (await listMembers(db, team)).find((one) => one.emailKey === email_key);
      if (member !== undefined)
        throw new RpcError("conflict", `${email} is a member already: update_member changes the role`);
      // The new invite ends an earlier one.
      const earlier = (await listInvites(db, team, now)).find((one) => one.email_key === email_key);
      if (earlier !== undefined) refuseAbove(call, earlier.role);
      role = requestedRole ?? earlier?.role ?? "member";
      if (account.mails !== undefined) await account.limits.takeInvite(db, person!.id, email_key);
      const invite = await addInvite(db, { team_id: team, email, email_key, role, created_by: person!.id }, nowMs());
      // Whoever holds the link of an invite that is not mailed comes in by it: not as somebody of other teams.
      const user = await userOf(db, email_key);
      const isStranger = user === undefined || (await teamsOf(db, user.id)).length === 0;
      link = account.address.link(`/accept/${linkOf(records.seal, isStranger ? "join" : "invite", invite.id)}`);
      expires_at = invite.expires_at;
      return { targetId: email, detail: role, id: invite.id };
    });
    account.mails?.kick();
    const isMailed = account.mails !== undefined;
    return { id, role, mailed: isMailed, ...(!isMailed && { link }), expires_at };
  },

  async add_member_link(service, { email: text }, call) {
    const { account, nowMs } = service;
    const { team } = call.grant;
    if (account.mails !== undefined)
      throw new RpcError("conflict", "this service sends mails: the person signs in by its own mail");
    const { key } = requireEmail(text);
    let made = { link: "", expires_at: "" };
    await changeRecords(service, call, async (db) => {
      const member = await memberNamed(db, team, key, text);
      refuseAbove(call, member.role);
      if ((await teamsOf(db, member.id)).length > 1)
        throw new RpcError("forbidden", `${member.email} is in other teams, too: tool service sign-in makes the link`);
      made = await makeSignInLink(
        { ...service, records: { ...service.records, db } },
        { ...member, onlyTeam: team },
        nowMs(),
      );
      return { targetId: member.email };
    });
    return made;
  },

  async accept_invite(service, { invite: link }, call) {
    const { person } = call.grant;
    const { invite } = await inviteOfLink(service.records, link, new Date(service.nowMs()).toISOString());
    await changeRecords(service, call, async (db, now) => {
      await acceptInvite(db, invite, { id: person!.id, email_key: person!.emailKey }, { now, by: call.grant.id });
      return { teamId: invite.team_id, targetId: person!.email, detail: invite.role };
    });
    return { team_id: invite.team_id };
  },

  async update_member(service, { email: text, role }, call) {
    const { team } = call.grant;
    const { key } = requireEmail(text);
    refuseAbove(call, role);
    let beyond: readonly TokenRow[] = [];
    await changeRecords(service, call, async (db, now) => {
      await lockTeam(db, team);
      const member = await memberNamed(db, team, key, text);
      refuseAbove(call, member.role);
      if (role !== "owner") await keepOwner(db, team, member);
      await setRole(db, { team_id: team, user_id: member.id, role }, now);
      // Nobody comes in with more than the person that invited them may still give.
      const roles = ROLES.filter((one) => isAbove(one, role) || role === "member");
      if (roles.length > 0) await removeInvitesBy(db, { team, userId: member.id, roles });
      const ownTokens = await tokensBy(db, team, member.id);
      const mayMore = ({ scopes }: TokenRow) =>
        (JSON.parse(scopes) as Scope[]).some((one) => !ROLE_SCOPES[role].has(one));
      beyond = ownTokens.filter((one) => one.kind !== "command" && mayMore(one));
      return { targetId: member.email, detail: role };
    });
    return { tokens: beyond.map(({ id }) => id) };
  },

  async remove_member(service, { email: text, tokens: isWithTokens = false }, call) {
    const { team, person, scopes } = call.grant;
    const { key } = requireEmail(text);
    const isSelf = key === person!.emailKey;
    if (!isSelf && !scopes.has("team:write"))
      throw new RpcError("forbidden", "members may remove only themselves: ask an admin");
    let remainingTokens: readonly TokenRow[] = [];
    let ended: readonly TokenRow[] = [];
    let removedMember: MemberOf | undefined;
    await changeRecords(service, call, async (db) => {
      [remainingTokens, ended, removedMember] = [[], [], undefined];
      await lockTeam(db, team);
      const member = (await listMembers(db, team)).find(({ emailKey }) => emailKey === key);
      if (member === undefined) {
        const invite = (await listInvites(db, team, "")).find(({ email_key }) => email_key === key);
        if (invite === undefined) throw notMember(text);
        refuseAbove(call, invite.role);
        await removeInvite(db, team, key);
        return { targetId: invite.email };
      }
      if (!isSelf) refuseAbove(call, member.role);
      await keepOwner(db, team, member);
      const ownTokens = await tokensBy(db, team, member.id);
      ended = ownTokens.filter((one) => one.kind === "command" || isWithTokens || mayMakeOthers(one));
      remainingTokens = ownTokens.filter((one) => !ended.includes(one));
      for (const { id } of ended) await db.deleteFrom("tokens").where("id", "=", id).execute();
      await removeMembership(db, team, member.id);
      await removeInvitesBy(db, { team, userId: member.id, roles: ROLES });
      await endIfTeamless(db, member);
      removedMember = member;
      return { targetId: member.email };
    });
    // First those that can be told why.
    if (removedMember !== undefined) service.exchanges.endIn(team, removedMember.id);
    for (const { hash } of ended) service.exchanges.end(hash);
    return { tokens: remainingTokens.map(({ id }) => id) };
  },
};

const notMember = (email: string) =>
  new RpcError("not_found", `${JSON.stringify(email)} is neither a member of this team nor invited`);

/** Whether a token would go on making others after the person who made it is gone, or nobody knows. */
const mayMakeOthers = (row: TokenRow) =>
  !isWholeToken(row) || (JSON.parse(row.scopes) as Scope[]).includes("tokens:write");

/** The tokens of a team that a person made, oldest first. */
function tokensBy(db: Db, team: string, userId: string): Promise<TokenRow[]> {
  const tokens = db.selectFrom("tokens").selectAll().where("team_id", "=", team).where("created_by", "=", userId);
  return tokens.orderBy("created_at").execute();
}

async function memberNamed(db: Db, team: string, emailKey: string, text: string): Promise<MemberOf> {
  const member = (await listMembers(db, team)).find((one) => one.emailKey === emailKey);
  if (member !== undefined) return member;
  const invite = (await listInvites(db, team, "")).find((one) => one.email_key === emailKey);
  if (invite === undefined) throw notMember(text);
  throw new RpcError("not_found", `${invite.email} was invited, and has not accepted yet`);
}

/** Nobody gives or takes a role above their own. */
function refuseAbove({ grant }: Call, role: Role): void {
  const own = grant.person!.role!;
  if (isAbove(role, own)) throw new RpcError("forbidden", `your role is ${own}: only an owner may do this`);
}

/** Throws `conflict` if a member is the last owner. To be called with the team locked. */
async function keepOwner(db: Db, team: string, { id, email }: MemberOf): Promise<void> {
  const owners = (await listMembers(db, team)).filter(({ role }) => role === "owner");
  if (owners.length === 1 && owners[0]!.id === id)
    throw new RpcError("conflict", `${email} is the last owner of the team: make somebody else an owner first`);
}
