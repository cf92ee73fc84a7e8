import type { Member, Role, Scope } from "../../../schema/rpc.generated.ts";
import { isAbove, ROLE_SCOPES, ROLES, type TeamScope } from "../../access/roles.ts";

/** The roles that somebody may give: those up to their own. */
export const rolesUpTo = (own: Role | undefined): readonly Role[] =>
  own === undefined ? [] : ROLES.filter((role) => !isAbove(role, own));

/** Whether a person who may change the team may change this one: nobody changes somebody above themselves. */
export const mayChange = (own: Role | undefined, { role }: Pick<Member, "role">): boolean =>
  own !== undefined && ROLE_SCOPES[own].has("team:write") && !isAbove(role, own);

/** Whether somebody is the only owner of a team: the service refuses to change or remove that person. */
export function isLastOwner(members: readonly Member[], { email }: Pick<Member, "email">): boolean {
  const owners = members.filter(({ role, state }) => role === "owner" && state === "member");
  return owners.length === 1 && owners[0]!.email === email;
}

/** The rights that people may have, in words, each with a scope that says who has it. */
const ABILITIES: readonly { readonly text: string; readonly scope: Scope | TeamScope }[] = [
  { text: "Search events, and send them", scope: "events:read" },
  { text: "Saved searches, alerts and notifications: see and edit", scope: "alerts:write" },
  { text: "See projects and the members of the team", scope: "team:read" },
  { text: "Create, edit and remove projects", scope: "projects:write" },
  { text: "API tokens and the audit", scope: "tokens:write" },
  { text: "Invite and remove members up to admin, CI tokens, the team's name", scope: "team:write" },
  { text: "Add and remove owners, remove the team", scope: "team:owner" },
  { text: "Subscribe, change the card, end the subscription", scope: "billing:write" },
];

/** A row for each thing to do, with the roles that may. */
export const ROLE_TABLE: readonly { readonly text: string; readonly roles: readonly Role[] }[] = ABILITIES.map(
  ({ text, scope }) => ({ text, roles: ROLES.filter((role) => ROLE_SCOPES[role].has(scope)) }),
);

export const withArticle = (role: Role) => (role === "member" ? "a member" : `an ${role}`);
