import type { Kysely } from "kysely";
import { RpcError } from "../error.ts";
import type { ProjectKey } from "./projects.ts";
import type { Tables } from "./tables.ts";

/** The tables of records that the tool.json of an app may hold, each with what people call one. */
const KINDS = { alerts: "alert", notifications: "notification", searches: "search" } as const;

type ManagedTable = keyof typeof KINDS;

/** A record as far as it matters who manages it: the app whose tool.json it is in, or "" if people made it. */
interface Managed {
  readonly name: string;
  readonly managed_by: string;
}

/**
 * Throws `conflict` unless a request may change or remove a record: one that an app manages only if the request names that
 * app, or releases it.
 */
export function refuseUnmanaging(
  table: ManagedTable,
  { name, managed_by }: Managed,
  given: string | undefined,
  { releases }: { readonly releases: boolean },
): void {
  if (managed_by === "" || given === managed_by || (releases && given === "")) return;
  const which = `${KINDS[table]} ${name}`;
  throw new RpcError(
    "conflict",
    given === undefined || given === ""
      ? `${which} is in tool.json of ${managed_by}: change it there, or release it with managed_by ""`
      : twoApps(which, managed_by, given),
  );
}

/** Throws `conflict` if an app manages a record of this name already: names stand for ids in tool.json. */
export async function refuseClaimed(
  db: Kysely<Tables>,
  table: ManagedTable,
  project: ProjectKey,
  { name, managed_by, id = "" }: Partial<Managed> & { readonly name: string; readonly id?: string },
): Promise<void> {
  if (managed_by === undefined || managed_by === "") return;
  // The three tables have these columns in common.
  const row = await (db as Kysely<Pick<Tables, "searches">>)
    .selectFrom(table as "searches")
    .select("managed_by")
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .where("name", "=", name)
    .where("managed_by", "!=", "")
    .where("id", "!=", id)
    .executeTakeFirst();
  if (row === undefined) return;
  const which = `${KINDS[table]} ${name}`;
  throw new RpcError(
    "conflict",
    row.managed_by === managed_by
      ? `${which} of ${managed_by} is there already: run tool stack apply again`
      : twoApps(which, row.managed_by, managed_by),
  );
}

const twoApps = (which: string, owner: string, other: string) =>
  `${which} is in tool.json of ${owner}, and cannot be in that of ${other}, too: give one of them another name`;
