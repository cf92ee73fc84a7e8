import type { IncomingMessage } from "node:http";
import type { Network } from "../grammar/address/network.ts";
import { type Clock, systemClock } from "../grammar/units/clock.ts";
import { clientAddressOf, isSharedAddress } from "./access/client-address.ts";
import { OpenExchanges } from "./access/open-exchanges.ts";
import type { OidcSignIn } from "./account/oidc-sign-in.ts";
import { PublicAddress } from "./account/public-address.ts";
import { SignInLimits } from "./account/sign-in-limits.ts";
import type { SignUp } from "./account/sign-up.ts";
import { unsentMails } from "./account/unsent-mails.ts";
import { EventArrivals } from "./alerts/arrivals.ts";
import { Evaluator } from "./alerts/evaluator.ts";
import { createApp } from "./app.ts";
import { type BillingSettings, openBilling } from "./billing/billing.ts";
import type { EventsStore } from "./events/store.ts";
import type { ServiceLog } from "./http/exchange.ts";
import { type ListenOptions, listen } from "./http/server.ts";
import { LIMITS, type Limits } from "./limits.ts";
import type { Mailer } from "./mail/mailer.ts";
import { MailQueue } from "./mail/queue.ts";
import { DeliveryQueue } from "./notify/delivery-queue.ts";
import { sendCode } from "./notify/send-code.ts";
import { TestLimits } from "./notify/send-limits.ts";
import { sendTest } from "./notify/send-test.ts";
import { type NotifySettings, PAGERDUTY_URL } from "./notify/settings.ts";
import { OIDC_CALLBACK } from "./pages/oidc.ts";
import { listAcceptedLosses } from "./records/accepted-losses.ts";
import { isRecordsFull } from "./records/check.ts";
import { noteEventsPosition, notePublicUrl } from "./records/instance.ts";
import type { Records } from "./records/open.ts";
import { listRetentions } from "./records/projects.ts";
import { watchRecords } from "./records/watch.ts";
import { OpenAppends } from "./rpc/append.ts";
import type { Service } from "./rpc/call.ts";
import { ExportTickets } from "./rpc/export-tickets.ts";
import { OpenExports } from "./rpc/open-exports.ts";

export interface StartOptions {
  readonly records: Records;
  readonly events: EventsStore;
  readonly version: string;
  readonly host: string;
  readonly port: number;
  readonly tls?: ListenOptions["tls"];
  /** How long browsers that came by https are told to use nothing else; a day unless told otherwise, 0 for not at all. */
  readonly hstsSeconds?: number | undefined;
  readonly region?: string;
  readonly log: ServiceLog;
  readonly limits?: Partial<Limits>;
  /** The machine's unless told otherwise. */
  readonly clock?: Clock;
  /** Where people reach it; see PublicAddress. Throws a PublicUrlError. */
  readonly publicUrl?: string | undefined;
  /** Nobody but invited people unless told otherwise. */
  readonly signUp?: SignUp;
  /** Without one, links are printed on the machine. */
  readonly mailer?: Mailer | undefined;
  readonly oidc?: (redirectUrl: string, clock: Clock) => OidcSignIn;
  readonly trusted?: readonly Network[] | undefined;
  /** How the service is paid, and what signs statements; it needs no subscription unless told otherwise. */
  readonly billing?: BillingSettings;
  /** How alerts are delivered; to public targets alone unless told otherwise. */
  readonly notify?: NotifySettings;
  /** Whether alerts are evaluated and delivered, as they are unless told otherwise. */
  readonly isAlerting?: boolean;
}

export interface RunningService {
  readonly url: string;
  readonly port: number;
  /** Where the web UI is; undefined if the service has no address for people. */
  readonly webUrl: string | undefined;
  /** Answers the requests under way, then closes the events and the records. */
  close(): Promise<void>;
}

/** How long requests under way may take to be answered once the service stops: all of it takes ten seconds at most. */
const GRACE_MS = 7_000;

/** Short, so that an operator who has to go back to http loses a day at most. */
const DAY_SECONDS = 24 * 3_600;

/** How often the records note how far the events have come: older copies of the events than that are recognized. */
const POSITION_MS = 60_000;

/** How often exchanges are looked through for credentials that have ended. */
const ENDING_MS = 60_000;

/** Starts the service over its two stores. It closes them when it stops. */
export async function startService(options: StartOptions): Promise<RunningService> {
  const { records, events, version, host, port, tls, log, region = "local", clock = systemClock } = options;
  const { publicUrl, signUp = { kind: "closed" }, mailer, trusted, hstsSeconds = DAY_SECONDS } = options;
  const address = new PublicAddress({ publicUrl, host, isTls: tls !== undefined });
  const limits = { ...LIMITS, ...options.limits };
  for (const { events_key, retention } of await listRetentions(records.db)) events.setRetention(events_key, retention);
  // A manifest that had to be rebuilt may name events that had expired before.
  await events.expire();
  // `tool service check` accepts losses while the service runs, so the watch repeats this.
  const acceptLosses = async () => events.acceptLosses(await listAcceptedLosses(records.db));
  await acceptLosses();
  const exchanges = new OpenExchanges();
  const unwatch = watchRecords(
    records,
    async (isChange) => {
      await exchanges.endRemoved(records.db, clock.nowMs(), isChange);
      await acceptLosses();
    },
    (error) => log.error("a change of the records by another process could not be read; trying again", error),
    clock,
  );
  const stopping = new AbortController();
  const failed = (message: string, error: unknown) => log.error(message, error);
  const unsent = (now: string) => unsentMails({ records, address, signUp }, now);
  const mails = mailer && new MailQueue({ mailer, unsent, clock, failed });
  const oidc = options.oidc?.(address.link(OIDC_CALLBACK), clock);
  const settings = options.notify ?? { mailer, sms: undefined, pagerdutyUrl: PAGERDUTY_URL, allowsPrivate: false };
  // Without an address for people, a message has the query and the time instead of a link.
  const origin = () => (address.isKnown ? address.origin : undefined);
  const sending = { records, settings, origin, clock, failed, confirmsNumbers: signUp.kind === "open" };
  const deliveries = new DeliveryQueue(sending);
  const testLimits = new TestLimits(clock);
  const testing: Service["testing"] = {
    take: (team, notification, people) => testLimits.take(team, notification, people),
    send: (notification, message, signal) => sendTest(sending, notification, message, signal),
    takeCodes: (team, numbers, people) => testLimits.takeCodes(team, numbers, people),
    sendCode: (number, code) => sendCode(sending, number, code),
  };
  const evaluator = new Evaluator({ records, events, clock, deliveriesAdded: () => deliveries.kick(), failed });
  const account = { address, signUp, limits: new SignInLimits(clock), mails, oidc };
  const appends = new OpenAppends();
  const arrivals = new EventArrivals({ records, clock, failed });
  const notifies = {
    ...{ isMailing: settings.mailer !== undefined, isTexting: settings.sms !== undefined },
    allowsPrivate: settings.allowsPrivate,
  };
  const exportTickets = new ExportTickets(records);
  const openExports = new OpenExports(limits, stopping.signal, clock);
  const work = { records, events, exchanges, appends, arrivals, exportTickets, openExports, teamLimits: limits };
  const parts = { account, billing: openBilling(options.billing, log), deliveries, evaluator, testing, notifies };
  const service = { ...work, ...parts, region, clock, nowMs: clock.nowMs };
  const app = createApp(service, { limits, version, log, stopping: stopping.signal, trusted });
  const isShared = (one: string) => isSharedAddress(one, trusted);
  const addressOf = (request: IncomingMessage) => clientAddressOf(request, trusted);
  const http = await listen(app, {
    host,
    port,
    tls,
    limits,
    clock,
    isShared,
    addressOf,
    hstsSeconds: address.isSecure ? hstsSeconds : 0,
  });
  address.listensOn(http.port);
  // Only for links that are printed without the service: no reason to serve nothing on a full disk.
  await notePublicUrl(records.db, address).catch((error: unknown) => {
    if (!isRecordsFull(error)) throw error;
  });
  mails?.kick();
  if (options.isAlerting ?? true) {
    deliveries.kick();
    evaluator.start();
  }
  // A token or session may end by its time while its tail goes on.
  const endOver = () => void exchanges.endRemoved(records.db, clock.nowMs()).catch(() => {});
  const ending = clock.every(ENDING_MS, endOver, { isBackground: true });
  const position = notingPosition(records, events);
  await position.note();
  const noting = clock.every(POSITION_MS, () => void position.note(), { isBackground: true });
  return {
    url: http.url,
    port: http.port,
    webUrl: address.isKnown ? address.origin : undefined,
    async close() {
      unwatch();
      ending.stop();
      stopping.abort();
      // At once: what they do is done again after the next start.
      const ended = Promise.all([evaluator.close(), deliveries.close()]);
      await http.close(GRACE_MS);
      await ended;
      await mails?.close();
      noting.stop();
      await position.note();
      await events.close();
      await records.close();
    },
  };
}

/** Notes in the records how far the events have come, if they have since the last time. What fails is done the next time. */
function notingPosition({ db }: Records, events: EventsStore): { note(): Promise<void> } {
  let noted = 0;
  return {
    async note() {
      const position = events.position();
      if (position === noted) return;
      await noteEventsPosition(db, position).then(
        () => {
          noted = position;
        },
        () => {},
      );
    },
  };
}
