import { count, timeParts, zoneName } from "../kit/format.ts";
import { CROWDED_MS } from "./live.ts";
import { LIVE_PLACES } from "./live-place.ts";
import type { LiveView } from "./use-live.ts";

/** How the stream of new events is: what waits, what was dropped, whether it is open, and since when not. */
export function LiveLine({ live, onShow }: { readonly live: LiveView; onShow(): void }) {
  const { waiting, dropped, status, problem, since } = live;
  const gone = timeParts(since.value).second;
  return (
    <div class="live-line" role="status" aria-label="Live">
      {problem.value !== undefined ? (
        <span class="live-wrong">Live has ended: {problem.value}</span>
      ) : status.value === "open" ? (
        <span class="live-on">{waiting.value > 0 ? "Live, held while you read" : "Live"}</span>
      ) : status.value === "crowded" ? (
        <span class="live-off">
          {LIVE_PLACES} other tabs are live, as many as a browser can have: this one is read anew every{" "}
          {CROWDED_MS / 1_000} s.
        </span>
      ) : Date.now() - since.value < SOON_MS ? (
        <span class="live-off">Connecting …</span>
      ) : (
        <span class="live-wrong">
          Not connected since {gone} {zoneName()}; it is tried again. No event is lost meanwhile.
        </span>
      )}
      {dropped.value > 0 && (
        <span class="live-wrong">{count(dropped.value)} came too fast to be shown here. They are stored.</span>
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
