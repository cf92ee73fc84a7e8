import { refuseClaimed, refuseUnmanaging } from "../records/managed.ts";
import { getProject } from "../records/projects.ts";
import { addSearch, getSearch, listSearches, removeSearch, updateSearch } from "../records/searches.ts";
import { refuseMore } from "../records/team-limits.ts";
import { changeRecords, type Handlers, projectOf } from "./call.ts";
import { readChanged } from "./read-input.ts";
import { readPipelineInput } from "./read-range.ts";

export const searches: Handlers<"get_searches" | "add_search" | "update_search" | "remove_search"> = {
  async get_searches({ records: { db } }, { project_id }, call) {
    const project = projectOf(call, project_id);
    await getProject(db, project);
    return { searches: await listSearches(db, project) };
  },

  async add_search(service, { search }, call) {
    const { targetId: id } = await changeRecords(service, call, async (db, now) => {
      const project = projectOf(call, search.project_id);
      await getProject(db, project);
      readPipelineInput(search.query, "search.query");
      await refuseClaimed(db, "searches", project, search);
      await refuseMore(db, call.grant.team, "searches", service.teamLimits);
      const targetId = await addSearch(db, call.grant.team, search, now);
      return { projectId: search.project_id, targetId, detail: search.name };
    });
    return { id };
  },

  async update_search(service, { search: change }, call) {
    await changeRecords(service, call, async (db, now) => {
      const project = projectOf(call, change.project_id);
      const before = await getSearch(db, project, change.id);
      refuseUnmanaging("searches", before, change.managed_by, { releases: true });
      const search = readChanged("SearchInput", "search", before, change);
      readPipelineInput(search.query, "search.query");
      await refuseClaimed(db, "searches", project, { ...search, id: change.id });
      await updateSearch(db, change.id, search, now);
      return { projectId: change.project_id, targetId: change.id, detail: search.name };
    });
    return undefined;
  },

  async remove_search(service, { project_id, search_id, managed_by }, call) {
    await changeRecords(service, call, async (db) => {
      const search = await getSearch(db, projectOf(call, project_id), search_id);
      refuseUnmanaging("searches", search, managed_by, { releases: false });
      await removeSearch(db, search_id);
      return { projectId: project_id, targetId: search_id, detail: search.name };
    });
    return undefined;
  },
};
