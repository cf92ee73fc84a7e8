import { html } from "../html/html.ts";
import { mailDocument } from "../html/mail-document.ts";

/** The content of a mail: paragraphs around one link. */
export interface MailBody {
  readonly title: string;
  readonly before: readonly string[];
  readonly link: { readonly url: string; readonly text: string };
  readonly after: readonly string[];
}

/** The two forms of a mail's body. The button's colours are readable on light and dark. */
export function mailBody({ title, before, link, after }: MailBody): { readonly text: string; readonly html: string } {
  const paragraph = (text: string) => html`<p style="margin:0 0 16px">${text}</p>\n`;
  const content = html`<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${title}</h1>
${before.map(paragraph)}<p style="margin:24px 0"><a href="${link.url}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#2855d9;color:#ffffff;font-weight:600;text-decoration:none">${link.text}</a></p>
<p style="margin:0 0 16px;font-size:14px">If the button does not work, open this address:<br><a href="${link.url}" style="color:inherit">${link.url}</a></p>
${after.map(paragraph)}`;
  const text = [...before, `${link.text}:\n${link.url}`, ...after].join("\n\n");
  return { text: `${text}\n`, html: mailDocument({ title, maxWidthPx: 560, content }) };
}
