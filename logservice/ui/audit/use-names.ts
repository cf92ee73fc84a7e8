import type { AuditEntry } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { projects } from "../data/session.ts";

/** The entries of more projects name things by their ids. */
const MOST_PROJECTS = 10;

/** The present names of things, by their ids: those of the projects of entries. Removed things are not among them. */
export function useNames(entries: readonly AuditEntry[]): ReadonlyMap<string, string> {
  const projectIds = new Set((projects.value ?? []).map(({ id }) => id));
  const ids = [...new Set(entries.map(({ project_id }) => project_id))].filter((id) => projectIds.has(id));
  const firstIds = ids.slice(0, MOST_PROJECTS).sort();
  const names = useLoaded(
    async (signal) => new Map((await Promise.all(firstIds.map((id) => namesIn(id, signal)))).flat()),
    [firstIds.join("\n")],
  );
  return names.value.value ?? NO_NAMES;
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

async function namesIn(project_id: string, signal: AbortSignal): Promise<readonly (readonly [string, string])[]> {
  const [{ alerts }, { notifications }, { searches }] = await Promise.all([
    call("get_alerts", { project_id }, { signal }),
    call("get_notifications", { project_id }, { signal }),
    call("get_searches", { project_id }, { signal }),
  ]);
  return [...alerts, ...notifications, ...searches].map(({ id, name }) => [id!, name] as const);
}
