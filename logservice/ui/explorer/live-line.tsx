import { count, timeParts, zoneName } from "../kit/format.ts";
import { CROWDED_MS } from "./live.ts";
import { LIVE_PLACES } from "./live-place.ts";
import type { LiveView } from "./use-live.ts";

/** How the stream of new events is: what waits, what was dropped, whether it is open, and since when not. */
export function LiveLine({ live, onShow }: { readonly live: LiveView; onShow(): void }) {
  const { shownEvents, waiting, dropped, status, problem, since } = live;
  const gone = timeParts(since.value).second;
  return (
    <div class="live-line">
      <span role="status" aria-label="Live">
        {problem.value !== undefined ? (
          <span class="live-wrong">Live has stopped: {problem.value}</span>
        ) : status.value === "open" ? (
          <span class="live-on">
            {waiting.value > 0
              ? "Live, paused while you read"
              : shownEvents.value.length > 0
                ? "Live: new events appear at the top"
                : "Live: waiting for new events"}
          </span>
        ) : status.value === "crowded" ? (
          <span class="live-off">
            {LIVE_PLACES} other tabs are live, as many as a browser can have. This one is refreshed every{" "}
            {CROWDED_MS / 1_000} s.
          </span>
        ) : Date.now() - since.value < SOON_MS ? (
          <span class="live-off">Connecting …</span>
        ) : (
          <span class="live-wrong">
            Not connected since {gone} {zoneName()}; retrying. No event is lost meanwhile.
          </span>
        )}
      </span>
      {dropped.value > 0 && (
        <span class="live-wrong">{count(dropped.value)} came too fast to be shown here; they are stored.</span>
      )}
      {waiting.value > 0 && (
        <button type="button" class="button primary small new-events" onClick={onShow}>
          ↑ {count(waiting.value)} new
        </button>
      )}
    </div>
  );
}

/** A connection that takes no longer is nothing to speak of. */
const SOON_MS = 2_000;
