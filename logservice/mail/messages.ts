import { looksLikeLink, shownText, unlinkedText } from "../html/shown-text.ts";
import { utcTime } from "../html/utc-time.ts";
import { type MailBody, mailBody } from "./body.ts";
import type { MailMessage } from "./mailer.ts";

export interface SignInMail {
  readonly to: string;
  /** Where the link leads, on the service's own public address. */
  readonly url: string;
  /** The program that asked to sign in, such as "Firefox on Linux". */
  readonly device: string;
  /** The network address that it asked from. */
  readonly address: string;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/** The mail with the link for signing in. It has no code: whoever reads the mail alone cannot sign in. */
export function signInMessage({ to, url, device, address, startedAt, expiresAt }: SignInMail): MailMessage {
  const site = new URL(url).host;
  const request = `${unlinkedText(device)} at the network address ${shownText(address)} asked to sign in to ${site} as ${shownText(to, MAX_ADDRESS)} on ${utcTime(startedAt)}.`;
  return messageOf(to, `Sign in to ${site}`, {
    title: `Sign in to ${site}`,
    before: [request],
    link: { url, text: "Continue signing in" },
    after: [
      "The page asks for the six-digit code that the asking terminal or window shows. It is not in this mail.",
      `The link works until ${utcTime(expiresAt)}.`,
      "If you did not ask to sign in, do nothing, and type no code that somebody tells you: nobody can sign in without it.",
    ],
  });
}

export interface InviteMail {
  readonly to: string;
  /** Where the link leads, on the service's own public address. */
  readonly url: string;
  /** The team's name. */
  readonly team: string;
  /** The name or address of the person who invites. */
  readonly invitedBy: string;
  readonly role: string;
  readonly expiresAt: Date;
}

/** The mail with an invitation to a team. */
export function inviteMessage({ to, url, team, invitedBy, role, expiresAt }: InviteMail): MailMessage {
  const site = new URL(url).host;
  const teamName = shownText(team);
  // Clients make links of what looks like one: in the subject a name would send people to a site of its choice.
  const subject = looksLikeLink(teamName) ? "An invitation to a team" : `An invitation to the team "${teamName}"`;
  return messageOf(to, `${subject} on ${site}`, {
    title: `An invitation to a team on ${site}`,
    before: [
      `"${shownText(invitedBy)}" invites ${shownText(to, MAX_ADDRESS)} to the team "${unlinkedText(team)}" as ${shownText(role)}.`,
    ],
    link: { url, text: "Look at the invitation" },
    after: [
      `You join when you accept it, signed in with this address. The link works until ${utcTime(expiresAt)}.`,
      "If you do not know the team, do nothing.",
    ],
  });
}

/** The longest email address. */
const MAX_ADDRESS = 254;

function messageOf(to: string, subject: string, body: MailBody): MailMessage {
  return { to, subject, ...mailBody(body) };
}
