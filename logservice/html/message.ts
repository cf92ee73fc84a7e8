import { pageDocument } from "./document.ts";
import { ownPath } from "./form.ts";
import { html } from "./html.ts";

export interface MessagePage {
  readonly title: string;
  readonly text: string;
  readonly isProblem: boolean;
  /** Where to go from here: a path of this service. */
  readonly link?: { readonly href: string; readonly text: string } | undefined;
}

/** The end of something: done, expired, refused, too many requests. */
export function messagePage({ title, text, isProblem, link }: MessagePage): string {
  const paragraph = isProblem ? html`<p class="problem" role="alert">${text}</p>` : html`<p>${text}</p>`;
  const onward = link !== undefined && html`\n<p><a href="${ownPath(link.href)}">${link.text}</a></p>`;
  return pageDocument({ title, content: html`${paragraph}${onward}` });
}
