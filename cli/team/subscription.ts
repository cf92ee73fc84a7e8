import { isLoopback } from "../../grammar/address/loopback.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { visible } from "../../grammar/visible-text.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { type Context, EXIT } from "../context.ts";
import { edition, type Release, releaseAccount } from "../edition.ts";
import { openInBrowser } from "../open-in-browser.ts";
import type { DeployProgress } from "../output/deploy-progress.ts";
import type { Options } from "../table.ts";
import { type AccountClient, isPassing, notUnderstood } from "./account-client.ts";
import { payingCredential } from "./account-of-release.ts";
import { dayOf } from "./day-of.ts";
import { TeamError } from "./error.ts";
import { keepStatement } from "./pro-statement.ts";
import { forTeam } from "./team-command.ts";
import type { KeyedCredential } from "./team-config.ts";

type Subscription = Operations["get_subscription"]["output"];

/** `tool team subscribe`: opens the page on which Pro is paid, and waits until it is. */
export function subscribe(context: Context, _: Options<"team subscribe">, release = BUILT): Promise<number> {
  const interrupted =
    "interrupted: what is paid on the page counts all the same; tool team subscribe shows whether it is";
  return forPayingTeam(context, { interrupted, release }, async ({ client, credential, work }) => {
    const { team, url } = credential;
    const before = await client.call("get_subscription", {}, OLD_SERVICE);
    if (needsNone(before)) return sayNone(context, before, credential);
    if (isPaid(before) || before.status === "past_due") {
      keep(context, credential, before, release);
      if (context.format === "json") return printJson(context, before);
      const has = before.edition === "pro" ? "has Pro" : "has no Pro any more";
      await context.print(`${team} ${has}: its subscription is ${inWords(before.status)}`);
      if (before.ends_at !== undefined) {
        await context.say(
          `it ends on ${dayOf(before.ends_at)}; tool team card change opens the page on which it goes on`,
        );
      } else if (before.status === "past_due") {
        await context.say("the last payment failed: tool team card change opens the page for another card");
      }
      return EXIT.ok;
    }
    const page = await pageOf(client.call("add_subscription", {}, { ...OLD_SERVICE, 409: SUBSCRIBED }), url);
    if (context.format === "json") return printJson(context, before, page);
    await show(context, page, "Pay on this page:");
    const paid = await untilPaid(client, { ...work, clock: context.io.clock });
    keep(context, credential, paid, release);
    await context.say(`${team} has Pro now`);
    if (release.edition === "free") await context.say("  tool upgrade installs the Pro edition");
    return EXIT.ok;
  });
}

/** `tool team unsubscribe`: ends the subscription after the period that is paid. */
export function unsubscribe(context: Context, { yes }: Options<"team unsubscribe">, release = BUILT): Promise<number> {
  return forPayingTeam(context, { release }, async ({ client, credential }) => {
    const { team } = credential;
    const before = await client.call("get_subscription", {}, OLD_SERVICE);
    if (needsNone(before)) return sayNone(context, before, credential);
    if (before.status === "none" || before.status === "canceled") {
      return context.fail(`${team} has no subscription`, "tool team subscribe begins one");
    }
    if (before.ends_at === undefined && !yes) {
      const { io } = context;
      if (io.stdin.isTTY !== true || !io.stderr.isTerminal) {
        const what = `this would end the subscription of ${team} after the period that is paid`;
        return context.misuse(`${what}, and there is no terminal to confirm it`, "write --yes to agree");
      }
      const answer = await io.ask(`End the subscription of ${team} after the period that is paid? (y/n): `);
      if (answer === undefined) return EXIT.interrupted;
      if (!/^y(?:es)?$/i.test(answer.trim())) {
        await context.say("nothing was changed");
        return EXIT.failed;
      }
    }
    const after = before.ends_at === undefined ? await client.call("remove_subscription", {}, OLD_SERVICE) : before;
    if (context.format === "json") return printJson(context, after);
    const when = after.ends_at === undefined ? "at once" : `on ${dayOf(after.ends_at)}; until then ${team} has Pro`;
    await context.print(`the subscription of ${team} ends ${when}`);
    return EXIT.ok;
  });
}

/** `tool team card change`: opens the page on which the card is changed; if a payment has failed, waits until it is made. */
export function changeCard(context: Context, _: Options<"team card change">, release = BUILT): Promise<number> {
  const interrupted = "interrupted: what is done on the page counts all the same";
  return forPayingTeam(context, { interrupted, release }, async ({ client, credential, work }) => {
    const before = await client.call("get_subscription", {}, OLD_SERVICE);
    if (needsNone(before)) return sayNone(context, before, credential);
    if (before.status === "none" || before.status === "canceled") {
      return context.fail(`${credential.team} has no subscription`, "tool team subscribe begins one");
    }
    const page = await pageOf(client.call("change_card", {}, OLD_SERVICE), credential.url);
    if (context.format === "json") return printJson(context, before, page);
    await show(context, page, "Change the card on this page:");
    if (isPaid(before)) return EXIT.ok;
    const paid = await untilPaid(client, { ...work, clock: context.io.clock });
    keep(context, credential, paid, release);
    await context.say(`${credential.team} has paid: its subscription is ${inWords(paid.status)}`);
    return EXIT.ok;
  });
}

const BUILT: Release = { edition, account: releaseAccount };

/** Acts for the team that is asked for statements; see `payingCredential`. */
const forPayingTeam = (
  context: Context,
  { release, ...texts }: { readonly interrupted?: string; readonly release: Release },
  work: Parameters<typeof forTeam>[3],
) => forTeam(context, texts, (credentials) => payingCredential(credentials, release.account), work);

const needsNone = ({ provider }: Subscription) => provider === "none";
const isPaid = ({ status }: Subscription) => status === "active" || status === "trialing";
const inWords = (status: string) => visible(status.replaceAll("_", " "));

async function sayNone(context: Context, subscription: Subscription, { url }: KeyedCredential): Promise<number> {
  if (context.format === "json") return printJson(context, subscription);
  await context.print(`${url} needs no subscription: everybody has Pro`);
  return EXIT.ok;
}

/** A program opens the page by itself, and asks again by the same command. */
async function printJson(context: Context, subscription: Subscription, page?: string): Promise<number> {
  const { team_id, provider, status, edition, ends_at } = subscription;
  const document = { team: team_id, provider, status, edition, endsAt: ends_at ?? null, page: page ?? null };
  await context.print(JSON.stringify(document, null, 2));
  return EXIT.ok;
}

function keep(context: Context, credential: KeyedCredential, { statement }: Subscription, release: Release): void {
  if (release.account !== undefined && statement !== undefined) {
    keepStatement(context, credential, release.account, statement);
  }
}

/** The address of a page. A browser opens what it is given, a file or a program's link as well: only web pages are opened. */
async function pageOf(answer: Promise<{ readonly url: string }>, service: string): Promise<string> {
  const { url } = await answer;
  const page = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = page?.protocol === "https:" || (page?.protocol === "http:" && isLoopback(page.hostname));
  if (page === undefined || !isWeb || page.username !== "") throw notUnderstood(service);
  return page.href;
}

async function show(context: Context, page: string, title: string): Promise<void> {
  await context.say(title);
  await context.print(page);
  await openInBrowser(context.io, page);
}

/** Payments take a minute or two; after five, somebody is looking for a card. */
const POLL_MS = 2_000;
const LATER_POLL_MS = 10_000;
const SOON_MS = 5 * 60_000;
/** Nobody waits for longer, and the page is good for a day. */
const GIVE_UP_MS = 60 * 60_000;

/** Asks until the subscription is paid. A service that does not answer for a moment is asked again. */
async function untilPaid(
  client: AccountClient,
  {
    progress,
    signal,
    clock,
  }: { readonly progress: DeployProgress; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<Subscription> {
  const phase = "waiting until it is paid";
  progress.report({ kind: "begin", phase });
  const beganMs = clock.monotonicMs();
  for (;;) {
    const elapsedMs = clock.monotonicMs() - beganMs;
    await clock.sleep(elapsedMs < SOON_MS ? POLL_MS : LATER_POLL_MS, signal);
    try {
      const now = await client.call("get_subscription", {});
      if (isPaid(now)) {
        progress.end();
        return now;
      }
    } catch (error) {
      if (!(error instanceof TeamError) || !isPassing(error)) throw error;
      progress.report({ kind: "note", phase, text: `${visible(error.message)}; trying again` });
    }
    if (elapsedMs > GIVE_UP_MS) {
      const hint = "if you have paid, or will within a day: tool team subscribe shows whether it is known";
      throw new TeamError("nothing was paid within an hour", hint);
    }
  }
}

/** Such as one that was paused. */
const SUBSCRIBED = "tool team card change opens the page of the subscription that is there";

const OLD = {
  message: "this service knows nothing of subscriptions",
  hint: "whoever runs it has to update it",
};
/** Answers of a service that does not have these operations yet. */
const OLD_SERVICE = { 404: OLD, 405: OLD };
