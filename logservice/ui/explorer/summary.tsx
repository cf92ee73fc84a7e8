import type { ComponentChildren } from "preact";
import { bytes, count, duration } from "../kit/format.ts";
import type { QueryResult } from "./explorer-state.ts";
import { isBad } from "./histogram-data.ts";
import type { LiveView } from "./use-live.ts";

export interface ResultSummaryProps {
  readonly result: QueryResult;
  readonly live: LiveView | undefined;
  /** How many have arrived since. */
  readonly arrived: number;
  /** Says which saved search it is. */
  readonly name: ComponentChildren;
  /** Shows only warnings, or only errors and what is worse. */
  onSeverity(level: "warning" | "error"): void;
  /** Shows the fields over the list, where they are not beside it. */
  onFields(): void;
}

/** How many events were found, and what it took. */
export function ResultSummary({ result, live, arrived, name, onSeverity, onFields }: ResultSummaryProps) {
  const histogram = live?.histogram.value ?? result.histogram.value!;
  const total = live === undefined ? histogram.total : (result.rows.value?.total ?? 0) + arrived;
  const bad = [...histogram.byLevel].reduce((sum, [level, eventCount]) => sum + (isBad(level) ? eventCount : 0), 0);
  const warnings = histogram.byLevel.get("warning") ?? 0;
  const stats = result.stats.value;
  return (
    <div class="summary">
      {/* While it is live, the numbers change without end: who hears them would hear nothing else. */}
      <span role={live === undefined ? "status" : undefined}>
        <strong>{count(total)}</strong> {total === 1 ? "event" : "events"}
      </span>
      {bad > 0 && (
        <button
          type="button"
          class="summary-level level-error"
          title="Show only these"
          onClick={() => onSeverity("error")}
        >
          {count(bad)} {bad === 1 ? "error" : "errors"}
          {/* The fields beside it count each level by itself. */}
          {bad > (histogram.byLevel.get("error") ?? 0) && " or worse"}
        </button>
      )}
      {warnings > 0 && (
        <button
          type="button"
          class="summary-level level-warning"
          title="Show only these"
          onClick={() => onSeverity("warning")}
        >
          {count(warnings)} {warnings === 1 ? "warning" : "warnings"}
        </button>
      )}
      {stats !== undefined && (
        <span class="took">
          {duration(stats.durationMs)}
          {stats.bytes > 0 && `, ${bytes(stats.bytes)} read`}
        </span>
      )}
      {name}
      <button type="button" class="button small drawer-button" onClick={onFields}>
        Fields
      </button>
    </div>
  );
}
