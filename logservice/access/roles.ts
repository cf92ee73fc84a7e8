import type { Scope } from "../../schema/rpc.generated.ts";
import type { Role } from "../records/tables.ts";

/** The scopes that only people have, by their role in a team: no token of a program has them. */
export type TeamScope = "team:read" | "team:write" | "team:owner" | "billing:write";

const MEMBER: readonly (Scope | TeamScope)[] = [
  ...(["events:read", "events:write", "searches:read", "searches:write", "alerts:read", "alerts:write"] as const),
  ...(["notifications:read", "notifications:write", "projects:read", "team:read"] as const),
];
const ADMIN = [...MEMBER, ...(["projects:write", "tokens:read", "tokens:write", "team:write"] as const)];
const OWNER = [...ADMIN, "team:owner", "billing:write"] as const;

/** The scopes of each role. */
export const ROLE_SCOPES: Readonly<Record<Role, ReadonlySet<Scope | TeamScope>>> = {
  member: new Set(MEMBER),
  admin: new Set(ADMIN),
  owner: new Set(OWNER),
};

/** The roles, lowest first. */
export const ROLES = ["member", "admin", "owner"] as const satisfies readonly Role[];

/** Whether a role is higher than another one. */
export const isAbove = (role: Role, other: Role) => ROLES.indexOf(role) > ROLES.indexOf(other);
