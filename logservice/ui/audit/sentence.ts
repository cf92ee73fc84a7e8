import type { AuditEntry } from "../../../schema/rpc.generated.ts";

/** A part of a sentence: words of ours, or a value that somebody chose. */
export type SentencePart = string | { readonly value: string };

/** The sentence of an audit entry after the person who did it: `invited`, the address, `as admin`. */
export function sentenceOf(entry: Pick<AuditEntry, "operation" | "target_id" | "detail" | "result">): SentencePart[] {
  const { operation, target_id, detail, result } = entry;
  if (result === "unauthorized" && /^\d+ wrong codes?$/.test(detail))
    return [operation === "confirm_sign_in" ? "failed to sign in with" : "failed to confirm a number with", detail];
  if (result === "unauthorized") return ["tried", { value: operation }, "without a valid sign-in or token"];
  if (result === "forbidden") return ["tried", { value: operation }, "and may not do that"];
  const sentence = Object.hasOwn(SENTENCES, operation) ? SENTENCES[operation] : undefined;
  if (sentence === undefined) return target_id === "" ? [spoken(operation)] : [spoken(operation), { value: target_id }];
  return sentence.split(/([#%@])/).flatMap((piece): SentencePart[] => {
    if (piece === "#") return target_id === "" ? [] : [{ value: target_id }];
    // Entries of before have no name.
    if (piece === "@") return detail === "" && target_id === "" ? [] : [{ value: detail || target_id }];
    const words = (piece === "%" ? detail : piece).trim();
    return words === "" ? [] : [words];
  });
}

/** The whole sentence as a text, such as to search in. */
export const sentenceText = (parts: readonly SentencePart[]): string =>
  parts.map((part) => (typeof part === "string" ? part : part.value)).join(" ");

/** The predicates, by operation: `#` stands for the target, `%` for a role, `@` for a name, which is the detail. */
const SENTENCES: Readonly<Record<string, string>> = {
  accept_invite: "accepted the invite to the team as %",
  add_alert: "created the alert @",
  add_ci_token: "created the CI token @",
  add_export: "exported events of #",
  add_member: "invited # as %",
  add_member_link: "created a sign-in link for #",
  add_notification: "created the notification @",
  add_owner: "made # an owner",
  add_project: "created the project #",
  add_search: "created the search @",
  add_subscription: "opened the page to subscribe",
  add_team: "created the team #",
  add_token: "created the API token @",
  change_card: "opened the page to change the card",
  confirm_notification: "confirmed a number of the notification @, or asked for a code",
  confirm_sign_in: "signed in",
  export: "exported %",
  query: "ran SQL",
  remove_alert: "removed the alert @",
  remove_ci_token: "removed the CI token @",
  remove_member: "removed # from the team",
  remove_notification: "removed the notification @",
  remove_project: "removed the project #",
  remove_search: "removed the search @",
  remove_subscription: "ended the subscription",
  remove_team: "removed the team #",
  remove_token: "removed the API token @",
  retry_delivery: "sent the delivery # again",
  rotate_webhook_secret: "created a signing secret for the notification @",
  set_subscription: "set the subscription to %",
  sign_in_link: "created a sign-in link for #",
  sign_out: "signed out",
  start_sign_in: "asked for a sign-in, from another address than the one that confirmed it",
  test_alert: "tested the alert @",
  update_alert: "edited the alert @",
  update_member: "changed the role of # to %",
  update_notification: "edited the notification @",
  update_project: "edited the project #",
  update_search: "edited the search @",
  update_team: "renamed the team #",
};

/** The operations that have a sentence of their own. */
export const DESCRIBED_OPERATIONS = Object.keys(SENTENCES);

/** `add_thing` as `add thing`. */
const spoken = (operation: string) => operation.replaceAll("_", " ");
