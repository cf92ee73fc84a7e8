import { html } from "../html.ts";
import { shownText } from "../shown-text.ts";
import { pageDocument } from "./document.ts";
import { postForm } from "./form.ts";

export interface AccountPage {
  readonly email: string;
  readonly teams: readonly {
    readonly id: string;
    readonly name: string;
    readonly role: string;
    readonly isCurrent: boolean;
  }[];
  readonly form: string;
  /** The version of the service. */
  readonly service: string;
}

/** Who is signed in, and the teams of that person. Posts to /sign-out. */
export function accountPage({ email, teams, form, service }: AccountPage): string {
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
  const content = html`<p>Signed in as <strong>${email}</strong>.</p>
${list}
${postForm({ action: "/sign-out", form, content: html`<button>Sign out</button>` })}
<p class="hint"><a href="/reference">API reference</a> · version ${service}</p>`;
  return pageDocument({ title: "Your account", content });
}
