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
import type { QueryResult } from "./explorer-state.ts";
import { FacetList } from "./facet-list.tsx";
import { ListSide } from "./list-side.tsx";
import { Overview } from "./overview.tsx";
import { ResultNotes } from "./result-notes.tsx";
import { SavedName, useOpenedSearch } from "./saved-name.tsx";
import { RangePicker } from "./time-range.tsx";
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
  const result = state.result.value;
  const latest = state.latest.value;
  /** Whether the fields are shown over the list, where there is no room beside it. */
  const isDrawerOpen = useSignal(false);
  /** Whether the query that is typed is wrong: what is shown is not its answer. */
  const isTypedWrong = useSignal(false);
  const list = useList(state);
  const choice = useEventChoice(state, list);
  const { fields, facets, values } = useFacets(projectId, result, list.streamed);
  const actions = actionsOn(state);
  const { open } = choice;

  // On a narrow screen both are over the whole page.
  const isTable = result?.table.value !== undefined;
  usePageMark("covered", !isTable && (isDrawerOpen.value || open.place !== undefined));
  useEffect(() => {
    if (isTable) isDrawerOpen.value = false;
  }, [isTable]);
  useExplorerKeys({ state, close: choice.close });
  const opened = useOpenedSearch(projectId, view.query);

  const isOther = latest !== undefined && result !== undefined && isOtherView(latest, result, view.isLive);
  const isPast = isOther || (result !== undefined && isTypedWrong.value);
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
        <RangePicker range={view.range} onChange={actions.zoom} />
      </div>
      <ResultNotes state={state} />
      {isTable ? (
        <ResultView
          of={result.table.value!}
          range={result.times}
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
              byLevel={(list.live?.histogram.value ?? result?.histogram.value)?.byLevel}
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

/** Whether the latest run is of another view than the shown result. A live range that goes on is still the same. */
function isOtherView(latest: QueryResult, result: QueryResult, isLive: boolean): boolean {
  const spanOf = ({ times }: QueryResult) => times.stopMs - times.startMs;
  if (latest.query !== result.query || spanOf(latest) !== spanOf(result)) return true;
  return !isLive && latest.times.startMs !== result.times.startMs;
}
