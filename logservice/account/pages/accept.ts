import { pageDocument } from "../../html/document.ts";
import { postForm } from "../../html/form.ts";
import { html } from "../../html/html.ts";
import { shownText } from "../../html/shown-text.ts";
import { readEmailAddress } from "../../mail/address.ts";

export interface AcceptPage {
  readonly team: string;
  readonly role: string;
  readonly invitedBy: string;
  /** The address that is invited. */
  readonly email: string;
  /** The address that this browser is signed in as. */
  readonly signedInAs: string | undefined;
  readonly form: string;
  /** Accepts the invitation. */
  readonly action: string;
  /** Signs in as the invited address, after the end of another session if there is one, and comes back here. */
  readonly signInAction: string;
}

/** An invitation. It is accepted by the invited address alone. */
export function acceptPage(page: AcceptPage): string {
  const { team, role, invitedBy, email, signedInAs, form, action, signInAction } = page;
  const name = shownText(team);
  const invitation = html`<p><strong>${shownText(invitedBy)}</strong> invites <strong>${email}</strong> to the team <strong>${name}</strong> as ${shownText(role)}.</p>`;
  const ask = (text: string, to: string) =>
    postForm({ action: to, form, content: html`<button class="primary">${text}</button>` });
  const isInvited = signedInAs !== undefined && keyOf(signedInAs) === keyOf(email);
  const step = isInvited
    ? ask(`Join ${name}`, action)
    : signedInAs === undefined
      ? ask(`Sign in as ${email} to join`, signInAction)
      : html`<p>You are signed in as <strong>${signedInAs}</strong>, and the invitation is for another address.</p>
${ask(`Sign out, and sign in as ${email}`, signInAction)}`;
  return pageDocument({ title: "Join a team", content: html`${invitation}\n${step}` });
}

const keyOf = (email: string) => readEmailAddress(email)?.key ?? email;
