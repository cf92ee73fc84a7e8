import { createHash } from "node:crypto";
import type { Clock } from "../../grammar/units/clock.ts";
import { readEmailAddress } from "../mail/address.ts";
import { MailFailure } from "../mail/failure.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import { alertMail, digestMail } from "./channels/email.ts";
import { pagerDutyPost } from "./channels/pagerduty.ts";
import { slackPost } from "./channels/slack.ts";
import { smsPost, smsText } from "./channels/sms.ts";
import { type MessageBatch, webhookPost } from "./channels/webhook.ts";
import { type Post, type PostAnswer, PostFailure, post } from "./post.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { NotifySettings } from "./settings.ts";
import type { NotificationTarget } from "./target.ts";
import { type Resolve, TargetNotFound, TargetRefused } from "./target-guard.ts";

export interface SendOptions {
  readonly settings: NotifySettings;
  /** The public address of the service, for links; undefined if it has none. */
  origin(): string | undefined;
  readonly clock: Clock;
  /** Whether numbers get nothing before they are confirmed, as is so where everybody may sign up. */
  readonly confirmsNumbers?: boolean;
  /** Takes failures, for the operators of the service. */
  readonly failed: (message: string, error: unknown) => void;
  /** How targets are reached, if not as usual. */
  readonly network?: NetworkOptions | undefined;
}

export interface NetworkOptions {
  readonly resolve?: Resolve;
  /** Certificates of authorities that are trusted instead of the usual ones. */
  readonly ca?: string;
  readonly timeoutMs?: number;
}

/**
 * The outcome of an attempt. The reason is one sentence that may be shown to the people of the team: it has nothing of
 * what the target answered but its status.
 */
export type DeliveryOutcome =
  | { readonly kind: "delivered" }
  /** `afterMs` is what the target asked for. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs?: number | undefined }
  /** Another attempt would get the same answer. */
  | {
      readonly kind: "refused";
      readonly reason: string;
      /** Whether what was sent was refused, as too long or not understood, and not whoever sent it. */
      readonly isContent?: boolean;
    };

/**
 * Tells one recipient of a target one or several messages, several as a digest: an address, a number, or "" where the target
 * is one recipient. Rejects with the reason of the signal alone, if that is aborted first; the target may have been told then.
 */
export async function sendTo(
  options: SendOptions,
  target: NotificationTarget,
  { recipient, messages }: { readonly recipient: string; readonly messages: readonly AlertMessage[] },
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const batch: MessageBatch = { id: digestId(messages), messages };
  return outcomeOrFailure(options, signal, () =>
    SENDERS[target.type](options, target as never, { ...batch, recipient }, signal),
  );
}

/** Sends one text message. Rejects as `sendTo` does. */
export async function sendSms(
  options: SendOptions,
  number: string,
  text: string,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { settings, failed } = options;
  return outcomeOrFailure(options, signal, async () => {
    if (settings.sms === undefined) return notConfigured("no text messages", "--sms");
    const answer = await postTo(options, smsPost(settings.sms, number, text), signal, "operator");
    const outcome = outcomeOf(options, answer, "the provider of text messages");
    if (outcome.kind !== "delivered") failed("a text message could not be sent", outcome.reason);
    // The login is the operator's to mend, and the message is sent then.
    return answer.status === 401
      ? { ...outcome, kind: "retry", reason: "the provider of text messages refused the login of the service" }
      : outcome;
  });
}

async function outcomeOrFailure(
  options: SendOptions,
  signal: AbortSignal,
  send: () => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  try {
    return await send();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TargetRefused) return { kind: "refused", reason: error.message };
    if (error instanceof TargetNotFound) return { kind: "retry", reason: error.message };
    if (error instanceof PostFailure) return { kind: "retry", reason: `the target ${error.message}` };
    options.failed("a notification could not be sent", error);
    return { kind: "retry", reason: "the notification could not be sent; the log of the service says why" };
  }
}

/** The recipients of a target that are told one by one. */
export function targetRecipients(target: NotificationTarget): readonly string[] {
  return "recipients" in target ? target.recipients : [""];
}

/** The id of a delivery, or one that is made from those of several: the same for the same deliveries. */
function digestId(messages: readonly AlertMessage[]): string {
  const [first] = messages as [AlertMessage];
  if (messages.length === 1) return first.id;
  const hash = createHash("sha256").update(messages.map(({ id }) => id).join(" "));
  return `dig_${hash.digest("hex").slice(0, 32)}`;
}

interface ToRecipient extends MessageBatch {
  readonly recipient: string;
}

type Of<Type extends NotificationTarget["type"]> = Extract<NotificationTarget, { readonly type: Type }>;

type Sender<T> = (options: SendOptions, target: T, batch: ToRecipient, signal: AbortSignal) => Promise<DeliveryOutcome>;

const SENDERS: { readonly [Type in NotificationTarget["type"]]: Sender<Of<Type>> } = {
  async email({ settings, origin, failed }, _target, { id, recipient: to, messages }, signal) {
    const [first] = messages as [AlertMessage];
    if (settings.mailer === undefined) return notConfigured("no mails", "--smtp");
    // Stored before addresses were read when they are added.
    if (readEmailAddress(to) === undefined)
      return { kind: "refused", reason: "it is not one email address, and nothing was sent: change the notification" };
    const mail = messages.length === 1 ? alertMail(first, origin()) : digestMail(id, messages, origin());
    try {
      await settings.mailer.send({ ...mail, to }, signal);
      return { kind: "delivered" };
    } catch (error) {
      if (!(error instanceof MailFailure)) throw error;
      // The text of the mail server is for the operators.
      failed("a mail about an alert could not be sent", error);
      return error.isPermanent
        ? { kind: "refused", reason: "the mail server refused the mail or its recipient" }
        : { kind: "retry", reason: "the mail could not be handed to the mail server; the log of the service says why" };
    }
  },

  sms(options, _target, { recipient, messages }, signal) {
    return sendSms(options, recipient, smsText(messages, options.origin()), signal);
  },

  async slack(options, target, { messages }, signal) {
    const request = slackPost(target, messages, options.origin());
    return outcomeOf(options, await postTo(options, request, signal), "the target");
  },

  async webhook(options, target, batch, signal) {
    const request = webhookPost(target, batch, options.origin(), options.clock.nowMs());
    return outcomeOf(options, await postTo(options, request, signal), "the target");
  },

  async pagerduty(options, { routingKey }, { messages }, signal) {
    const [message] = messages as [AlertMessage];
    if (messages.length > 1) throw new TypeError("PagerDuty takes no digests");
    const request = pagerDutyPost({ url: options.settings.pagerdutyUrl, routingKey }, message, options.origin());
    return outcomeOf(options, await postTo(options, request, signal, "operator"), "PagerDuty");
  },
};

function notConfigured(what: string, option: string): DeliveryOutcome {
  return { kind: "retry", reason: `the service sends ${what}: its operator has to start it with ${option}` };
}

/** Posts to what a team has set, which is guarded, or to an address that the operator has set. */
function postTo(
  { settings, clock, network = {} }: SendOptions,
  request: Post,
  signal: AbortSignal,
  setBy: "team" | "operator" = "team",
): Promise<PostAnswer> {
  const { resolve, ca, timeoutMs } = network;
  const guard = { allowsPrivate: settings.allowsPrivate, ...(resolve && { resolve }) };
  return post(request, { clock, signal, ca, timeoutMs, guard: setBy === "team" ? guard : undefined });
}

function outcomeOf({ clock }: SendOptions, { status, retryAfter }: PostAnswer, who: string): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status >= 300 && status < 400) {
    return {
      kind: "refused",
      reason: `${who} answered with a redirect (${status}), which is not followed: use the URL that it leads to`,
    };
  }
  const reason = `${who} answered with status ${status}`;
  if (status >= 500 || status === 408 || status === 429) {
    return { kind: "retry", reason, afterMs: retryAfterMs(retryAfter, clock.nowMs()) };
  }
  return { kind: "refused", reason, ...(CONTENT.has(status) && { isContent: true }) };
}

/** 400 Bad Request, 413 Content Too Large, 414 URI Too Long, 422 Unprocessable Content, 431 Header Fields Too Large. */
const CONTENT = new Set([400, 413, 414, 422, 431]);
