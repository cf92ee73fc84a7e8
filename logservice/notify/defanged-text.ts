import { shownText } from "../html/shown-text.ts";

/**
 * A text from logs for a mail. Whoever can cause a line of a log could lead people to a site of their choice, since clients
 * of mail make links of hosts, addresses and URLs. A space without width where these are recognized prevents it, and the
 * text reads as before.
 */
export function defangedText(text: string, maxLength?: number): string {
  return shownText(text, maxLength)
    .replace(/(?<=[\p{L}\p{N}_-])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}])/gu, `$&${BREAK}`)
    .replace(/[@\uff20]/gu, `${BREAK}$&${BREAK}`)
    .replace(/:(?=\/\/)/g, `${BREAK}:${BREAK}`)
    .replace(/\b(mailto|tel|https?|javascript|data|sms|geo):/giu, `$1${BREAK}:`);
}

/** U+200B. */
const BREAK = "\u200b";
