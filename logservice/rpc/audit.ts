import { findAudit } from "../records/audit.ts";
import { firstTeam } from "../records/teams.ts";
import type { Handlers } from "./call.ts";
import { pageOf, readCursor } from "./page-cursor.ts";
import { readTimeInput } from "./read-range.ts";

const DEFAULT_LIMIT = 100;

export const audit: Handlers<"get_audit"> = {
  async get_audit({ records }, { start, stop, project_id, limit = DEFAULT_LIMIT, cursor }, { grant }) {
    const time = (text: string | undefined, place: string) =>
      text === undefined ? undefined : new Date(readTimeInput(text, place)).toISOString();
    // Whoever runs the installation also sees who was refused without being known.
    const teams = grant.team === (await firstTeam(records.db)) ? [grant.team, ""] : [grant.team];
    const range = { teams, start: time(start, "start"), stop: time(stop, "stop"), projectId: project_id };
    const entries = await findAudit(records.db, { ...range, limit: limit + 1, after: readCursor(cursor) });
    const { rows, ...more } = pageOf(entries, limit, ({ at, id }) => ({ at, id }));
    return { entries: rows.map(({ team_id: _, ...entry }) => entry), ...more };
  },
};
