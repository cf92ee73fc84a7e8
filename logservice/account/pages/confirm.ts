import { pageDocument } from "../../html/document.ts";
import { describedBy, postForm, problemHtml } from "../../html/form.ts";
import { html } from "../../html/html.ts";
import { shownText } from "../../html/shown-text.ts";
import { utcTime } from "../../html/utc-time.ts";

export interface ConfirmPage {
  readonly email: string;
  /** The device that asked to sign in. */
  readonly device: string;
  /** The network address that it asked from. */
  readonly address: string;
  readonly startedAt: Date;
  readonly triesLeft: number;
  readonly problem: string | undefined;
  readonly form: string;
  readonly action: string;
}

/** Opened from the mail: says what asked to sign in, and asks for its code. Posts `code`, or `deny` of the second button. */
export function confirmPage(page: ConfirmPage): string {
  const { email, device, address, startedAt, triesLeft, problem, form, action } = page;
  const content = html`<p><strong>${shownText(device)}</strong> at <strong>${shownText(address)}</strong> asked to sign in as <strong>${email}</strong> at ${utcTime(startedAt)}.</p>
${postForm({
  action,
  form,
  content: html`${problemHtml(problem)}<label for="code">The code that it shows</label>
<input id="code" name="code" class="digits" type="text" inputmode="numeric" autocomplete="one-time-code" pattern=" *[0-9]{3} ?[0-9]{3} *" maxlength="12" title="Six digits" required${describedBy(problem, "code-hint")}>
<p id="code-hint" class="hint">Six digits. ${triesLeft === 1 ? "This is the last try." : html`${triesLeft} tries left.`} Type a code only if it is on a screen in front of you: nobody else has a reason to tell you one.</p>
<button class="primary">Sign in that device</button>
<button name="deny" value="1" formnovalidate>This was not me</button>`,
})}`;
  return pageDocument({ title: "Did you ask to sign in?", content });
}
