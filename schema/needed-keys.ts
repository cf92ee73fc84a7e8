import { coerce } from "./coerce.ts";
import { type Member, memberOf, type Node, type ObjectNode, plainValue } from "./json.ts";
import { memberSchema, type Schema } from "./keywords.ts";
import { MEMBERS, type NotificationType } from "./notification-members.ts";
import { configActionNames } from "./placeholders.ts";

/** The members that each type of action needs, and those that it may have beside. */
export const ACTION_FIELDS: Readonly<
  Record<string, { readonly needed: string; readonly optional: readonly string[]; readonly example: string }>
> = {
  email: { needed: "emails", optional: [], example: '["ops@example.com"]' },
  sms: { needed: "numbers", optional: [], example: '["+12125550123"]' },
  chat: { needed: "url", optional: ["channel", "gifs"], example: '"https://chat.example.com/hooks/ops"' },
};

/** An unknown key, with the object that it is in. */
export interface UnknownMember {
  readonly source: string;
  readonly root: ObjectNode;
  /** From the root to the object. */
  readonly path: readonly string[];
  readonly object: ObjectNode;
  readonly schema: Schema;
  readonly member: Member;
}

/**
 * The setting that an unknown key was likely meant to be because the object lacks it, and only its value fits. None for
 * the root, where any word could be the name of the app.
 */
export function neededKey(unknown: UnknownMember): string | undefined {
  const { path, object, schema, member } = unknown;
  if (path.length === 0 || member.value === undefined) return undefined;
  const fitting = neededOf(path, object, schema).filter(
    (name) => memberOf(object, name) === undefined && means(unknown, name) && fits(unknown, name, member.value!),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Whether a key may mean a setting, by its word: any text would do for the name of an action. */
function means({ path, member }: UnknownMember, name: string): boolean {
  return path[0] !== "actions" || name !== "name" || NAME_WORDS.test(member.key.value);
}

const NAME_WORDS = /^(?:action|alias|called|handle|id|identifier|key|label|ref|slug|title|.*name.*)$/i;

function neededOf(path: readonly string[], object: ObjectNode, schema: Schema): readonly string[] {
  const byType: Readonly<Record<string, { readonly needed: string }>> =
    path[0] === "actions" ? ACTION_FIELDS : isOfNotification(path) ? MEMBERS : {};
  const type = memberOf(object, "type")?.value;
  const own = type?.type === "string" && Object.hasOwn(byType, type.value) ? byType[type.value] : undefined;
  return [...(schema.required ?? []), ...(own === undefined ? [] : [own.needed])];
}

const isOfNotification = ([first, second]: readonly string[]) => first === "logs" && second === "notifications";

function fits({ source, root, path, schema }: UnknownMember, name: string, value: Node): boolean {
  const wanted = memberSchema(schema, name);
  const types = [wanted.type].flat();
  if (
    !types.includes(value.type === "number" ? "number" : value.type) &&
    !(value.type === "number" && types.includes("integer"))
  ) {
    // A single text for a list is put right afterwards.
    if (!types.includes("array") || coerce(source, value, wanted)?.fix === undefined) return false;
  }
  if (wanted.enum !== undefined) return value.type === "string" && wanted.enum.includes(value.value);
  const texts = [plainValue(value)].flat();
  const looks = name === "action" ? configActionNames(root) : LOOKS[`${path[0]}/${name}`];
  if (looks === undefined) return true;
  return texts.every(
    (text) => typeof text === "string" && (looks instanceof RegExp ? looks.test(text) : looks.includes(text)),
  );
}

/** The member that each kind of notification needs: one that has no form below does not compile. */
type OfNotification = `logs/${(typeof MEMBERS)[NotificationType]["needed"]}`;

/** The form of the texts that a setting takes, where others have another. */
const LOOKS: Readonly<Record<string, RegExp> & Record<OfNotification, RegExp>> = {
  "actions/emails": /@/,
  "actions/numbers": /^\+?[\d ().-]{6,}$/,
  "actions/url": /^https?:/,
  "alerts/metric": /^\S+$/,
  "dns/name": /^(?!https?:)\S+\.\S+$/,
  "logs/email_addresses": /@/,
  "logs/sms_numbers": /^\+?[\d ().-]{6,}$/,
  "logs/pagerduty_service_key": /^(\$\w+|[\da-z]{32})$/i,
  "logs/slack_webhook_url": /^(\$|https?:)/,
  "logs/webhook_url": /^(\$|https?:)/,
  "redirects/location": /^(\/|https?:)/,
};
