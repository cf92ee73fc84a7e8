import type { Transaction } from "kysely";
import { acceptInvite, type FoundInvite, inviteOfLink } from "../account/invites.ts";
import { acceptPage } from "../account/pages/accept.ts";
import { noteSignIn, openSession } from "../account/sign-in.ts";
import { RpcError } from "../error.ts";
import { writeAudit } from "../records/audit.ts";
import { ensureUser } from "../records/people.ts";
import type { InviteRow, Tables, UserRow } from "../records/tables.ts";
import { teamNamed } from "../records/teams.ts";
import type { Browser } from "./browser.ts";
import { begin, enter, leave, waitFor } from "./sign-in.ts";

/** The page of an invite. */
export async function showAccept(browser: Browser): Promise<void> {
  const { invite } = await inviteOf(browser);
  const { db } = browser.service.records;
  const team = (await teamNamed(db, invite.team_id))?.name ?? invite.team_id;
  const inviter = await db.selectFrom("users").select("email").where("id", "=", invite.created_by).executeTakeFirst();
  const action = `/accept/${browser.parameter("link")}`;
  const { email, role } = invite;
  const invitedBy = inviter?.email ?? "Whoever runs this service";
  const signedInAs = (await browser.person())?.email;
  // Both forms of the page post a token for the same path.
  const form = browser.form(action);
  browser.sendPage(
    acceptPage({ team, role, invitedBy, email, signedInAs, form, action, signInAction: `${action}/sign-in` }),
  );
}

/** Accepts the invite as the person who is signed in. */
export async function sendAccept(browser: Browser, fields: URLSearchParams): Promise<void> {
  browser.requireForm(fields, `/accept/${browser.parameter("link")}`);
  const { invite } = await inviteOf(browser);
  const person = await browser.person();
  if (person === undefined) throw new RpcError("unauthorized", "sign in first, then open the invite again");
  await accept(browser, invite, async () => ({ id: person.id, email: person.email, email_key: person.emailKey }));
  browser.redirect("/");
}

/** Signs in as the invited address: by the link alone if it was handed over in person, else by mail, then back here. */
export async function sendAcceptSignIn(browser: Browser, fields: URLSearchParams): Promise<void> {
  const path = `/accept/${browser.parameter("link")}`;
  browser.requireForm(fields, path);
  const { invite, isEnough } = await inviteOf(browser);
  const { service, device, address } = browser;
  if (!isEnough || service.account.mails !== undefined) {
    await leave(browser);
    return waitFor(browser, await begin(browser, invite.email), path);
  }
  const { records, nowMs } = service;
  const now = new Date(nowMs()).toISOString();
  const invited = { email: invite.email, emailKey: invite.email_key };
  const user = await accept(browser, invite, (db) => ensureUser(db, invited, now));
  await noteSignIn(records.db, user, { at: now, address, target: invite.id });
  await enter(browser, await openSession(records.db, user, { device, address, nowMs: nowMs() }));
  browser.redirect("/");
}

function inviteOf(browser: Browser): Promise<FoundInvite> {
  const { records, nowMs } = browser.service;
  return inviteOfLink(records, browser.parameter("link"), new Date(nowMs()).toISOString());
}

/** Accepts the invite as a person, who may be added by it: then nobody is added if the invite has just ended. */
async function accept<User extends Pick<UserRow, "id" | "email" | "email_key">>(
  { service: { records, nowMs }, address }: Browser,
  invite: InviteRow,
  personOf: (db: Transaction<Tables>) => Promise<User>,
): Promise<User> {
  const at = new Date(nowMs()).toISOString();
  return records.db.transaction().execute(async (db) => {
    const user = await personOf(db);
    await acceptInvite(db, invite, user, at);
    const who = { at, team_id: invite.team_id, actor: user.email, address };
    const what = { operation: "accept_invite", project_id: "", target_id: user.email, detail: invite.role } as const;
    await writeAudit(db, { ...who, ...what, result: "done" });
    return user;
  });
}
