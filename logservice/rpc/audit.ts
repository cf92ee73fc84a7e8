import { RpcError } from "../error.ts";
import { findAudit } from "../records/audit.ts";
import { firstTeam } from "../records/teams.ts";
import type { Handlers } from "./call.ts";
import { readTime } from "./read-range.ts";

const DEFAULT_LIMIT = 100;

export const audit: Handlers<"get_audit"> = {
  async get_audit({ records }, { start, stop, project_id, limit = DEFAULT_LIMIT, cursor }, { grant }) {
    const time = (text: string | undefined, place: string) =>
      text === undefined ? undefined : new Date(readTime(text, place)).toISOString();
    // Whoever runs the installation also sees who was refused without being known.
    const teams = grant.team === (await firstTeam(records.db)) ? [grant.team, ""] : [grant.team];
    const range = { teams, start: time(start, "start"), stop: time(stop, "stop"), projectId: project_id };
    const after = cursor ? readCursor(cursor) : undefined;
    // One entry more than asked for tells whether there is another page.
    const found = await findAudit(records.db, { ...range, limit: limit + 1, after });
    const entries = found.slice(0, limit);
    const last = entries.at(-1);
    const isMore = found.length > limit && last !== undefined;
    return { entries: entries.map(({ team_id: _, ...shown }) => shown), ...(isMore && { cursor: printCursor(last) }) };
  },
};

const printCursor = ({ at, id }: { at: string; id: string }) =>
  Buffer.from(JSON.stringify([at, id])).toString("base64url");

function readCursor(text: string): { at: string; id: string } {
  try {
    const [at, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (typeof at === "string" && typeof id === "string") return { at, id };
  } catch {
    // Reported below.
  }
  throw new RpcError("bad_request", "cursor: is not one that an answer returned");
}
