import { useRef } from "preact/hooks";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo } from "../data/session.ts";
import { Text } from "../kit/text.tsx";
import { type OpenedSearch, openedSearch } from "./opened-search.ts";

/** Which saved search is on the screen. */
export function useOpenedSearch(projectId: string, query: string): OpenedSearch | undefined {
  const isWanted = query.trim() !== "" && mayDo("searches:read");
  const searches = useLoaded(
    async (signal) => (isWanted ? (await call("get_searches", { project_id: projectId }, { signal })).searches : []),
    [projectId, isWanted],
  ).value.value;
  const before = useRef<OpenedSearch | undefined>(undefined);
  before.current = openedSearch(searches ?? [], query, before.current);
  return before.current;
}

/** Says which saved search is on the screen. */
export function SavedName({ of: { name, isChanged } }: { readonly of: OpenedSearch }) {
  return (
    <span class="saved-name">
      Saved search: <Text text={name} />
      {isChanged && ", changed"}
    </span>
  );
}
