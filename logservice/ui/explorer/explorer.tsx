import { computed, effect, untracked, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import type { ViewRange } from "../../address/view.ts";
import { ResultView } from "../charts/result-view.tsx";
import { goneSince, isSignedOut } from "../data/call.ts";
import { facets as facetsShown, keep } from "../data/preferences.ts";
import { teamId } from "../data/session.ts";
import { bytes } from "../kit/format.ts";
import { usePageMark } from "../kit/page-mark.ts";
import { Failure } from "../kit/state.tsx";
import { pastQueries, rememberQuery } from "../query-box/history.ts";
import { QueryBox } from "../query-box/query-box.tsx";
import type { ListControl } from "../rows/virtual-list.tsx";
import { actionsOn } from "./actions.ts";
import { DetailSide } from "./detail-side.tsx";
import { EventList } from "./event-list.tsx";
import { useExplorerKeys } from "./explorer-keys.ts";
import { type ExplorerState, explorerState, type Found } from "./explorer-state.ts";
import { FacetList } from "./facet-list.tsx";
import { Histogram } from "./histogram.tsx";
import { LiveLine } from "./live-line.tsx";
import { NotAsked } from "./not-asked.tsx";
import { NothingFound } from "./nothing-found.tsx";
import { eventText } from "./open-event.ts";
import { Running } from "./running.tsx";
import { SavedName, useOpenedSearch } from "./saved-name.tsx";
import { Summary } from "./summary.tsx";
import { TimeRange } from "./time-range.tsx";
import { ToolBar } from "./tool-bar.tsx";
import { useFacets } from "./use-facets.ts";
import { useLive } from "./use-live.ts";
import { useOpenEvent } from "./use-open-event.ts";

/** The events of a project: the query, when they were, what they have in common, and each of them. */
export function Explorer({ projectId }: { readonly projectId: string }) {
  // It runs before the first painting, which has what came with the page.
  const state = useMemo(() => {
    const made = explorerState(projectId);
    made.run();
    return made;
  }, [projectId]);
  const run = useRef<ExplorerState>(undefined);
  const view = state.view.value;
  const rangeKey = JSON.stringify(view.range);
  useEffect(() => {
    keep("last", `${teamId.value}\n${projectId}`);
    return () => state.close();
  }, [state]);
  useEffect(() => {
    if (run.current === state) state.run();
    run.current = state;
  }, [state, view.query, rangeKey]);
  /** A query that was run by a pause may be half typed: it is remembered once it is run again. */
  const halfTyped = useRef<string>(undefined);
  useEffect(() => {
    if (view.query !== halfTyped.current) rememberQuery(projectId, view.query);
  }, [projectId, view.query]);

  const found = state.found.value;
  const asked = state.asked.value;
  const rows = found?.rows.value;
  const { isOldestFirst } = view;
  if (rows) rows.isOldestFirst = isOldestFirst;
  const chosen = useSignal(-1);
  const firstVisible = useSignal(0);
  /** Whether the fields are shown over the list, where there is no room beside it. */
  const isDrawerOpen = useSignal(false);
  /** Whether the query that is typed is wrong: what is shown is not its answer. */
  const isTypedWrong = useSignal(false);
  const control = useRef<ListControl>({}).current;
  const streamed = useLive(state, chosen);
  // What has arrived is above the newest.
  const live = isOldestFirst ? undefined : streamed;
  const lastAsked = useRef("");
  // Before the row of the open event is looked for.
  useEffect(() => {
    chosen.value = -1;
    // The same view read anew, such as while it is live, stays where it is.
    const key = `${found?.query}\n${rangeKey}\n${isOldestFirst}`;
    if (lastAsked.current === key) return;
    lastAsked.current = key;
    control.show?.(0, "top");
  }, [found, isOldestFirst]);
  const arrived = live?.shown.value.length ?? 0;
  // Scrolling and reading draw the list anew, and nothing else.
  const read = useMemo(() => computed(() => (rows && rows.version.value >= 0 ? rows.total : 0)), [rows]);
  const total = arrived + read.value;
  const listed = useRef(live);
  listed.current = live;
  const open = useOpenEvent({ state, chosen, control, arrived: () => listed.current?.shown.peek().length ?? 0 });
  const { fields, facets, values } = useFacets(projectId, found, streamed);
  // New events move the list only if its beginning is what is looked at.
  useEffect(() => effect(() => live?.hold(firstVisible.value > 0)), [live]);
  const mark = useMemo(
    () =>
      computed(() => {
        rows?.version.value;
        const row = firstVisible.value - (live?.shown.value.length ?? 0);
        return firstVisible.value > 0 ? timeOf(rows?.at(row)) : undefined;
      }),
    [rows, live, isOldestFirst],
  );

  // On a narrow screen both are over the whole page.
  const isStages = found?.table.value !== undefined;
  usePageMark("covered", !isStages && (isDrawerOpen.value || open.place !== undefined));
  useEffect(() => {
    if (isStages) isDrawerOpen.value = false;
  }, [isStages]);
  const actions = actionsOn(state);
  const openRow = (row: number, event: Event): void => {
    chosen.value = row;
    open.take(event);
    state.change({ event: eventText(event) }, { replaces: view.event !== "" });
  };
  const close = (): void => {
    if (view.event === "") return;
    state.change({ event: "" });
    document.getElementById("events")?.focus();
  };
  const eventAt = (row: number): Event | undefined =>
    row < arrived ? live?.shown.value[row] : rows?.at(row - arrived);
  /** Opens the chosen event once it was read. */
  const awaited = useRef<() => void>(undefined);
  const choose = (row: number): void => {
    chosen.value = row;
    const event = eventAt(row);
    // The open event follows the keys, and one that is not read yet as soon as it is.
    awaited.current = undefined;
    if (view.event === "") return;
    if (event !== undefined) openRow(row, event);
    else awaited.current = () => chosen.peek() === row && eventAt(row) !== undefined && choose(row);
  };
  useEffect(
    () =>
      effect(() => {
        if (rows && rows.version.value > 0) untracked(() => awaited.current?.());
      }),
    [rows],
  );
  const step = (by: number): void => {
    choose(chosen.value + by);
    control.show?.(chosen.value, "nearest");
  };
  const previous = chosen.value > 0 ? () => step(-1) : undefined;
  const next = chosen.value >= 0 && chosen.value < total - 1 ? () => step(1) : undefined;
  const zoom = (range: ViewRange): void => state.change({ range, isLive: false, event: "" });
  useExplorerKeys({ state, close });
  const opened = useOpenedSearch(projectId, view.query);

  const isEmpty = rows !== undefined && total === 0 && !asked?.isRunning.value;
  const isOld = asked !== found && (asked?.error.value !== undefined || asked?.isWrong.value === true);
  // The frame says it, above the page.
  const isSaidAbove = goneSince.value !== undefined || isSignedOut.value;
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
          onRun={(query, isPause) => {
            // A pause that changed nothing has nothing to run.
            if (isPause && query === view.query) return;
            // What was asked on purpose, or came from elsewhere, stays a step for the button back.
            const replaces = isPause && halfTyped.current === view.query;
            halfTyped.current = isPause ? query : undefined;
            if (!isPause) rememberQuery(projectId, query);
            state.change({ query, event: "" }, { replaces });
          }}
        />
        <ToolBar state={state} />
        <TimeRange range={view.range} onChange={zoom} />
      </div>
      {asked?.error.value !== undefined && !isSaidAbove && <Failure error={asked.error.value} retry={state.run} />}
      {found !== undefined && found.missingBytes.value > 0 && (
        <p class="note warning missing" role="status">
          <strong>Incomplete results.</strong> About {bytes(found.missingBytes.value)} of events in this range are lost.
        </p>
      )}
      {asked !== undefined && <Running asked={asked} onCancel={state.cancel} />}
      {isOld && found !== undefined && (
        <p class="note old" role="status">
          These are the results of the previous query: <code>{found.query.trim() || "every event"}</code>
        </p>
      )}
      {isStages ? (
        <ResultView
          of={found.table.value!}
          range={found.times}
          name={savedName}
          drawn={view.drawn}
          isOld={isPast}
          onDraw={(drawn) => state.change({ drawn })}
          onFilter={actions.eventsOf}
          onZoom={zoom}
        />
      ) : (
        <>
          <section
            class="overview"
            aria-label="Events by time"
            data-old={isPast}
            data-empty={found === undefined && asked?.isWrong.value === true}
          >
            {found?.histogram.value !== undefined && (
              <>
                <Summary
                  found={found}
                  live={live}
                  arrived={arrived}
                  name={savedName}
                  onSeverity={actions.severity}
                  onFields={() => {
                    isDrawerOpen.value = true;
                  }}
                />
                <Histogram
                  of={live?.histogram.value ?? found.histogram.value}
                  times={live?.times.value ?? found.times}
                  mark={mark}
                  onZoom={zoom}
                  onSeek={(bar) => {
                    const row = (rows?.rowIn(bar) ?? 0) + arrived;
                    // The keys go on from there, unless they follow an open event.
                    if (view.event === "") chosen.value = row;
                    control.show?.(row, "top");
                  }}
                />
              </>
            )}
          </section>
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
              byLevel={(live?.histogram.value ?? found?.histogram.value)?.byLevel}
              facets={facets}
              columns={view.columns}
              actions={actions}
              isDrawer={isDrawerOpen.value}
              onBounds={actions.within}
              onClose={() => {
                isDrawerOpen.value = false;
              }}
            />
            <section class="list-side" aria-label="Events">
              {live !== undefined && view.isLive && (
                <LiveLine
                  live={live}
                  onShow={() => {
                    live.show();
                    control.show?.(0, "top");
                  }}
                />
              )}
              {found === undefined ? (
                asked?.isRunning.value === false && <NotAsked isWrong={asked.isWrong.value} onRun={state.run} />
              ) : isEmpty && !view.isLive ? (
                <NothingFound
                  projectId={projectId}
                  query={view.query}
                  range={view.range}
                  onRange={zoom}
                  onQuery={(query, range) => state.change({ query, range, isLive: false, event: "" })}
                  onClear={() => state.change({ query: "" })}
                  onRun={state.run}
                />
              ) : (
                <EventList
                  rows={rows}
                  isOldestFirst={isOldestFirst}
                  live={live}
                  times={found?.times ?? { startMs: 0, stopMs: 0 }}
                  columns={view.columns}
                  newest={found?.newest.value}
                  chosen={chosen.value}
                  control={control}
                  onChoose={choose}
                  onOpen={openRow}
                  onClose={close}
                  onMove={(first) => {
                    firstVisible.value = first;
                  }}
                  onColumns={(columns) => state.change({ columns })}
                />
              )}
            </section>
            {open.place !== undefined && (
              <DetailSide
                state={state}
                event={open.event}
                isMissing={open.isMissing}
                error={open.error}
                onRetry={open.retry}
                actions={actions}
                onAbove={previous}
                onBelow={next}
                onClose={close}
              />
            )}
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

const timeOf = (event: Event | undefined) => (event === undefined ? undefined : Date.parse(event.timestamp));
