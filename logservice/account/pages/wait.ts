import { pageDocument } from "../../html/document.ts";
import { html } from "../../html/html.ts";
import { utcTime } from "../../html/utc-time.ts";
import { signInCommand } from "./on-machine.ts";

export interface WaitPage {
  readonly email: string;
  /** Six digits. */
  readonly code: string;
  readonly expiresAt: Date;
  readonly refreshSeconds: number;
  /** Whether the link was mailed. Otherwise it has to be printed on the machine. */
  readonly isMailed: boolean;
}

/** The window that asked to sign in, until the link is opened: shows the code to type there. */
export function waitPage({ email, code, expiresAt, refreshSeconds, isMailed }: WaitPage): string {
  const step = isMailed
    ? html`<p>Open the link in the mail to <strong>${email}</strong>, on any device, and type this code there:</p>`
    : html`<p>This service sends no mail. An owner or admin of your team can make a sign-in link for <strong>${email}</strong>. Or print one on the machine that the service runs on:</p>
${signInCommand(email)}
<p>Open that link. If its page asks for a code, type this one:</p>`;
  // Read digit by digit, not as a number. The halves are apart by their style alone, so that a copy has no space.
  const content = html`${step}
<p class="code"><span class="spoken">${[...code].join(", ")}</span><span aria-hidden="true"><span class="half">${code.slice(0, 3)}</span><span class="half">${code.slice(3)}</span></span></p>
<p>This window continues by itself. The code is valid until ${utcTime(expiresAt)}.</p>
<p class="hint">${isMailed && "No mail? Check the spam folder, or "}<a href="/sign-in">${isMailed ? "start again" : "Start again"}</a>${isMailed && "."}</p>`;
  return pageDocument({ title: isMailed ? "Check your mail" : "One more step", content, refreshSeconds });
}
