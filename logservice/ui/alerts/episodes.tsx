import type { Alert, AlertEpisode } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { CAME_LATE, type Measured } from "../../notify/condition.ts";
import { serviceNow } from "../data/clock.ts";
import type { Pages } from "../data/pages.ts";
import { teamId } from "../data/session.ts";
import { AlertGroup } from "../kit/alert-group.tsx";
import { longDuration, minuteText } from "../kit/format.ts";
import { MoreButton } from "../kit/more.tsx";
import { WhenLoaded } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { countsFrom, endOf, isOfLate, KEPT_DAYS, windowOf } from "./history.ts";
import { useAlertQuery } from "./use-alert-query.ts";
import { EVENTS, FREE_DISK, valueWords } from "./words.ts";

/** When an alert was triggered and resolved, newest first. */
export function Episodes({ alert, pages }: { readonly alert: Alert; readonly pages: Pages<AlertEpisode> }) {
  const answer = useAlertQuery(
    alert.kind === "disk" ? undefined : alert.query,
    pages.rows.map(({ group }) => group),
  );
  const fromMs = countsFrom(alert, serviceNow());
  const queries = answer?.ok ? answer.queries : [];
  const measured = alert.kind === "disk" ? FREE_DISK : answer?.ok ? answer.measured : EVENTS;
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      <WhenLoaded of={pages.first}>
        {() =>
          pages.rows.length === 0 ? (
            <p class="hint">
              {fromMs === undefined
                ? `Not triggered in the last ${KEPT_DAYS} days.`
                : `Not triggered. It ${alert.kind === "disk" ? "looks at the disk" : "counts events"} from ${minuteText(fromMs)} on: the first interval after it was created or changed.`}
            </p>
          ) : (
            <>
              <ul class="log-list" aria-label="History">
                {pages.rows.map((episode, at) => (
                  <Episode key={episode.id} {...{ alert, episode, measured }} query={queries[at] ?? alert.query} />
                ))}
              </ul>
              <MoreButton of={pages} />
            </>
          )
        }
      </WhenLoaded>
    </section>
  );
}

interface EpisodeProps {
  readonly alert: Alert;
  readonly episode: AlertEpisode;
  readonly query: string;
  /** The measure that the alert compares now: it may have compared something else then. */
  readonly measured: Measured;
}

function Episode({ alert, episode, query, measured }: EpisodeProps) {
  const { kind, value, reason, muted, group, triggered_at, resolved_at } = episode;
  const isFailure = kind === "failed";
  const nowMs = serviceNow();
  const range = windowOf(episode, { interval: alert.interval ?? 5, for: alert.for ?? 1 }, nowMs);
  const path = pathOf({ kind: "project", team: teamId.value, project: alert.project_id, section: "events" });
  const lastedMs = (resolved_at === null ? nowMs : Date.parse(resolved_at)) - Date.parse(triggered_at);
  const style = resolved_at !== null ? "" : isFailure ? "warning" : "error";
  return (
    <li>
      <span class={`tag ${style}`}>
        {isFailure ? (resolved_at === null ? "failing" : "failed") : resolved_at === null ? "triggered" : "resolved"}
      </span>
      <span class="grow">
        <strong>{minuteText(Date.parse(triggered_at))}</strong> <AlertGroup of={group} />
        <span class="reason">
          {isFailure ? <Text text={reason} /> : valueWords(value, measured)}
          {isOfLate(episode) && `; ${CAME_LATE}`}
          {"; "}
          <Text text={endOf(episode)} />
          {resolved_at === null ? `, for ${longDuration(lastedMs)}` : ` after ${longDuration(lastedMs)}`}
          {muted && "; nobody was notified, as it was muted"}
        </span>
      </span>
      {alert.kind === "events" && (
        <a class="button small" href={`${path}${searchOf({ query, range })}`}>
          Events
        </a>
      )}
    </li>
  );
}
