import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { filterIn } from "../../../grammar/query/edit.ts";
import type { Event } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../address/page.ts";
import { searchOf, type ViewRange } from "../address/view.ts";
import { ResultView } from "../charts/result-view.tsx";
import { facets as facetsShown, keep } from "../data/preferences.ts";
import { teamId } from "../data/session.ts";
import { bytes } from "../kit/format.ts";
import { Failure } from "../kit/state.tsx";
import { rememberQuery } from "../query-box/history.ts";
import { QueryBox } from "../query-box/query-box.tsx";
import { FieldValues } from "../query-box/values.ts";
import type { ListControl } from "../rows/virtual-list.tsx";
import { actionsOn } from "./actions.ts";
import { Detail } from "./detail.tsx";
import { EventList } from "./event-list.tsx";
import { useExplorerKeys } from "./explorer-keys.ts";
import { explorerState } from "./explorer-state.ts";
import { Facets } from "./facet-data.ts";
import { FacetList } from "./facet-list.tsx";
import { Histogram } from "./histogram.tsx";
import { LiveLine } from "./live-line.tsx";
import { NothingFound } from "./nothing-found.tsx";
import { eventText } from "./open-event.ts";
import { Running } from "./running.tsx";
import { Summary } from "./summary.tsx";
import { TimeRange } from "./time-range.tsx";
import { ToolBar } from "./tool-bar.tsx";
import { useLive } from "./use-live.ts";
import { useOpenEvent } from "./use-open-event.ts";

/** The events of a project: the query, when they were, what they have in common, and each of them. */
export function Explorer({ projectId }: { readonly projectId: string }) {
  const state = useMemo(() => explorerState(projectId), [projectId]);
  const view = state.view.value;
  const rangeKey = JSON.stringify(view.range);
  useEffect(() => {
    keep("last", `${teamId.value}\n${projectId}`);
    return () => state.close();
  }, [state]);
  useEffect(() => state.run(), [state, view.query, rangeKey]);

  const found = state.found.value;
  const rows = found?.rows.value;
  rows?.version.value;
  const chosen = useSignal(-1);
  const firstVisible = useSignal(0);
  const control = useRef<ListControl>({}).current;
  const live = useLive(state, chosen);
  const arrived = live?.shown.value.length ?? 0;
  const total = arrived + (rows?.total ?? 0);
  const open = useOpenEvent({ state, chosen, control, arrived });
  const facets = useMemo(() => found && new Facets({ projectId, query: found.query, ...found.times }), [found]);
  useEffect(() => () => facets?.close(), [facets]);
  const values = useMemo(
    () => found && new FieldValues(projectId, found.times, found.fields.value ?? []),
    [found, found?.fields.value],
  );
  useEffect(() => {
    chosen.value = -1;
    firstVisible.value = 0;
  }, [found]);
  // New events move the list only if its beginning is what is looked at.
  useEffect(() => live?.hold(firstVisible.value > 0), [live, firstVisible.value > 0]);

  const actions = actionsOn(state);
  const openRow = (row: number, event: Event): void => {
    chosen.value = row;
    state.change({ event: eventText(event) }, { replaces: view.event !== "" });
  };
  const close = (): void => {
    if (view.event !== "") state.change({ event: "" });
  };
  const zoom = (range: ViewRange): void => state.change({ range, isLive: false, event: "" });
  useExplorerKeys({ state, close });

  const isStages = found?.table.value !== undefined;
  const isEmpty =
    found !== undefined &&
    !found.isRunning.value &&
    found.error.value === undefined &&
    rows !== undefined &&
    total === 0;
  const markMs = firstVisible.value > 0 ? timeOf(rows?.at(firstVisible.value - arrived)) : undefined;
  const request = open.event && requestOf(open.event);
  return (
    <div class="explorer">
      <h1 class="spoken">Explore</h1>
      <div class="ask">
        <QueryBox
          query={view.query}
          values={values}
          onRun={(query, isPause) => {
            if (!isPause) rememberQuery(projectId, query);
            state.change({ query, event: "" }, { replaces: isPause });
          }}
        />
        <ToolBar state={state} />
        <TimeRange range={view.range} onChange={zoom} />
      </div>
      {found?.error.value !== undefined && <Failure error={found.error.value} retry={state.run} />}
      {found !== undefined && found.missingBytes.value > 0 && (
        <p class="note warning missing" role="status">
          About {bytes(found.missingBytes.value)} of events in this range are lost. What is shown is without them.
        </p>
      )}
      {found !== undefined && <Running found={found} onCancel={state.cancel} />}
      {isStages ? (
        <ResultView
          of={found.table.value!}
          drawn={view.drawn}
          onDraw={(drawn) => state.change({ drawn })}
          onFilter={(field, value) => actions.eventsOf(field, value)}
        />
      ) : (
        <>
          {found?.histogram.value !== undefined && (
            <section class="overview" aria-label="Events by time">
              <Summary found={found} live={live} arrived={arrived} />
              <Histogram
                of={live?.histogram.value ?? found.histogram.value}
                times={live?.times.value ?? found.times}
                markMs={markMs}
                onZoom={zoom}
                onSeek={(timeMs) => control.show?.((rows?.rowAt(timeMs) ?? 0) + arrived, "top")}
              />
            </section>
          )}
          <div class="found" data-facets={facetsShown.value} data-detail={open.place !== undefined}>
            {found !== undefined && (
              <FacetList
                projectId={projectId}
                fields={found.fields.value}
                byLevel={found.histogram.value?.byLevel}
                facets={facets}
                actions={actions}
                onBounds={actions.within}
              />
            )}
            <section class="list-side" aria-label="Events">
              {live !== undefined && (
                <LiveLine
                  live={live}
                  onShow={() => {
                    live.show();
                    control.show?.(0, "top");
                  }}
                />
              )}
              {isEmpty && !view.isLive ? (
                <NothingFound
                  projectId={projectId}
                  query={view.query}
                  range={view.range}
                  onRange={zoom}
                  onClear={() => state.change({ query: "" })}
                />
              ) : (
                <EventList
                  rows={rows}
                  live={live}
                  times={found?.times ?? { startMs: 0, stopMs: 0 }}
                  columns={view.columns}
                  chosen={chosen.value}
                  control={control}
                  onChoose={(row) => {
                    chosen.value = row;
                    const event = row < arrived ? live?.shown.value[row] : rows?.at(row - arrived);
                    // The open event follows the keys.
                    if (view.event !== "" && event !== undefined) openRow(row, event);
                  }}
                  onOpen={openRow}
                  onClose={close}
                  onMove={(first) => {
                    firstVisible.value = first;
                  }}
                  onRemoveColumn={actions.toggleColumn}
                />
              )}
            </section>
            {open.place !== undefined &&
              (open.event !== undefined ? (
                <Detail
                  event={open.event}
                  actions={actions}
                  columns={view.columns}
                  link={
                    pathOf({ kind: "project", team: teamId.value, project: projectId, section: "events" }) +
                    searchOf({ ...view, isLive: false, range: found?.times ?? view.range })
                  }
                  requestId={request}
                  onAround={() => {
                    const timeMs = Date.parse(open.event!.timestamp);
                    state.change({
                      query: "",
                      range: { startMs: timeMs - AROUND_MS, stopMs: timeMs + AROUND_MS },
                      isLive: false,
                    });
                  }}
                  onRequest={() => state.change({ query: filterIn("", "fields.id", request!) ?? "", isLive: false })}
                  onClose={close}
                />
              ) : (
                <aside class="detail" aria-label="Event">
                  <p class="wait" role="status">
                    {open.isMissing
                      ? "This event is not there any more: it has expired, or its address is cut off."
                      : ""}
                  </p>
                  <button type="button" class="button small" onClick={close}>
                    Close
                  </button>
                </aside>
              ))}
          </div>
        </>
      )}
    </div>
  );
}

/** What happened around an event is what happened this long before and after it. */
const AROUND_MS = 30_000;

const timeOf = (event: Event | undefined) => (event === undefined ? undefined : Date.parse(event.timestamp));

/** The id of the request that an event is about, as the proxy and many loggers write it. */
function requestOf({ fields }: Event): string | undefined {
  return typeof fields.id === "string" && fields.id !== "" ? fields.id : undefined;
}
