import { domainProblem } from "../../schema/checks/domain.ts";
import { type Context, EXIT } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { openRegistrar } from "../open-platform.ts";
import { openSandbox, usesSandbox } from "../open-sandbox.ts";
import type { Contact, DomainOffer, Registrar } from "../platform/registrar.ts";
import { accountProfile } from "../project/account-profile.ts";
import type { Options } from "../table.ts";

/** `tool domains ls`: lists the domains of the account. */
export function ls(context: Context, options: Options<"domains ls">): Promise<number> {
  return withRegistrar(context, options, async (registrar, signal) => {
    const domains = await registrar.list(signal);
    if (context.format === "json") await context.print(toJson({ domains }));
    else if (domains.length === 0) await context.print("the account has no domains");
    else {
      const width = Math.max(...domains.map(({ domain }) => domain.length));
      for (const { domain, expires, renews } of domains) {
        const until = expires === undefined ? "" : `${renews ? "renews" : "ends"} ${expires.slice(0, 10)}`;
        await context.print(`${domain.padEnd(width)}  ${until}`.trimEnd());
      }
    }
    return EXIT.ok;
  });
}

/** `tool domains check <domain>`: prints whether it can be bought, and its price. */
export async function check(context: Context, options: Options<"domains check">): Promise<number> {
  const domain = canonical(options.domain);
  const wrong = domainProblem(domain);
  if (wrong !== undefined) return context.misuse(wrong.message, wrong.hint);
  return withRegistrar(context, options, async (registrar, signal) => {
    const offer = await registrar.check(domain, signal);
    if (context.format === "json") await context.print(toJson(offer));
    else await context.print(describe(offer));
    return EXIT.ok;
  });
}

/** `tool domains buy`: asks for the domain and its owner, shows the price, and buys it once the domain is typed again. */
export async function buy(context: Context, options: Options<"domains buy">): Promise<number> {
  const { io } = context;
  if (io.stdin.isTTY !== true || !io.stderr.isTerminal) {
    return context.misuse("buying a domain asks questions, and there is no terminal", "run it in a terminal");
  }
  return withRegistrar(context, options, async (registrar, signal) => {
    const cancelled = async () => {
      await context.say("nothing was bought");
      return EXIT.interrupted;
    };
    const domain = await ask(context, "Domain", (text) => domainProblem(canonical(text))?.message);
    if (domain === undefined) return cancelled();
    const offer = await registrar.check(canonical(domain), signal);
    if (!offer.isAvailable || offer.price === undefined) return context.fail(describe(offer), "choose another");
    await context.say(`${describe(offer)}\nThe owner's details, required by the registry and kept private:`);
    const contact: Record<string, string> = {};
    for (const { field, question, problem } of QUESTIONS) {
      const answer = await ask(context, question, problem);
      if (answer === undefined) return cancelled();
      contact[field] = answer;
    }
    const { amount, currency, renewal } = offer.price;
    const price = `${amount} ${currency} now and ${renewal} ${currency} each year`;
    const typed = await io.ask(`This buys ${offer.domain} for ${price}. Type ${offer.domain} to continue: `);
    if (typed?.trim() !== offer.domain) return cancelled();
    const id = await registrar.buy(offer.domain, contact as unknown as Contact, signal);
    await context.say(`mail to ${contact.email} asks to confirm the address: follow its link within 15 days`);
    if (context.format === "json") await context.print(toJson({ domain: offer.domain, registration: id }));
    else await context.print(`${offer.domain} is being registered; tool domains ls shows it within some minutes`);
    return EXIT.ok;
  });
}

interface Question {
  readonly field: keyof Contact;
  readonly question: string;
  /** Returns the problem of an answer; undefined if there is none. */
  readonly problem: (answer: string) => string | undefined;
}

const needed = (answer: string) => (answer === "" ? "this is required" : undefined);
const matches = (pattern: RegExp, problem: string) => (answer: string) => (pattern.test(answer) ? undefined : problem);

const QUESTIONS: readonly Question[] = [
  { field: "firstName", question: "First name", problem: needed },
  { field: "lastName", question: "Last name", problem: needed },
  { field: "organization", question: "Organization (empty for a person)", problem: () => undefined },
  {
    field: "email",
    question: "Email",
    problem: matches(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "write an address such as ana@example.com"),
  },
  {
    field: "phone",
    question: "Phone",
    problem: matches(/^\+\d{1,3}\.\d{4,14}$/, "write it with a dot after the country code, such as +1.2125550123"),
  },
  { field: "address", question: "Street and number", problem: needed },
  { field: "city", question: "City", problem: needed },
  { field: "state", question: "State or province (empty if there is none)", problem: () => undefined },
  { field: "zip", question: "Postal code", problem: needed },
  { field: "country", question: "Country", problem: matches(/^[A-Z]{2}$/, "write its two letters, such as US") },
];

/** Asks until the answer is valid; undefined after Ctrl-C. */
async function ask(
  context: Context,
  question: string,
  problem: (answer: string) => string | undefined,
): Promise<string | undefined> {
  for (;;) {
    const answer = (await context.io.ask(`  ${question}: `))?.trim();
    const wrong = answer === undefined ? undefined : problem(answer);
    if (wrong === undefined) return answer;
    await context.say(`  ${wrong}`);
  }
}

function describe({ domain, isAvailable, reason, price }: DomainOffer): string {
  if (!isAvailable) return `${domain} is not available${reason === undefined ? ": it is taken" : `: ${reason}`}`;
  if (price === undefined) return `${domain} is available; the registrar names no price`;
  const { amount, currency, renewal } = price;
  return `${domain} is available for ${amount} ${currency} a year${renewal === amount ? "" : `, then ${renewal} ${currency}`}`;
}

async function withRegistrar(
  context: Context,
  options: { readonly sandbox: boolean },
  run: (registrar: Registrar, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  return interruptible(context, { interrupted: () => "interrupted" }, async ({ signal }) => {
    if (usesSandbox(context, options.sandbox)) {
      await context.say("the sandbox has no registrar: what it says of domains is made up");
    }
    const sandbox = await openSandbox(context, options.sandbox);
    const registrar = await openRegistrar({
      env: context.io.env,
      clock: context.io.clock,
      profile: accountProfile(context),
      sandbox,
    });
    return run(registrar, signal);
  });
}

const canonical = (domain: string) => domain.trim().toLowerCase().replace(/\.$/, "");

const toJson = (document: object) => JSON.stringify(document, (_, value) => (value === undefined ? null : value), 2);
