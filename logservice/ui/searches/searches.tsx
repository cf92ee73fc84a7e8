import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Search } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { byName } from "../data/by-name.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, teamId } from "../data/session.ts";
import { FilteredList } from "../kit/filtered.tsx";
import { CopyAsJson, ManagedTag } from "../kit/managed.tsx";
import { ReleaseDialog } from "../kit/release.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { RowButton } from "../kit/row-button.tsx";
import { WhenLoaded } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { Ago } from "../kit/time.tsx";
import { visibleText } from "../kit/visible.ts";
import { QueryCode } from "../query-box/query-code.tsx";
import { matchingSearches } from "./matching.ts";
import { SearchDialog } from "./search-dialog.tsx";

/** The saved searches of a project: each opens the explorer with its query. */
export function Searches({ projectId }: { readonly projectId: string }) {
  const [changing, setChanging] = useState<Partial<Search> | undefined>(undefined);
  const [removing, setRemoving] = useState<Search | undefined>(undefined);
  const [releasing, setReleasing] = useState<Search | undefined>(undefined);
  const searches = useLoaded(
    async (signal) => (await call("get_searches", { project_id: projectId }, { signal })).searches,
    [projectId],
  );
  const mayChange = mayDo("searches:write");
  const events = pathOf({ kind: "project", team: teamId.value, project: projectId, section: "events" });
  const add = mayChange && (
    <button type="button" class="button primary" onClick={() => setChanging({})}>
      New search
    </button>
  );
  return (
    <div class="page">
      <header>
        <h1>Saved searches</h1>
        {(searches.value.value?.length ?? 0) > 0 && add}
      </header>
      <WhenLoaded of={searches}>
        {(all) => {
          if (all.length === 0) return <NoSearches events={events} add={add} />;
          return (
            <FilteredList
              all={byName(all)}
              what="searches"
              where="name or query"
              nothing="No search has this in its name or query"
              matching={matchingSearches}
            >
              {(matches) => (
                <Table columns={["Name", "Query", "Edited"]} hasActions={mayChange}>
                  {matches.map((search) => (
                    <Row
                      key={search.id}
                      search={search}
                      href={events + searchOf({ query: search.query })}
                      mayChange={mayChange}
                      onEdit={() => setChanging(search)}
                      onRemove={() => setRemoving(search)}
                      onRelease={() => setReleasing(search)}
                    />
                  ))}
                </Table>
              )}
            </FilteredList>
          );
        }}
      </WhenLoaded>
      {changing && (
        <SearchDialog
          projectId={projectId}
          first={changing}
          onSaved={() => void searches.load()}
          onClose={() => setChanging(undefined)}
        />
      )}
      {releasing && (
        <ReleaseDialog
          of={{ kind: "search", record: releasing }}
          onReleased={() => searches.load()}
          onClose={() => setReleasing(undefined)}
        />
      )}
      {removing && (
        <RemoveDialog
          title="Remove this search?"
          button="Remove search"
          onClose={() => setRemoving(undefined)}
          onRemove={async () => {
            await call("remove_search", { project_id: projectId, search_id: removing.id! });
            await searches.load();
          }}
        >
          <Text text={removing.name} /> is removed for everybody in the team. Links to its results still work.
        </RemoveDialog>
      )}
    </div>
  );
}

interface RowProps {
  readonly search: Search;
  /** The explorer with its query. */
  readonly href: string;
  readonly mayChange: boolean;
  onEdit(): void;
  onRemove(): void;
  onRelease(): void;
}

function Row({ search, href, mayChange, onEdit, onRemove, onRelease }: RowProps) {
  const { name, query, managed_by } = search;
  return (
    <tr>
      <td class="named">
        <a class="strong" href={href} title={visibleText(name)}>
          <Text text={name} />
        </a>{" "}
        <ManagedTag by={managed_by} />
      </td>
      <td class="wide">
        <QueryCode query={query} />
      </td>
      <td class="soft">
        <Ago at={search.updated_at ?? search.created_at} />
      </td>
      {mayChange && managed_by !== "" && (
        <td class="actions">
          <CopyAsJson of={{ kind: "search", record: search }} />{" "}
          <RowButton text="Release" spoken={`Release from tool.json: ${name}`} onPress={onRelease} />
        </td>
      )}
      {mayChange && managed_by === "" && (
        <td class="actions">
          <RowButton text="Edit" spoken={`Edit ${name}`} onPress={onEdit} />{" "}
          <RowButton text="Remove" spoken={`Remove ${name}`} onPress={onRemove} />
        </td>
      )}
    </tr>
  );
}

function NoSearches({ events, add }: { readonly events: string; readonly add: ComponentChildren }) {
  return (
    <div class="empty card">
      <h2>No saved searches yet</h2>
      <p>
        Search in the explorer, and choose Save or share: everybody in the team then finds the search here, and by its
        name with Find.
      </p>
      <div class="row center">
        {add}
        <a class="button" href={events}>
          Explore
        </a>
      </div>
    </div>
  );
}
