import type { Transaction } from "kysely";
import { acceptInvite, type FoundInvite, inviteOfLink } from "../account/invites.ts";
import { acceptPage } from "../account/pages/accept.ts";
import { noteSignIn, openSession } from "../account/sign-in.ts";
import { RpcError } from "../error.ts";
import { writeAudit } from "../records/audit.ts";
import { ensureUser } from "../records/people.ts";
import { sessionOf } from "../records/sessions.ts";
import type { InviteRow, Tables, UserRow } from "../records/tables.ts";
import { teamNamed } from "../records/teams.ts";
import { transact } from "../records/transact.ts";
import type { Browser } from "./browser.ts";
import { beginInBrowser, enter, leave, waitFor } from "./sign-in.ts";

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
  if (person === undefined) throw SIGNED_OUT;
  const { id, email, emailKey: email_key, session } = person;
  const { records, at } = recordsNow(browser);
  await transact(records.db, async (db) => {
    // It may have ended while this waited for another change.
    if ((await sessionOf(db, session.hash, Date.parse(at))) === undefined) throw SIGNED_OUT;
    await accept(db, browser, { invite, user: { id, email, email_key }, at, by: session.id });
  });
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
    return waitFor(browser, await beginInBrowser(browser, invite.email, `invite ${invite.id}`), path);
  }
  const { records, at } = recordsNow(browser);
  // All or nothing: the link works once. Whoever made it may have opened it, so the session says that it proves nothing more.
  const secret = await transact(records.db, async (db) => {
    const user = await ensureUser(db, { email: invite.email, emailKey: invite.email_key }, at);
    await accept(db, browser, { invite, user, at });
    await noteSignIn(db, user, { at, address, target: invite.id });
    return openSession(db, user, { device, address, nowMs: Date.parse(at), unproven: 1 });
  });
  await enter(browser, secret);
  browser.redirect("/");
}

const SIGNED_OUT = new RpcError("unauthorized", "sign in first, then open the invite again");

function recordsNow({ service: { records, nowMs } }: Browser) {
  return { records, at: new Date(nowMs()).toISOString() };
}

function inviteOf(browser: Browser): Promise<FoundInvite> {
  const { records, nowMs } = browser.service;
  return inviteOfLink(records, browser.parameter("link"), new Date(nowMs()).toISOString());
}

interface Accepting {
  readonly invite: InviteRow;
  readonly user: Pick<UserRow, "id" | "email" | "email_key">;
  readonly at: string;
  /** The public id of the session. */
  readonly by?: string;
}

async function accept(
  db: Transaction<Tables>,
  { address }: Browser,
  { invite, user, at, by }: Accepting,
): Promise<void> {
  await acceptInvite(db, invite, user, { now: at, by });
  const who = { at, team_id: invite.team_id, actor: user.email, address };
  const what = { operation: "accept_invite", project_id: "", target_id: user.email, detail: invite.role } as const;
  await writeAudit(db, { ...who, ...what, result: "done" });
}
