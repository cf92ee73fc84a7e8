import { useState } from "preact/hooks";
import { withoutPipes } from "../../../grammar/query/edit.ts";
import type { AlertInput } from "../../../schema/rpc.generated.ts";
import { RpcFailure } from "../../../schema/rpc-client.ts";
import { pathOf } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { teamId } from "../data/session.ts";
import { ticksOf } from "../explorer/histogram-ticks.ts";
import { AlertGroup } from "../kit/alert-group.tsx";
import { count, longDuration, minuteText, missingText, perText } from "../kit/format.ts";
import { Failure, Waiting } from "../kit/state.tsx";
import { windowOf } from "./history.ts";
import { previewWords, spansOf } from "./preview-data.ts";
import { useAlertQuery } from "./use-alert-query.ts";
import { type Replayed, useReplay } from "./use-preview.ts";
import { EVENTS, valueWords } from "./words.ts";

/** When an alert would have triggered in the last 7 days. Undefined while the draft is not whole; `isEmpty` if it has no query. */
export function Preview({ alert, isEmpty }: { readonly alert: AlertInput | undefined; readonly isEmpty: boolean }) {
  const replayed = useReplay(alert);
  const replay = replayed.value.value;
  const error = replayed.error.value;
  return (
    <section
      class={isEmpty ? "preview empty-query" : "preview"}
      aria-labelledby="preview"
      aria-busy={replayed.isLoading.value}
    >
      <h2 id="preview">The last 7 days with this alert</h2>
      {alert === undefined ? (
        <p class="hint">
          {isEmpty ? "Write a query" : "Fix the query or the numbers"} to see when the alert would have triggered.
        </p>
      ) : error instanceof RpcFailure && error.type === "timeout" ? (
        <p class="note warning" role="status">
          7 days of this alert take too long to replay: its query is asked for each interval. The alert itself asks for
          one interval at a time. A longer interval can be replayed sooner.
        </p>
      ) : error !== undefined ? (
        <Failure error={error} retry={() => void replayed.load()} />
      ) : replay === undefined ? (
        <Waiting what="Replaying the last 7 days" />
      ) : (
        <Result of={replay} isOld={replayed.isLoading.value} />
      )}
    </section>
  );
}

/** So many times have room without scrolling. */
const FIRST_LIMIT = 4;
/** So many more are shown with each press of the button. */
const STEP = 40;

function Result({ of, isOld }: { readonly of: Replayed; readonly isOld: boolean }) {
  const [limit, setLimit] = useState(FIRST_LIMIT);
  const { preview, times, alert } = of;
  const newest = [...preview.episodes].reverse().slice(0, limit);
  const answer = useAlertQuery(
    alert.query,
    newest.map(({ group }) => group),
  );
  const queries = answer?.ok ? answer.queries : [];
  const measured = answer?.ok ? answer.measured : EVENTS;
  const rule = { interval: alert.interval ?? 5, for: alert.for ?? 1 };
  const left = preview.unevaluated;
  const rest = preview.episodes.length - newest.length;
  return (
    <div class="replayed" data-old={isOld}>
      <p role="status" class="preview-words">
        {previewWords(preview, times)}
      </p>
      {preview.missing_bytes > 0 && (
        <p class="note warning">
          {missingText(preview.missing_bytes, "of these days")} Intervals that they touch are left out.
        </p>
      )}
      {preview.missing_bytes === 0 && left > 0 && (
        <p class="note warning">
          {count(left)} {left === 1 ? "interval" : "intervals"} could not be evaluated: the query takes too long there,
          or gives more than 100 groups. An alert that fails three times in a row notifies of it.
        </p>
      )}
      <Strip of={of} />
      {newest.length > 0 && (
        <ul class="log-list" aria-label="Times at which it would have triggered">
          {newest.map(({ group, value, triggered_at, resolved_at }, at) => {
            const range = windowOf({ triggered_at, resolved_at }, rule, times.stopMs);
            const path = { kind: "project", team: teamId.value, project: alert.project_id, section: "events" } as const;
            const lastMs = (resolved_at === null ? times.stopMs : Date.parse(resolved_at)) - Date.parse(triggered_at);
            return (
              <li key={`${triggered_at}${JSON.stringify(group)}`}>
                <span class="grow">
                  <a
                    href={`${pathOf(path)}${searchOf({ query: queries[at] ?? "", range })}`}
                    target="_blank"
                    rel="noopener"
                    title="The events, in a new tab"
                  >
                    {minuteText(Date.parse(triggered_at))}
                  </a>{" "}
                  <AlertGroup of={group} />
                </span>
                <span class="when">
                  {valueWords(value, measured)} · {resolved_at === null ? "still triggered" : longDuration(lastMs)}
                </span>
              </li>
            );
          })}
        </ul>
      )}
      {rest > 0 && (
        <button type="button" class="button small" onClick={() => setLimit(limit + STEP)}>
          Show {count(Math.min(rest, STEP))} earlier ones
        </button>
      )}
    </div>
  );
}

/** The strip may be narrower: its times need half of the room that those of the explorer have. */
const STRIP_PX = 700;

/** The events that match by time, on a ground that shows when the alert is triggered. The list below says it in words. */
function Strip({ of: { alert, preview, strip } }: { readonly of: Replayed }) {
  const { times } = strip;
  const { threshold = 0, query = "" } = alert;
  // Only what is counted for each interval can be compared with the threshold.
  const isCount = strip.stepMs === (alert.interval ?? 5) * 60_000 && withoutPipes(query) === query;
  const top = isCount ? Math.max(strip.most, threshold) : strip.most;
  const heightOf = (value: number) => (value / Math.max(1, top)) * 92;
  const span = times.stopMs - times.startMs;
  const share = (ms: number) => Math.max(0, Math.min(1, (ms - times.startMs) / span)) * 1000;
  const spans = spansOf(preview.episodes, times);
  return (
    <div class="histogram strip" aria-hidden="true">
      <div class="bars">
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none">
          {spans.map(({ startMs, stopMs }) => (
            <rect
              key={startMs}
              class="strip-triggered"
              x={share(startMs)}
              width={Math.max(2, share(stopMs) - share(startMs))}
              y="0"
              height="100"
            />
          ))}
          {strip.bars.map(({ startMs, most }) => {
            if (most === 0) return null;
            const left = share(startMs);
            const width = share(startMs + strip.barMs) - left;
            const height = Math.max(2, heightOf(most));
            return (
              <rect
                key={startMs}
                class="bar-info"
                x={left}
                width={Math.max(0.5, width - Math.min(1.6, width * 0.15))}
                y={100 - height}
                height={height}
              />
            );
          })}
          {isCount && (
            <line
              class="strip-threshold"
              x2="1000"
              y1={100 - heightOf(threshold)}
              y2={100 - heightOf(threshold)}
              vector-effect="non-scaling-stroke"
            />
          )}
          {spans.map(({ startMs, stopMs }) => (
            <rect
              key={startMs}
              class="bar-error"
              x={share(startMs)}
              width={Math.max(2, share(stopMs) - share(startMs))}
              y="0"
              height="5"
            />
          ))}
        </svg>
      </div>
      <div class="axis">
        {ticksOf(times, strip.barMs, STRIP_PX).map(({ at, text }) => (
          <span key={at} style={{ left: `${at * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
      <p class="hint strip-key">
        <span>
          <span class="swatch bar-info" /> matching events, at most {count(strip.most)} {perText(strip.stepMs)}
        </span>
        {isCount && (
          <span>
            <span class="swatch strip-threshold" /> threshold {count(threshold)}
          </span>
        )}
        <span>
          <span class="swatch bar-error" /> triggered
        </span>
      </p>
    </div>
  );
}
