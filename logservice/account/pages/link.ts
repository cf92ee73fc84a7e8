import { html } from "../html.ts";
import { pageDocument } from "./document.ts";
import { postForm } from "./form.ts";

export interface LinkPage {
  readonly email: string;
  readonly form: string;
  readonly action: string;
}

/** A link for one use that was printed on the machine. A button, as programs that look at links only read pages. */
export function linkPage({ email, form, action }: LinkPage): string {
  const content = html`<p>This link signs this browser in as <strong>${email}</strong>. It works once.</p>
${postForm({ action, form, content: html`<button class="primary">Sign in as ${email}</button>` })}`;
  return pageDocument({ title: "Sign in", content });
}
