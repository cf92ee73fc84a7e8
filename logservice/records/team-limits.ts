import type { Kysely } from "kysely";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import type { Tables } from "./tables.ts";

/** The records of which a team has a number at most, and the name of the limit. */
const TEAM_LIMITS = {
  projects: "projectsPerTeam",
  alerts: "alertsPerTeam",
  searches: "searchesPerTeam",
  tokens: "tokensPerTeam",
  notifications: "notificationsPerTeam",
} as const satisfies Record<string, keyof Limits>;

export type TeamRecord = keyof typeof TEAM_LIMITS;

/** The limits of what a team has. */
export type TeamLimits = Pick<Limits, (typeof TEAM_LIMITS)[TeamRecord]>;

/**
 * Throws `rate_limited` if a team has as many records of a kind as it may have. To be called in the transaction that adds
 * another one. Tokens of the command line do not count: nobody may be kept from signing in.
 */
export async function refuseMore(
  db: Kysely<Tables>,
  team: string,
  kind: TeamRecord,
  limits: TeamLimits,
): Promise<void> {
  const name = TEAM_LIMITS[kind];
  const count = kind === "tokens" ? await countTokens(db, team) : await countOf(db, team, kind);
  if (count < limits[name]) return;
  const message = `a team has at most ${limits[name]} ${kind} (${name}): remove one, or ask whoever runs the service for more`;
  throw new RpcError("rate_limited", message);
}

async function countOf(db: Kysely<Tables>, team: string, table: Exclude<TeamRecord, "tokens">): Promise<number> {
  const rows = db.selectFrom(table).select(({ fn }) => fn.countAll<number>().as("count"));
  return Number((await rows.where("team_id", "=", team).executeTakeFirstOrThrow()).count);
}

async function countTokens(db: Kysely<Tables>, team: string): Promise<number> {
  const rows = db.selectFrom("tokens").select(({ fn }) => fn.countAll<number>().as("count"));
  const ofTeam = rows.where("team_id", "=", team).where("kind", "!=", "command");
  return Number((await ofTeam.executeTakeFirstOrThrow()).count);
}

/**
 * Reads limits as an operator writes them: `projects=500,alerts=2000`. Returns what is wrong with the text as a sentence if
 * it is not of this form.
 */
export function readTeamLimits(
  text: string,
): { readonly ok: true; readonly value: Partial<TeamLimits> } | { readonly ok: false; readonly problems: string[] } {
  const value: Partial<Record<keyof TeamLimits, number>> = {};
  const problems: string[] = [];
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const [, kind = "", digits = ""] = /^(\w+)\s*=\s*([0-9]{1,9})$/.exec(part) ?? [];
    if (Object.hasOwn(TEAM_LIMITS, kind)) value[TEAM_LIMITS[kind as TeamRecord]] = Number(digits);
    else problems.push(`${JSON.stringify(part)} is no limit of a team`);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value };
}

/** The form of the limits, for people. */
export const TEAM_LIMITS_FORM = `write ${Object.keys(TEAM_LIMITS)
  .map((kind) => `${kind}=1000`)
  .join(",")}, or some of them`;
