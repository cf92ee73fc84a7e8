import { visible } from "../../grammar/visible-text.ts";
import { copyToClipboard, hasClipboard } from "../clipboard.ts";
import { type Context, EXIT } from "../context.ts";
import { alignedTable } from "../output/aligned-table.ts";
import type { Options } from "../table.ts";
import { notUnderstood } from "./account-client.ts";
import { dayOf } from "./day-of.ts";
import { forCurrentTeam } from "./team-command.ts";
import { type Credential, isToken, NO_TEAMS, printTeamConfig, withCredential } from "./team-config.ts";

/** `tool team ci`: makes a CI token and prints the value of TOOL_CONFIG that holds it, which is shown only here. */
export function make(context: Context, { name: written, apply: applies, copy }: Options<"team ci">): Promise<number> {
  const name = written ?? `ci ${applies ? "apply " : ""}${new Date(context.io.nowMs()).toISOString().slice(0, 10)}`;
  return forCurrentTeam(context, async (client, { team, email, url }) => {
    if (copy && !(await hasClipboard(context.io))) return withoutClipboard(context);
    const { id, token, expires_at } = await client.call(
      "add_ci_token",
      { name, ...(applies && { applies }) },
      { misread: MISREAD },
    );
    if (!isToken(token)) throw notUnderstood(url, MISREAD);
    const value = toolConfigOf({ team, email, url, token });
    if (copy && !(await copyToClipboard(context.io, value))) {
      await client.call("remove_ci_token", { token_id: id });
      return withoutClipboard(context);
    }
    if (context.format === "json") {
      const document = { id, name, expiresAt: expires_at, copied: copy, value: copy ? null : value };
      await context.print(JSON.stringify(document, null, 2));
      return EXIT.ok;
    }
    const until = dayOf(expires_at);
    const also = applies ? ", and applies searches, alerts and notifications of tool.json," : "";
    await context.say(
      `the CI token ${visible(id)} (${name}) of ${team} reads projects and writes events${also} until ${until}`,
    );
    await context.say(`  tool team ci rm ${visible(id)} revokes it`);
    await context.say(copy ? "the value of TOOL_CONFIG is copied" : "keep this as the secret TOOL_CONFIG of CI:");
    if (!copy) await context.print(value);
    return EXIT.ok;
  });
}

function withoutClipboard(context: Context): number {
  return context.fail(
    "there is no clipboard to copy to, and no token was made",
    "on Linux, copying needs wl-copy, xclip or xsel, and a display; tool team ci prints it instead",
  );
}

const MISREAD = "a token may have been made: tool team ci ls lists it, and tool team ci rm <id> revokes it";

/** Base64, as settings of CI may change quotes and line breaks of JSON. */
function toolConfigOf(credential: Credential): string {
  return Buffer.from(printTeamConfig(withCredential(NO_TEAMS, credential))).toString("base64");
}

/** `tool team ci ls`: the CI tokens of the current team, oldest first. */
export function ls(context: Context): Promise<number> {
  return forCurrentTeam(context, async (client) => {
    const { tokens } = await client.call("get_ci_tokens", {});
    if (context.format === "json") {
      const rows = tokens.map(({ id, name, created_at, created_by, last_used_at, expires_at, applies = false }) => ({
        id,
        name,
        createdAt: created_at,
        createdBy: created_by,
        lastUsedAt: last_used_at,
        expiresAt: expires_at,
        applies,
      }));
      await context.print(JSON.stringify({ tokens: rows }, null, 2));
      return EXIT.ok;
    }
    if (tokens.length === 0) {
      await context.say("there are no CI tokens\n  tool team ci makes one");
      return EXIT.ok;
    }
    const rows = tokens.map(({ id, name, created_by, last_used_at, expires_at }) => [
      id,
      name,
      last_used_at === null ? "never" : dayOf(last_used_at),
      dayOf(expires_at),
      created_by,
    ]);
    await context.print(alignedTable(["ID", "NAME", "USED", "ENDS", "MADE BY"], rows, context.io.stdout));
    return EXIT.ok;
  });
}

/** `tool team ci rm`: revokes a CI token at once. */
export function rm(context: Context, { id }: Options<"team ci rm">): Promise<number> {
  return forCurrentTeam(context, async (client) => {
    await client.call("remove_ci_token", { token_id: id }, { 404: "tool team ci ls lists them" });
    // The word may be the token itself.
    if (context.format === "json") await context.print(JSON.stringify({ removed: true }));
    else await context.print("revoked");
    return EXIT.ok;
  });
}
