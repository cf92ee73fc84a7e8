import type { ComponentChildren } from "preact";
import type { ExplorerActions } from "./actions.ts";
import type { ExplorerState } from "./explorer-state.ts";
import { Histogram } from "./histogram.tsx";
import { ResultSummary } from "./summary.tsx";
import type { ListView } from "./use-list.ts";

export interface OverviewProps {
  readonly state: ExplorerState;
  readonly list: ListView;
  readonly actions: ExplorerActions;
  /** Says which saved search it is. */
  readonly name: ComponentChildren;
  /** Whether what is shown is not what is asked. */
  readonly isPast: boolean;
  /** Shows the fields over the list. */
  onFields(): void;
}

/** How many events were found, and when they were. */
export function Overview({ state, list, actions, name, isPast, onFields }: OverviewProps) {
  const { rows, live, arrived, chosen, control } = list;
  const result = state.result.value;
  return (
    <section
      class="overview"
      aria-label="Events by time"
      data-old={isPast}
      data-empty={result === undefined && state.latest.value?.isWrong.value === true}
    >
      {result?.histogram.value !== undefined && (
        <>
          <ResultSummary
            result={result}
            live={live}
            arrived={arrived}
            name={name}
            onSeverity={actions.severity}
            onFields={onFields}
          />
          <Histogram
            of={live?.histogram.value ?? result.histogram.value}
            times={live?.times.value ?? result.times}
            mark={list.mark}
            onZoom={actions.zoom}
            onSeek={(bar) => {
              const row = (rows?.rowIn(bar) ?? 0) + arrived;
              // The keys go on from there, unless they follow an open event.
              if (state.view.peek().event === "") chosen.value = row;
              control.show?.(row, "top");
            }}
          />
        </>
      )}
    </section>
  );
}
