import { pageDocument } from "../../html/document.ts";
import { describedBy, postForm, problemHtml } from "../../html/form.ts";
import { html } from "../../html/html.ts";
import { shownText } from "../../html/shown-text.ts";
import { commandWord } from "./on-machine.ts";

export interface AccountPage {
  readonly email: string;
  readonly teams: readonly {
    readonly id: string;
    readonly name: string;
    readonly role: string;
    readonly isCurrent: boolean;
  }[];
  /** The origin of the service. */
  readonly url: string;
  /** Whether the service sends mails. Otherwise this page is where a person signs in a terminal. */
  readonly isMailed: boolean;
  /** The problem of the code that was sent. */
  readonly problem?: string | undefined;
  /** The token of the form that signs out. */
  readonly form: string;
  /** The token of the form that signs in a terminal. */
  readonly confirmForm: string;
  /** The version of the service. */
  readonly service: string;
}

/** Who is signed in, the teams of that person, and how to go on in a terminal. Posts to /sign-out and /account/confirm. */
export function accountPage(page: AccountPage): string {
  const { email, teams, url, isMailed, problem, form, confirmForm, service } = page;
  const rows = teams.map(
    ({ id, name, role, isCurrent }) => html`<li${isCurrent && html` aria-current="true"`}>
<span class="name">${shownText(name)}</span> <span class="id">${shownText(id)}</span>
<span class="role">${shownText(role)}${isCurrent && ", current"}</span>
</li>
`,
  );
  const list =
    teams.length === 0
      ? html`<p>You belong to no team yet. An admin of a team can invite you.</p>`
      : html`<h2>Teams</h2>
<ul class="teams">
${rows}</ul>`;
  const confirm = postForm({
    action: "/account/confirm",
    form: confirmForm,
    content: html`${problemHtml(problem)}<label for="code">The code that it shows</label>
<input id="code" name="code" class="digits" type="text" inputmode="numeric" autocomplete="one-time-code" pattern=" *[0-9]{3} ?[0-9]{3} *" maxlength="12" title="Six digits" required${describedBy(problem, "code-hint")}>
<p id="code-hint" class="hint">Six digits. Type a code only if it is on a screen in front of you: nobody else has a reason to tell you one.</p>
<button>Sign in the terminal</button>`,
  });
  const content = html`<p><a href="/">To your projects</a></p>
<p>Signed in as <strong>${email}</strong>.</p>
${list}
<h2>In a terminal</h2>
<pre class="command"><code>tool team login <span>--email ${commandWord(email)}</span> <span>--url ${url}</span></code></pre>
${isMailed ? html`<p class="hint">It shows a code; the link comes by mail.</p>` : confirm}
${postForm({ action: "/sign-out", form, content: html`<button>Sign out</button>` })}
<p class="hint"><a href="/reference">API reference</a> · version ${service}</p>`;
  return pageDocument({ title: "Your account", content });
}
