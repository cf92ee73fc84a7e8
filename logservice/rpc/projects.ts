import type { ProjectUsage } from "../../schema/rpc.generated.ts";
import { requireStillGranted } from "../access/still-granted.ts";
import { levelName } from "../events/level-names.ts";
import type { DayUsage } from "../events/store.ts";
import {
  addProject,
  eventsKeyOf,
  getProject,
  listProjects,
  removeProject,
  updateProject,
} from "../records/projects.ts";
import { refuseMore } from "../records/team-limits.ts";
import { changeRecords, finishChange, type Handlers, projectOf } from "./call.ts";
import { missing } from "./events.ts";
import { readChanged } from "./read-input.ts";

const DAY_MS = 86_400_000;

export const projects: Handlers<
  "get_projects" | "add_project" | "update_project" | "remove_project" | "get_project_stats" | "get_usage"
> = {
  async get_projects({ records }, _, { grant }) {
    return { projects: await listProjects(records.db, grant.team) };
  },

  async add_project(service, { project }, call) {
    let key = "";
    const { targetId: id } = await changeRecords(service, call, async (db, now) => {
      await refuseMore(db, call.grant.team, "projects", service.teamLimits);
      const { id, events_key } = await addProject(db, call.grant.team, project, now);
      key = events_key;
      return { projectId: id, targetId: id };
    });
    service.events.setRetention(key, project.retention ?? 0);
    return { id };
  },

  async update_project(service, { project: change }, call) {
    const at = projectOf(call, change.id);
    let [key, days] = ["", 0];
    await changeRecords(service, call, async (db, now) => {
      const project = readChanged("ProjectInput", "project", await getProject(db, at), change);
      await updateProject(db, at, project, now);
      key = await eventsKeyOf(db, at);
      days = project.retention ?? 0;
      return { projectId: change.id, targetId: change.id };
    });
    service.events.setRetention(key, days);
    return undefined;
  },

  async remove_project(service, { project_id }, call) {
    const at = projectOf(call, project_id);
    await service.appends.remove(at, async () => {
      const key = await eventsKeyOf(service.records.db, at);
      await requireStillGranted(service.records.db, call.grant);
      // The events first: if this fails half way, the project still exists and can be removed again.
      await service.events.deleteProject(key);
      await finishChange(service, call, async (db) => {
        await removeProject(db, at);
        return { projectId: project_id, targetId: project_id };
      });
    });
    return undefined;
  },

  async get_project_stats({ records, events }, { project_id }, call) {
    const key = await eventsKeyOf(records.db, projectOf(call, project_id));
    const { bytesTotal, eventsTotal, missingBytes } = await events.projectStats(key);
    return { bytes_total: bytesTotal, events_total: eventsTotal, ...missing(missingBytes) };
  },

  async get_usage({ records, events, clock }, { project_id, days = 30 }, call) {
    const { grant, signal } = call;
    const ids =
      project_id === undefined ? (await listProjects(records.db, grant.team)).map(({ id }) => id!) : [project_id];
    const stopMs = clock.nowMs();
    const range = { startMs: stopMs - (days - 1) * DAY_MS, stopMs, signal };
    const projects: ProjectUsage[] = [];
    for (const id of ids) {
      const used = await events.usage({ ...range, project: await eventsKeyOf(records.db, projectOf(call, id)) });
      projects.push({ project_id: id, days: used.map(wireDay) });
    }
    if (!grant.scopes.has("team:owner")) return { projects };
    const { freeBytes, totalBytes } = await events.disk();
    return { projects, disk: { free_bytes: freeBytes, total_bytes: totalBytes } };
  },
};

const wireDay = ({ day, events, bytes, storedBytes, levels }: DayUsage): ProjectUsage["days"][number] => ({
  ...{ day, events, bytes, stored_bytes: storedBytes },
  levels: Object.entries(levels).map(([level, count]) => ({ level: levelName(level), count })),
});
