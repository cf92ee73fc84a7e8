import { goneSince, isSignedOut } from "../data/call.ts";
import { bytes } from "../kit/format.ts";
import { Failure } from "../kit/state.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { Running } from "./running.tsx";

/** Says what is the matter with the results: they failed, lack events, are on their way, or are of another query. */
export function ResultNotes({ state }: { readonly state: ExplorerState }) {
  const found = state.found.value;
  const asked = state.asked.value;
  const isOld = asked !== found && (asked?.error.value !== undefined || asked?.isWrong.value === true);
  // The frame says it, above the page.
  const isSaidAbove = goneSince.value !== undefined || isSignedOut.value;
  return (
    <>
      {asked?.error.value !== undefined && !isSaidAbove && <Failure error={asked.error.value} retry={state.run} />}
      {found !== undefined && found.missingBytes.value > 0 && (
        <p class="note warning missing" role="status">
          <strong>Incomplete results.</strong> About {bytes(found.missingBytes.value)} of events in this range are lost.
        </p>
      )}
      {asked !== undefined && <Running asked={asked} onCancel={state.cancel} />}
      {isOld && found !== undefined && (
        <p class="note old" role="status">
          These are the results of the previous query: <code>{found.query.trim() || "every event"}</code>
        </p>
      )}
    </>
  );
}
