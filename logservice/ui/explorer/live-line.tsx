import { count } from "../kit/format.ts";
import type { LiveView } from "./use-live.ts";

/** How the stream of new events is: what waits, what was dropped, whether it is open. */
export function LiveLine({ live, onShow }: { readonly live: LiveView; onShow(): void }) {
  const { waiting, dropped, status, problem } = live;
  return (
    <div class="live-line" role="status">
      {problem.value !== undefined ? (
        <span class="live-wrong">Live has ended: {problem.value}</span>
      ) : status.value === "open" ? (
        <span class="live-on">Live</span>
      ) : (
        <span class="live-wrong">{status.value === "gone" ? "Live has ended" : "Connecting …"}</span>
      )}
      {dropped.value > 0 && (
        <span class="live-wrong">{count(dropped.value)} were too fast to be shown; they are stored.</span>
      )}
      {waiting.value > 0 && (
        <button type="button" class="button primary small new-events" onClick={onShow}>
          {count(waiting.value)} new
        </button>
      )}
    </div>
  );
}
