import type { Kysely } from "kysely";
import { invitesOf } from "../records/invites.ts";
import { isInTeam } from "../records/people.ts";
import type { Tables } from "../records/tables.ts";

/** Who may come in without an invite: nobody, the addresses of a domain, or everybody. */
export type SignUp =
  | { readonly kind: "closed" }
  | { readonly kind: "domain"; readonly domain: string }
  | { readonly kind: "open" };

/** Reads `closed`, `open` or `domain:example.com`; undefined for anything else. */
export function readSignUp(text: string): SignUp | undefined {
  if (text === "closed" || text === "open") return { kind: text };
  const domain = /^domain:@?([a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+)$/i.exec(text)?.[1];
  return domain === undefined ? undefined : { kind: "domain", domain: domain.toLowerCase() };
}

/**
 * Whether the holder of an address may sign in: a member of a team, an invited person, or one that may sign up. Whoever was
 * removed from the last team is a stranger again, who could otherwise add a team.
 */
export async function mayComeIn(db: Kysely<Tables>, signUp: SignUp, emailKey: string, now: string): Promise<boolean> {
  // All of it is looked up for every address: how long it takes must not tell which ones are known.
  const [isMember, invites] = [await isInTeam(db, emailKey), await invitesOf(db, emailKey, now)];
  return isMember || invites.length > 0 || maySignUp(signUp, emailKey);
}

function maySignUp(signUp: SignUp, emailKey: string): boolean {
  if (signUp.kind === "domain") return emailKey.endsWith(`@${signUp.domain}`);
  return signUp.kind === "open";
}
