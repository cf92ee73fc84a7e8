import { type Html, html } from "../../html/html.ts";

/** The command that prints a link for signing in, on the machine that the service runs on, when there is no mail. */
export function signInCommand(email: string): Html {
  return html`<pre class="command"><code>tool service sign-in <span>${commandWord(email)}</span> <span>--data DIR</span></code></pre>`;
}

/** People copy it into a shell: an address with characters that a shell reads is left for them to fill in. */
export function commandWord(email: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9.-]+$/.test(email) ? email : "<email>";
}
