import type { ExplorerActions } from "./actions.ts";
import { EventList } from "./event-list.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { LiveLine } from "./live-line.tsx";
import { NoAnswer } from "./not-asked.tsx";
import { NoEvents } from "./nothing-found.tsx";
import type { EventChoice } from "./use-event-choice.ts";
import type { ListView } from "./use-list.ts";

export interface ListSideProps {
  readonly state: ExplorerState;
  readonly list: ListView;
  readonly choice: EventChoice;
  readonly actions: ExplorerActions;
}

/** The events that were found and those that arrive, or why there are none. */
export function ListSide({ state, list, choice, actions }: ListSideProps) {
  const { rows, live, control } = list;
  const view = state.view.value;
  const result = state.result.value;
  const latest = state.latest.value;
  const isEmpty = rows !== undefined && list.total === 0 && !latest?.isRunning.value;
  return (
    <section class="list-side" aria-label="Events">
      {live !== undefined && view.isLive && latest?.isWrong.value !== true && (
        <LiveLine
          live={live}
          onShow={() => {
            live.show();
            control.show?.(0, "top");
          }}
        />
      )}
      {result === undefined ? (
        latest?.isRunning.value === false && <NoAnswer isWrong={latest.isWrong.value === true} onRun={state.run} />
      ) : isEmpty && !view.isLive ? (
        <NoEvents
          projectId={state.projectId}
          query={view.query}
          range={view.range}
          onRange={actions.zoom}
          onQuery={(query, range) => state.change({ query, range, isLive: false, event: "" })}
          onClear={() => state.change({ query: "" })}
          onRun={state.run}
        />
      ) : (
        <EventList
          list={list}
          isOldestFirst={view.isOldestFirst}
          times={result?.times ?? { startMs: 0, stopMs: 0 }}
          columns={view.columns}
          newest={result?.newest.value}
          onChoose={choice.choose}
          onOpen={choice.openRow}
          onClose={choice.close}
          onMove={(first) => {
            list.firstVisible.value = first;
          }}
          onColumns={(columns) => state.change({ columns })}
        />
      )}
    </section>
  );
}
