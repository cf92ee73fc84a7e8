import { pageDocument } from "../../html/document.ts";
import { describedBy, postForm, problemHtml } from "../../html/form.ts";
import { html } from "../../html/html.ts";
import { shownText } from "../../html/shown-text.ts";
import { signInCommand } from "./on-machine.ts";

export interface SignInPage {
  /** The initial text of the field. */
  readonly email: string;
  /** Where to go afterwards; sent back with the form. */
  readonly next: string;
  /** The name of the organization's sign-in, if there is one. */
  readonly oidcName: string | undefined;
  readonly problem: string | undefined;
  readonly form: string;
  /** Whether the service sends mail. */
  readonly isMailed: boolean;
  /** Whether the person was signed in, and is no more. */
  readonly hasEnded: boolean;
}

/** The first page of signing in: asks for the address. Posts `email` and `next` to /sign-in, or `next` to /sign-in/oidc. */
export function signInPage({ email, next, oidcName, problem, form, isMailed, hasEnded }: SignInPage): string {
  const nextField = html`<input type="hidden" name="next" value="${next}">`;
  const byAddress = postForm({
    action: "/sign-in",
    form,
    content: html`${nextField}
${problemHtml(problem)}<label for="email">Email address</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="email" maxlength="254" required${describedBy(problem, "email-hint")}>
${isMailed ? MAILED : html`<div id="email-hint" class="hint"><p>This service sends no mail. An owner or admin of your team can make a sign-in link for you, on its page Members. Or the link is printed on the machine that the service runs on:</p>${signInCommand(email)}</div>`}
<button class="primary">Continue</button>`,
  });
  const byOidc =
    oidcName !== undefined &&
    html`\n<p class="or">or</p>\n${postForm({
      action: "/sign-in/oidc",
      form,
      content: html`${nextField}
<button>Continue with ${shownText(oidcName)}</button>`,
    })}`;
  return pageDocument({ title: "Sign in", content: html`${hasEnded && ENDED}${byAddress}${byOidc}` });
}

const MAILED = html`<p id="email-hint" class="hint">We send a link to this address.</p>`;
const ENDED = html`<p role="status">Your session has ended: your role or team was changed, or you were signed out elsewhere.</p>
`;
