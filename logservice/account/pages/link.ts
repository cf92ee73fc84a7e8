import { pageDocument } from "../../html/document.ts";
import { postForm } from "../../html/form.ts";
import { html } from "../../html/html.ts";

export interface LinkPage {
  readonly email: string;
  readonly form: string;
  readonly action: string;
  /** Where to go afterwards: a path of this service. */
  readonly next: string;
}

/** A link for one use that was printed on the machine. A button, as programs that look at links only read pages. */
export function linkPage({ email, form, action, next }: LinkPage): string {
  const content = html`<p>This link signs this browser in as <strong>${email}</strong>. It works once.</p>
${postForm({ action, form, content: html`<input type="hidden" name="next" value="${next}"><button class="primary">Sign in as ${email}</button>` })}`;
  return pageDocument({ title: "Sign in", content });
}
