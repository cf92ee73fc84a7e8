import { unlinkedText } from "../../html/shown-text.ts";
import type { AlertMessage } from "../../records/alert-message.ts";
import { cutToOnePart } from "../gsm-text.ts";
import { harmlessMessage } from "../harmless-message.ts";
import type { Post } from "../post.ts";
import type { SmsSettings } from "../sms-settings.ts";
import { digestHeadline, eventsUrl, headline } from "../wording.ts";

/** The text message about one or several messages: one part, of 160 characters in Latin letters. The link is in it if it fits. */
export function smsText(messages: readonly AlertMessage[], origin: string | undefined): string {
  const harmless = messages.map((message) => harmlessMessage(message, unlinkedText));
  const [first] = harmless as [AlertMessage];
  if (messages.length > 1) return cutToOnePart(digestHeadline(harmless));
  const text = headline(first);
  const url = eventsUrl(first, origin);
  const whole = url === undefined ? text : `${text} ${url}`;
  // Half a link leads nowhere.
  return cutToOnePart(whole) === whole ? whole : cutToOnePart(text);
}

/** The request that has the operator's provider send a text message. */
export function smsPost(settings: SmsSettings, to: string, text: string): Post {
  const { url, from, body, headers, login } = settings;
  const values = { to: dialedNumber(to), from, text };
  const filled = Object.entries(body.template).map(([name, value]) => [name, fill(value, values)] as const);
  return {
    url,
    headers: {
      ...(login && { Authorization: `Basic ${Buffer.from(`${login.user}:${login.password}`).toString("base64")}` }),
      ...headers,
      "Content-Type": body.kind === "form" ? "application/x-www-form-urlencoded" : "application/json",
    },
    body:
      body.kind === "form"
        ? new URLSearchParams(filled as [string, string][]).toString()
        : JSON.stringify(Object.fromEntries(filled)),
  };
}

/** A number as it is dialed (E.164): what people put between the digits is left out. */
export function dialedNumber(number: string): string {
  return number.replace(/[^+\d]/g, "");
}

/** Replaces {to}, {from} and {text} in the texts of a template, in one pass: what is put in is not looked at again. */
function fill(template: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof template === "string") return template.replace(/\{(to|from|text)\}/g, (_, name: string) => values[name]!);
  if (Array.isArray(template)) return template.map((item) => fill(item, values));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fill(value, values)]));
}
