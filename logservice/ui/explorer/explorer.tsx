import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ResultView } from "../charts/result-view.tsx";
import { facets as facetsShown } from "../data/preferences.ts";
import { usePageMark } from "../kit/page-mark.ts";
import { pastQueries } from "../query-box/history.ts";
import { QueryBox } from "../query-box/query-box.tsx";
import { actionsOn } from "./actions.ts";
import { DetailSide } from "./detail-side.tsx";
import { useExplorerKeys } from "./explorer-keys.ts";
import type { Found } from "./explorer-state.ts";
import { FacetList } from "./facet-list.tsx";
import { ListSide } from "./list-side.tsx";
import { Overview } from "./overview.tsx";
import { ResultNotes } from "./result-notes.tsx";
import { SavedName, useOpenedSearch } from "./saved-name.tsx";
import { TimeRange } from "./time-range.tsx";
import { ToolBar } from "./tool-bar.tsx";
import { useEventChoice } from "./use-event-choice.ts";
import { useExplorerState, useTypedQuery } from "./use-explorer-state.ts";
import { useFacets } from "./use-facets.ts";
import { useList } from "./use-list.ts";

/** The events of a project: the query, when they were, what they have in common, and each of them. */
export function Explorer({ projectId }: { readonly projectId: string }) {
  const state = useExplorerState(projectId);
  const runTyped = useTypedQuery(state);
  const view = state.view.value;
  const found = state.found.value;
  const asked = state.asked.value;
  /** Whether the fields are shown over the list, where there is no room beside it. */
  const isDrawerOpen = useSignal(false);
  /** Whether the query that is typed is wrong: what is shown is not its answer. */
  const isTypedWrong = useSignal(false);
  const list = useList(state);
  const choice = useEventChoice(state, list);
  const { fields, facets, values } = useFacets(projectId, found, list.streamed);
  const actions = actionsOn(state);
  const { open } = choice;

  // On a narrow screen both are over the whole page.
  const isTable = found?.table.value !== undefined;
  usePageMark("covered", !isTable && (isDrawerOpen.value || open.place !== undefined));
  useEffect(() => {
    if (isTable) isDrawerOpen.value = false;
  }, [isTable]);
  useExplorerKeys({ state, close: choice.close });
  const opened = useOpenedSearch(projectId, view.query);

  const isOther = asked !== undefined && found !== undefined && isOtherView(asked, found, view.isLive);
  const isPast = isOther || (found !== undefined && isTypedWrong.value);
  const savedName = opened && <SavedName of={opened} />;
  return (
    <div class="explorer">
      <a class="skip" href="#events">
        Skip to events
      </a>
      <h1 class="spoken">Explore</h1>
      <div class="ask">
        <QueryBox
          query={view.query}
          values={values}
          past={() => pastQueries(projectId)}
          onWrong={(isWrong) => {
            isTypedWrong.value = isWrong;
          }}
          onRun={runTyped}
        />
        <ToolBar state={state} />
        <TimeRange range={view.range} onChange={actions.zoom} />
      </div>
      <ResultNotes state={state} />
      {isTable ? (
        <ResultView
          of={found.table.value!}
          range={found.times}
          name={savedName}
          drawn={view.drawn}
          isOld={isPast}
          onDraw={(drawn) => state.change({ drawn })}
          onFilter={actions.eventsOf}
          onZoom={actions.zoom}
        />
      ) : (
        <>
          <Overview
            state={state}
            list={list}
            actions={actions}
            name={savedName}
            isPast={isPast}
            onFields={() => {
              isDrawerOpen.value = true;
            }}
          />
          <div
            class="found"
            data-old={isPast}
            data-facets={facetsShown.value}
            data-drawer={isDrawerOpen.value}
            data-detail={open.place !== undefined}
          >
            <FacetList
              projectId={projectId}
              fields={fields}
              byLevel={(list.live?.histogram.value ?? found?.histogram.value)?.byLevel}
              facets={facets}
              columns={view.columns}
              actions={actions}
              isDrawer={isDrawerOpen.value}
              onBounds={actions.within}
              onClose={() => {
                isDrawerOpen.value = false;
              }}
            />
            <ListSide state={state} list={list} choice={choice} actions={actions} />
            {open.place !== undefined && <DetailSide state={state} choice={choice} actions={actions} />}
          </div>
        </>
      )}
    </div>
  );
}

/** Whether what is asked is not what is shown. While it is live, the range goes on and is still the same. */
function isOtherView(asked: Found, found: Found, isLive: boolean): boolean {
  const spanOf = ({ times }: Found) => times.stopMs - times.startMs;
  if (asked.query !== found.query || spanOf(asked) !== spanOf(found)) return true;
  return !isLive && asked.times.startMs !== found.times.startMs;
}
