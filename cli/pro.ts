// Features that need Pro, in builds that do not give it to everybody: the free edition refuses it, and a release with an account
// service asks that. A bundle of its own, which other builds never load.
import { LineIndex, type Problem } from "../grammar/problem.ts";
import { visible } from "../grammar/visible-text.ts";
import { type ProKey, proKeysIn, proProblem } from "../schema/index.ts";
import type { Edition } from "../schema/statement.ts";
import type { Context } from "./context.ts";
import { edition, type Release, type ReleaseAccount, releaseAccount } from "./edition.ts";
import { TeamError } from "./team/error.ts";
import { askStatement, provePro, withoutPro } from "./team/pro-statement.ts";

/** How the free edition becomes Pro. */
const GET_PRO = "subscribe with tool team subscribe; then tool upgrade installs the Pro edition";

/** Ends the command, before it has done anything, if it may not use a feature of Pro, such as `tool rollback`. */
export async function requirePro(
  context: Context,
  feature: string,
  release: Release = { edition, account: releaseAccount },
): Promise<void> {
  if (release.edition === "free")
    return context.fail(`${feature} is a Pro feature, and this is the free edition`, GET_PRO);
  return proved(context, release, (why, hint) => context.fail(`${feature} is a Pro feature: ${why}`, hint));
}

/**
 * The same for the settings of a tool.json. `show` prints each at its place, all of them at once; that is called only if the
 * command ends.
 */
export async function requireProKeys(
  context: Context,
  text: string,
  show: (problems: readonly Problem[]) => Promise<void>,
  release: Release = { edition, account: releaseAccount },
): Promise<void> {
  const keys = proKeysIn(text);
  if (keys.length === 0) return;
  const names = namesOf(keys, text);
  const showAll = () => show(keys.map((key) => proProblem(key, "error")));
  if (release.edition === "free") {
    await showAll();
    return context.fail(
      `this is the free edition, and tool.json has settings of Pro: ${names}`,
      `remove them, or ${GET_PRO}`,
    );
  }
  return proved(context, release, async (why, hint) => {
    await showAll();
    return context.fail(`tool.json has settings of Pro (${names}): ${why}`, hint);
  });
}

/** Asks the account service, if the release has one. `refuse` ends the command. */
async function proved(
  context: Context,
  { account }: Release,
  refuse: (why: string, hint: string) => Promise<never> | never,
): Promise<void> {
  if (account === undefined) return;
  try {
    const warning = await provePro(context, account);
    if (warning !== undefined) await context.say(`warning: ${visible(warning)}`);
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    // A service may answer anything.
    return refuse(visible(error.message), error.hint.split("\n").map(visible).join("\n"));
  }
}

/**
 * The edition that an upgrade installs: Pro for a team whose statement says so. For others it is `present`, the one that is
 * there, and why is said: who was not asked keeps what they have, and nobody's command is taken from them.
 */
export async function editionToInstall(context: Context, present: Edition, account: ReleaseAccount): Promise<Edition> {
  const stays = async (why: string, hint?: string) => {
    await context.say(`the ${present === "pro" ? "Pro" : "free"} edition stays: ${visible(why)}`);
    for (const line of hint?.split("\n") ?? []) await context.say(`  ${visible(line)}`);
    return present;
  };
  try {
    const { statement, team, warning } = await askStatement(context, account);
    if (statement === undefined) return stays(`${warning}; nothing says whether ${team} has Pro`);
    if (statement.edition !== "pro") {
      const { message, hint } = withoutPro(statement, account);
      return stays(message, hint);
    }
    if (warning !== undefined) await context.say(`warning: ${visible(warning)}`);
    return "pro";
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return stays(error.message, error.hint);
  }
}

/** The remark of `tool validate` on a tool.json in the free edition; undefined if it needs no Pro. */
export function proRemark(text: string, file: string): string | undefined {
  const keys = proKeysIn(text);
  if (keys.length === 0) return undefined;
  return `note: ${file} has settings of Pro, which this free edition does not deploy: ${namesOf(keys, text)}\n  ${GET_PRO}`;
}

/** `alerts (line 4), function.warm (line 9)` */
function namesOf(keys: readonly ProKey[], text: string): string {
  const lines = new LineIndex(text);
  return keys.map(({ path, span }) => `${visible(path)} (line ${lines.position(span.start).line})`).join(", ");
}
