import { pageDocument } from "../../html/document.ts";
import { html } from "../../html/html.ts";
import { shownText } from "../../html/shown-text.ts";

export interface LeavePage {
  /** The name of the provider for people. */
  readonly name: string;
  /** A page of the provider, by http or https. */
  readonly url: string;
}

/**
 * Leads to the page of another site at once. A redirect would not do: Chromium holds the redirects of a form that was sent
 * against `form-action` (CSP 3, section 6.4.1), and the provider's own redirects may lead to any origin.
 */
export function leavePage({ name, url }: LeavePage): string {
  const { protocol, href } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") throw new TypeError(`not a page to go to: ${JSON.stringify(url)}`);
  const content = html`<p>This window goes on to <strong>${shownText(name)}</strong>.</p>
<p><a href="${href}">Go on now</a></p>`;
  return pageDocument({ title: "Sign in", content, refreshSeconds: 0, refreshUrl: href });
}
