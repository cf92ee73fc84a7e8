import { isLoopback } from "../../grammar/address/loopback.ts";
import { OperatorError } from "../error.ts";

/** A provider of text messages that is reached over HTTP. In the texts of the body, {to}, {from} and {text} are replaced. */
export interface SmsSettings {
  readonly url: string;
  /** The number or name that messages come from, or "" if the provider knows it. */
  readonly from: string;
  readonly body: SmsBody;
  readonly headers: Readonly<Record<string, string>>;
  /** Basic authentication. */
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

export type SmsBody =
  | { readonly kind: "form"; readonly template: Readonly<Record<string, string>> }
  | { readonly kind: "json"; readonly template: Readonly<Record<string, unknown>> };

/** The settings cannot be used. Says what is wrong with them, without their secrets. */
export class SmsSettingsError extends OperatorError {
  constructor(message: string, hint: string) {
    super(message, { hint });
  }
}

/**
 * Reads the operator's text: `twilio://<account sid>:<auth token>@api.twilio.com?from=%2B15550100`, or for other providers a
 * JSON object with the members `url`, `form` or `json` (the template), and if needed `from`, `headers`, `user` and `password`.
 * Throws SmsSettingsError.
 */
export function readSmsSettings(text: string): SmsSettings {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) return ofJson(trimmed);
  if (trimmed.startsWith("twilio:")) return ofTwilio(trimmed);
  throw new SmsSettingsError("the provider of text messages is neither a twilio:// URL nor a JSON object", HINT);
}

const HINT =
  'write twilio://<account sid>:<auth token>@api.twilio.com?from=%2B15550100, or for another provider {"url": "https://...", "json": {"to": "{to}", "from": "{from}", "text": "{text}"}}';

/** Twilio's form: https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource */
function ofTwilio(text: string): SmsSettings {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const user = url && decoded(url.username);
  const password = url && decoded(url.password);
  const from = url?.searchParams.get("from") ?? "";
  if (!url || !user || !password || from === "" || url.hostname === "") {
    throw new SmsSettingsError("the twilio:// URL lacks its account, its token, its host or the parameter from", HINT);
  }
  if (!/^[A-Za-z0-9]+$/.test(user))
    throw new SmsSettingsError("the account in the twilio:// URL is not an account SID", HINT);
  // A messaging service chooses the number itself.
  const sender = from.startsWith("MG") ? "MessagingServiceSid" : "From";
  return {
    url: `https://${url.host}/2010-04-01/Accounts/${user}/Messages.json`,
    from,
    body: { kind: "form", template: { To: "{to}", [sender]: "{from}", Body: "{text}" } },
    headers: {},
    login: { user, password },
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const MEMBERS = ["url", "from", "form", "json", "headers", "user", "password"];

function ofJson(text: string): SmsSettings {
  const settings = parsed(text);
  const unknown = Object.keys(settings).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    throw new SmsSettingsError(
      `the settings of the provider of text messages have an unknown member ${JSON.stringify(unknown)}`,
      `the members are ${MEMBERS.join(", ")}`,
    );
  }
  const { url, from = "", headers = {}, user = "", password = "" } = settings;
  if (typeof from !== "string" || typeof user !== "string" || typeof password !== "string") {
    throw wrong("from, user and password", "texts");
  }
  if (!isTexts(headers) || !Object.entries(headers).every(([name, value]) => isHeader(name, value))) {
    throw wrong("headers", "an object of texts that a request may have as headers");
  }
  return {
    url: readUrl(url),
    from,
    body: readBody(settings),
    headers,
    login: user === "" ? undefined : { user, password },
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    // It begins with a brace: nothing but an object can result.
    return JSON.parse(text);
  } catch {
    // The error of JSON.parse quotes the text, which has secrets.
    throw new SmsSettingsError("the settings of the provider of text messages are not JSON", HINT);
  }
}

function readUrl(url: unknown): string {
  const read = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (read === undefined || !/^https?:$/.test(read.protocol)) throw wrong("url", "a URL that begins with https://");
  if (read.username !== "" || read.password !== "")
    throw wrong("url", "without a login: write it as user and password");
  if (read.protocol === "http:" && !isLoopback(read.hostname)) {
    throw wrong("url", "a URL that begins with https://, but for a provider on this machine");
  }
  return read.href;
}

function readBody({ form, json }: Readonly<Record<string, unknown>>): SmsBody {
  if ((form === undefined) === (json === undefined)) throw wrong("form and json", "given as one of the two");
  const template = form ?? json;
  const missing = ["{to}", "{text}"].filter((part) => !JSON.stringify(template).includes(part));
  if (missing.length > 0)
    throw wrong(form === undefined ? "json" : "form", `a template that has ${missing.join(" and ")}`);
  if (form !== undefined && isTexts(form)) return { kind: "form", template: form };
  if (form !== undefined) throw wrong("form", "an object of texts");
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw wrong("json", "an object");
  return { kind: "json", template: json as Readonly<Record<string, unknown>> };
}

function isTexts(value: unknown): value is Record<string, string> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === "string")
  );
}

function isHeader(name: string, value: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value);
}

function wrong(member: string, must: string): SmsSettingsError {
  return new SmsSettingsError(`the settings of the provider of text messages: ${member} must be ${must}`, HINT);
}
