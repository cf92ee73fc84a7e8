import type { AlertMessage } from "../records/alert-message.ts";
import {
  type DeliveryHead,
  type DeliveryProgress,
  noteAttempt,
  noteDelivered,
  noteGivenUp,
  notePostponed,
  noteProgress,
  readMessages,
  type StoredMessage,
  wasNeverTold,
} from "../records/deliveries.ts";
import type { Records } from "../records/open.ts";
import { firstOwnerOf } from "../records/teams.ts";
import { GIVE_UP_MS, pauseMs } from "./backoff.ts";
import { type DeliveryOutcome, type SendOptions, sendTo, targetRecipients } from "./send.ts";
import type { SmsBudget } from "./send-limits.ts";
import type { NotificationTarget } from "./target.ts";

export interface AttemptOptions extends SendOptions {
  readonly records: Records;
  readonly smsBudget: SmsBudget;
}

/** The deliveries that are attempted at once: one delivery, or several as a digest. */
export interface Attempt {
  readonly target: NotificationTarget;
  readonly deliveries: readonly DeliveryHead[];
  /** Earlier ones of the same alert that are tried again later: told are only recipients that have all of these. */
  readonly heldUpBy: readonly DeliveryHead[];
}

/** How an attempt ended; `none` if nobody was to be told, `split` if a digest was refused and each is to be told by itself. */
export interface Attempted {
  readonly kind: DeliveryOutcome["kind"] | "none" | "split";
  /** The wait that the target asked for, whatever it is told next; 0 if it did not. */
  readonly afterMs: number;
}

/** Recipients of one delivery that are told at the same time: each mail has a connection of its own. */
const RECIPIENTS_AT_ONCE = 3;

/**
 * Makes one attempt at deliveries to one target. The records say before that it is made, and afterwards what came of it, for
 * each of several recipients: whoever is killed in between tells a recipient twice, with the same id, rather than not at all.
 * Rejects with the reason of the signal if that is aborted first.
 */
export async function attemptDelivery(
  options: AttemptOptions,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Attempted> {
  const { db } = options.records;
  const deliveries = await withoutDropped(options, attempt);
  const stored = await readMessages(db, idsOf(deliveries));
  const letters = lettersOf(await openRecipients(options, attempt), stored);
  const isPartial = attempt.heldUpBy.length > 0;
  if (stored.size === 0 || (isPartial && letters.length === 0)) return NOTHING;
  await noteAttempt(db, [...stored.keys()]);
  const failures = await tellAll(options, { ...attempt, deliveries }, { stored, letters }, signal);
  const retries = failures.flatMap(({ outcome }) => (outcome.kind === "retry" ? [outcome] : []));
  if (retries.length > 0) {
    const afterMs = Math.max(0, ...retries.map((outcome) => outcome.afterMs ?? 0));
    await postpone(options, deliveries, { reason: reasonOf(attempt.target, failures), afterMs });
    return { kind: "retry", afterMs };
  }
  const isContent = failures.every(({ outcome }) => outcome.kind === "refused" && outcome.isContent === true);
  // One message that the target does not take would take all others with it.
  if (failures.length > 0 && isContent && stored.size > 1 && targetRecipients(attempt.target).length === 1)
    return SPLIT;
  return isPartial ? NOTHING : await finish(options, attempt.target, { stored, failures });
}

const NOTHING: Attempted = { kind: "none", afterMs: 0 };
const SPLIT: Attempted = { kind: "split", afterMs: 0 };

const idsOf = (deliveries: readonly DeliveryHead[]) => deliveries.map(({ id }) => id);

/**
 * Resolutions of what nobody was told are given up: people would wonder what was resolved. Programs get them, since one may
 * have taken a trigger although it did not answer in time.
 */
async function withoutDropped({ records, clock }: AttemptOptions, { target, deliveries }: Attempt) {
  if (target.type === "webhook" || target.type === "pagerduty") return deliveries;
  const rest: DeliveryHead[] = [];
  for (const delivery of deliveries) {
    const isDropped = delivery.kind === "resolved" && (await wasNeverTold(records.db, delivery));
    if (!isDropped) rest.push(delivery);
    else await noteGivenUp(records.db, [delivery.id], NEVER_TOLD, new Date(clock.nowMs()).toISOString());
  }
  return rest;
}

const NEVER_TOLD = "not sent, because the trigger message was never delivered";

/** The recipients that may be told: all, or those that have what comes before. */
async function openRecipients({ records }: AttemptOptions, { target, heldUpBy }: Attempt): Promise<readonly string[]> {
  const recipients = targetRecipients(target);
  if (heldUpBy.length === 0) return recipients;
  const earlier = await readMessages(records.db, idsOf(heldUpBy));
  return recipients.filter((recipient) =>
    heldUpBy.every(({ id }) => earlier.get(id)?.progress.told.includes(recipient)),
  );
}

/** The messages for one recipient. */
interface Letter {
  readonly recipient: string;
  readonly messages: readonly AlertMessage[];
}

type Stored = Map<string, StoredMessage>;

/** Returns the messages for each recipient: none that it has, or that was refused for it. */
function lettersOf(recipients: readonly string[], stored: Stored): Letter[] {
  const letters = recipients.map((recipient) => {
    const open = [...stored.values()].filter(
      ({ progress }) => !progress.told.includes(recipient) && !progress.refused.includes(recipient),
    );
    return { recipient, messages: open.map(({ message }) => message) };
  });
  return letters.filter(({ messages }) => messages.length > 0);
}

interface Failure {
  readonly recipient: string;
  readonly outcome: Exclude<DeliveryOutcome, { readonly kind: "delivered" }>;
}

/** Tells the recipients, notes those that are done, and returns the others. */
async function tellAll(
  options: AttemptOptions,
  { target, deliveries }: Attempt,
  { stored, letters }: { readonly stored: Stored; readonly letters: readonly Letter[] },
  signal: AbortSignal,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const { team_id } = deliveries[0]!;
  const owner = target.type === "sms" ? await firstOwnerOf(options.records.db, team_id) : "";
  const tell = async (letter: Letter) => {
    const waitMs = target.type === "sms" ? options.smsBudget.take(team_id, owner) : 0;
    const outcome = waitMs > 0 ? tooManySms(waitMs) : await sendTo(options, target, letter, signal);
    if (outcome.kind !== "delivered") failures.push({ recipient: letter.recipient, outcome });
    // One recipient is done when the delivery is.
    if (outcome.kind === "retry" || targetRecipients(target).length === 1) return;
    for (const { id } of letter.messages) {
      const progress = withRecipient(stored.get(id)!.progress, letter.recipient, outcome.kind);
      const noted = { message: stored.get(id)!.message, progress };
      // Before the write, which another recipient's then follows.
      stored.set(id, noted);
      await noteProgress(options.records.db, id, noted);
    }
  };
  const left = [...letters];
  const work = async () => {
    for (let letter = left.shift(); letter !== undefined; letter = left.shift()) await tell(letter);
  };
  const works = await Promise.allSettled(Array.from({ length: RECIPIENTS_AT_ONCE }, work));
  for (const one of works) if (one.status === "rejected") throw one.reason;
  return failures;
}

function tooManySms(afterMs: number): DeliveryOutcome {
  return { kind: "retry", reason: "the team has sent too many text messages within an hour", afterMs };
}

function withRecipient(
  { told, refused }: DeliveryProgress,
  recipient: string,
  kind: "delivered" | "refused",
): DeliveryProgress {
  return kind === "delivered" ? { told: [...told, recipient], refused } : { told, refused: [...refused, recipient] };
}

/** Tries again later, or gives up what was tried for a day. */
async function postpone(
  { records, clock }: AttemptOptions,
  deliveries: readonly DeliveryHead[],
  { reason, afterMs }: { readonly reason: string; readonly afterMs: number },
): Promise<void> {
  const now = clock.nowMs();
  // Deliveries that were tried together are tried together again.
  const waitMs = Math.max(afterMs, pauseMs(Math.max(...deliveries.map(({ attempts }) => attempts + 1))));
  for (const { id, created_at } of deliveries) {
    const endMs = Date.parse(created_at) + GIVE_UP_MS;
    if (now >= endMs) {
      await noteGivenUp(records.db, [id], `given up after 24 hours: ${reason}`, new Date(now).toISOString());
    } else {
      await notePostponed(records.db, [id], reason, new Date(Math.min(now + waitMs, endMs)).toISOString());
    }
  }
}

/** Ends what need not be tried again: given up is what was refused for any recipient. */
async function finish(
  { records, clock }: AttemptOptions,
  target: NotificationTarget,
  { stored, failures }: { readonly stored: Stored; readonly failures: readonly Failure[] },
): Promise<Attempted> {
  const recipients = targetRecipients(target);
  const now = new Date(clock.nowMs()).toISOString();
  const refused = [...stored].filter(([, { progress }]) =>
    recipients.length === 1 ? failures.length > 0 : recipients.some((one) => progress.refused.includes(one)),
  );
  for (const [id, { progress }] of refused) {
    const reason = failures.length > 0 ? reasonOf(target, failures) : `refused for ${progress.refused.join(", ")}`;
    await noteGivenUp(records.db, [id], reason, now);
  }
  const isRefused = new Set(refused.map(([id]) => id));
  await noteDelivered(
    records.db,
    [...stored.keys()].filter((id) => !isRefused.has(id)),
    now,
  );
  return { kind: refused.length > 0 ? "refused" : "delivered", afterMs: 0 };
}

/** Why an attempt failed: for some of several recipients, with their names. */
function reasonOf(target: NotificationTarget, failures: readonly Failure[]): string {
  const reasons = [...new Set(failures.map(({ outcome }) => outcome.reason))].join("; ");
  if (targetRecipients(target).length === 1) return reasons;
  const names = failures.map(({ recipient }) => recipient);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `${names.slice(0, MAX_NAMES).join(", ")}${more}: ${reasons}`;
}

/** Recipients that a reason names. */
const MAX_NAMES = 3;
