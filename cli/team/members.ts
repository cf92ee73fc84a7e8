import { visible } from "../../grammar/visible-text.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { type Context, EXIT } from "../context.ts";
import { alignedTable } from "../output/aligned-table.ts";
import { shellWord } from "../shell-word.ts";
import type { Options } from "../table.ts";
import type { AccountClient, Remedies } from "./account-client.ts";
import { readCredentials } from "./credentials.ts";
import { dayOf } from "./day-of.ts";
import { isEmailAddress } from "./email-address.ts";
import { TeamError } from "./error.ts";
import { loginCommand } from "./login-command.ts";
import { forCurrentTeam } from "./team-command.ts";
import { withoutCredential } from "./team-config.ts";

type Role = Operations["update_member"]["input"]["role"];

/** Each may do what those before it may. */
const ROLES: readonly Role[] = ["member", "admin", "owner"];

const LIST = "tool team members ls lists them";

/** `tool team members ls`: the members of the current team, and who is invited. */
export function ls(context: Context): Promise<number> {
  return forCurrentTeam(context, async (client) => {
    const { members } = await client.call("get_members", {});
    if (context.format === "json") {
      const rows = members.map(({ email, role, state, since, expires_at }) => ({
        email,
        role,
        state,
        since,
        expiresAt: expires_at ?? null,
      }));
      await context.print(JSON.stringify({ members: rows }, null, 2));
      return EXIT.ok;
    }
    const rows = members.map(({ email, role, state, since, expires_at }) => [
      email,
      role,
      state === "member" ? `since ${dayOf(since)}` : `invited until ${dayOf(expires_at ?? "")}`,
    ]);
    await context.print(alignedTable(["EMAIL", "ROLE", "STATE"], rows, context.io.stdout));
    return EXIT.ok;
  });
}

/** `tool team members add`: invites a person. The link is printed if the service sends no mails. */
export function add(context: Context, options: Options<"team members add">): Promise<number> {
  const address = readAddress(context, options.address);
  const wanted = options.role === undefined ? undefined : readRole(context, options.role);
  return forCurrentTeam(context, async (client, { team, url }) => {
    const input = { email: address, ...(wanted !== undefined && { role: wanted }) };
    const change = `to change the role: tool team members role ${shellWord(address)} ${wanted ?? "admin"}`;
    const isMember = { message: `${address} is a member already`, hint: change };
    const answer = await client.call("add_member", input, { ...ADDRESS, 409: isMember });
    // A service of before does not tell the role, which it makes "member" unless told otherwise.
    const { mailed, link, expires_at, role = wanted ?? "member" } = answer;
    if (context.format === "json") {
      const document = { email: address, role, mailed, link: link ?? null, expiresAt: expires_at };
      await context.print(JSON.stringify(document, null, 2));
      return EXIT.ok;
    }
    await context.say(`invited ${address} to ${team} as ${visible(role)}, until ${dayOf(expires_at)}`);
    if (link === undefined) await context.say("a mail with the link is on its way");
    await context.say(
      `they accept on the page of the link, and then sign in on their terminal:\n  ${loginCommand({ url, email: address })}`,
    );
    if (link !== undefined) {
      await context.say("the service sends no mails: hand this link over");
      await context.print(visible(link));
    }
    return EXIT.ok;
  });
}

/** `tool team members role`: changes what a member may do. */
export function role(context: Context, options: Options<"team members role">): Promise<number> {
  const address = readAddress(context, options.address);
  const role = readRole(context, options.role);
  return forCurrentTeam(context, async (client, { team }) => {
    const remedies = { ...ADDRESS, 404: inviteHint(address, role), 409: LAST_OWNER };
    const left = (await client.call("update_member", { email: address, role }, remedies)).tokens;
    if (context.format === "json") {
      await context.print(JSON.stringify({ email: address, role, tokens: left }, null, 2));
      return EXIT.ok;
    }
    await context.print(`${address} is ${role === "member" ? "a member" : `an ${role}`} of ${team} now`);
    if (left.length > 0)
      await context.say(`tokens that ${address} made may still do more: ${left.map(visible).join(", ")}`);
    return EXIT.ok;
  });
}

const LAST_OWNER = "tool team members role <address> owner";

/** Right for who is invited, and for who is not. */
const inviteHint = (address: string, role: Role) =>
  `to invite them, also again with this role: tool team members add ${shellWord(address)} --role ${role}\n${LIST}`;

/** `tool team members link`: a link that signs a member in once, on a service that sends no mails. */
export function link(context: Context, options: Options<"team members link">): Promise<number> {
  const address = readAddress(context, options.address);
  return forCurrentTeam(context, async (client) => {
    const hint = `${LIST}; tool team login --email ${shellWord(address)} sends a mail if the service can`;
    const onMachine = `tool service sign-in ${shellWord(address)} --data DIR, on the service's machine, makes one`;
    const invite = `for the link of an invite: tool team members add ${shellWord(address)}\n${LIST}`;
    const remedies = { ...ADDRESS, 403: onMachine, 404: invite, 409: hint };
    const answer = await client.call("add_member_link", { email: address }, remedies);
    if (context.format === "json") {
      const document = { email: address, link: answer.link, expiresAt: answer.expires_at };
      await context.print(JSON.stringify(document, null, 2));
      return EXIT.ok;
    }
    await context.say(`whoever opens this link is signed in as ${address}, once; hand it over safely:`);
    await context.print(visible(answer.link));
    return EXIT.ok;
  });
}

/**
 * `tool team members rm`: removes a member or an invite. On a terminal it asks whether the tokens that the person made end, too;
 * without one they go on, and are named.
 */
export function rm(
  context: Context,
  { address: written, tokens: isTold }: Options<"team members rm">,
): Promise<number> {
  const address = readAddress(context, written);
  return forCurrentTeam(context, async (client, credential) => {
    const tokens = isTold || (await endsTokens(context, client, address));
    if (tokens === undefined) return EXIT.interrupted;
    const remedies = { ...ADDRESS, 404: LIST, 409: LAST_OWNER };
    const left = (await client.call("remove_member", { email: address, tokens }, remedies)).tokens;
    await forgetOwn(context, credential, address);
    if (context.format === "json") {
      await context.print(JSON.stringify({ email: address, tokens: left }, null, 2));
      return EXIT.ok;
    }
    await context.print(`removed ${address} from ${credential.team}`);
    if (left.length > 0) {
      await context.say(`tokens that ${address} made still work: ${left.map(visible).join(", ")}`);
      await context.say(
        "  tool team ci rm <id> ends one of CI, the page Tokens of the web UI any; with --tokens all would have ended",
      );
    }
    return EXIT.ok;
  });
}

/**
 * Asks on a terminal whether the tokens that a person made end with the membership; false if there are none, or no terminal.
 * Undefined for Ctrl-C.
 */
async function endsTokens(
  { io, format, say }: Context,
  client: AccountClient,
  address: string,
): Promise<boolean | undefined> {
  if (format === "json" || io.stdin.isTTY !== true || !io.stderr.isTerminal) return false;
  const made = await tokensBy(client, address);
  if (made.length === 0) return false;
  await say(`${address} made these tokens, which go on working unless they are ended:`);
  for (const { id, kind, name } of made)
    await say(`  ${visible(id)}  ${kind}${name === "" ? "" : `  ${visible(name)}`}`);
  for (;;) {
    const answer = await io.ask("End them, too? Programs that use them are refused at once (y/n): ");
    if (answer === undefined) return undefined;
    const word = answer.trim().toLowerCase();
    if (word === "y" || word === "yes") return true;
    if (word === "n" || word === "no") return false;
  }
}

/** The tokens that a removed person would leave. None for people who may not see them. */
async function tokensBy(client: AccountClient, address: string) {
  try {
    const api = (await client.call("get_tokens", {})).tokens;
    const ci = (await client.call("get_ci_tokens", {})).tokens;
    // Those that make other tokens end in any case.
    const own = api.filter(({ scopes }) => !scopes.includes("tokens:write"));
    return [
      ...own.map((one) => ({ ...one, kind: "API", name: one.description })),
      ...ci.map((one) => ({ ...one, kind: "CI" })),
    ].filter(({ created_by }) => created_by.toLowerCase() === address.toLowerCase());
  } catch (error) {
    // The removal, which comes next, says what is wrong if it is more than that.
    if (error instanceof TeamError) return [];
    throw error;
  }
}

/** People may remove themselves, which ends their token. */
async function forgetOwn(context: Context, { key, email, token }: Own, address: string): Promise<void> {
  if (address.toLowerCase() !== email.toLowerCase()) return;
  const credentials = readCredentials(context);
  if (credentials.source !== "file") return;
  await credentials.file.change((now) => {
    const isSame = now.credentials.some((one) => one.key === key && one.token === token);
    return isSame ? withoutCredential(now, key) : now;
  });
}

interface Own {
  readonly key: string;
  readonly email: string;
  readonly token: string;
}

function readAddress(context: Context, written: string): string {
  if (isEmailAddress(written)) return written;
  return context.misuse(`${JSON.stringify(written)} is not an email address`, NAME_AT);
}

const NAME_AT = "write it as name@example.com";

/** For calls that change something about an address, which the service reads more strictly. */
const ADDRESS: Remedies = { 400: NAME_AT, misread: "it may be done all the same: tool team members ls shows that" };

function readRole(context: Context, written: string): Role {
  const role = ROLES.find((one) => one === written);
  return role ?? context.misuse(`${JSON.stringify(written)} is not a role`, `write one of ${ROLES.join(", ")}`);
}
