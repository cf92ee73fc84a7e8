import type { ViewRange } from "../address/view.ts";
import { rangeTexts } from "../address/view.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { useLoaded } from "../data/loaded.ts";
import { count } from "../kit/format.ts";
import { late } from "../kit/late.tsx";
import type { FirstEventProps } from "../start/start.tsx";
import { rangeText } from "./range-steps.ts";

export interface NothingFoundProps {
  readonly projectId: string;
  readonly query: string;
  readonly range: ViewRange;
  onRange(range: ViewRange): void;
  onClear(): void;
  /** Asks again, such as once the first event has arrived. */
  onRun(): void;
}

/** How to send events: most people never see it here. */
const FirstEvent = late<FirstEventProps>(() => import("../start/start.tsx").then(({ FirstEvent }) => FirstEvent));

const WIDER: readonly { readonly text: string; readonly lastMs: number }[] = [
  { text: "the last day", lastMs: 86_400_000 },
  { text: "the last 7 days", lastMs: 604_800_000 },
  { text: "the last 30 days", lastMs: 2_592_000_000 },
  { text: "the last year", lastMs: 31_536_000_000 },
];

/** Nothing matches in the range: whether there is something in a wider one, and how to get there. */
export function NothingFound({ projectId, query, range, onRange, onClear, onRun }: NothingFoundProps) {
  const wider = useLoaded(
    async (signal) => {
      for (const one of WIDER) {
        const times = { startMs: serviceNow() - one.lastMs, stopMs: serviceNow() };
        const input = { project_id: projectId, query, ...rangeTexts(times) };
        const { count: found } = await call("get_count", input, { signal });
        if (found > 0) return { ...one, found };
      }
      return undefined;
    },
    [projectId, query],
  );
  const more = wider.value.value;
  const isNever =
    query.trim() === "" && !wider.isLoading.value && more === undefined && wider.error.value === undefined;
  if (isNever)
    return (
      <div class="first-use">
        <h2>No events yet</h2>
        <p class="lead">
          The project has had none in the last year. Send the first one: it is shown here when it arrives.
        </p>
        <FirstEvent projectId={projectId} onExplore={onRun} />
      </div>
    );
  return (
    <div class="empty" role="status">
      <h2>No events {query.trim() === "" ? "" : "match "}in this range</h2>
      <p>
        {rangeText(range)}
        {more
          ? `. There are ${count(more.found)} in ${more.text}.`
          : wider.isLoading.value
            ? ""
            : ", and none in the last year."}
      </p>
      <div class="row center">
        {more && (
          <button type="button" class="button primary" onClick={() => onRange({ lastMs: more.lastMs })}>
            Show {more.text}
          </button>
        )}
        {query.trim() !== "" && (
          <button type="button" class="button" onClick={onClear}>
            Show every event of this range
          </button>
        )}
      </div>
    </div>
  );
}
