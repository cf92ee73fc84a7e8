import { type Html, html } from "./html.ts";

export interface MailParts {
  readonly title: string;
  /** The text that clients show next to the subject: the first one of a mail. */
  readonly preview?: string | undefined;
  readonly maxWidthPx: number;
  readonly content: Html;
}

/**
 * The HTML of a whole mail. It has inline styles alone, as clients drop the rest, and nothing remote. It sets no colours of
 * text and background: the client chooses them. Clients are asked to make no links of numbers and times.
 */
export function mailDocument({ title, preview, maxWidthPx, content }: MailParts): string {
  const hidden = preview !== undefined && html`<div style="display:none;max-height:0;overflow:hidden">${preview}</div>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="format-detection" content="telephone=no,address=no,email=no,date=no"><title>${title}</title></head>
<body style="margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">${hidden}<div style="max-width:${maxWidthPx}px;margin:0 auto;overflow-wrap:anywhere">
${content}</div></body></html>
`.toString();
}
