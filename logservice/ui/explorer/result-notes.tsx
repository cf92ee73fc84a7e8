import { goneSince, isSignedOut } from "../data/call.ts";
import { missingText } from "../kit/format.ts";
import { Failure } from "../kit/state.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { Running } from "./running.tsx";

/** Says what is the matter with the results: they failed, lack events, are on their way, or are of another query. */
export function ResultNotes({ state }: { readonly state: ExplorerState }) {
  const result = state.result.value;
  const latest = state.latest.value;
  const isOld = latest !== result && (latest?.error.value !== undefined || latest?.isWrong.value === true);
  // The frame says it, above the page.
  const isSaidAbove = goneSince.value !== undefined || isSignedOut.value;
  return (
    <>
      {latest?.error.value !== undefined && !isSaidAbove && <Failure error={latest.error.value} retry={state.run} />}
      {result !== undefined && result.missingBytes.value > 0 && (
        <p class="note warning missing" role="status">
          <strong>Results may be incomplete.</strong> {missingText(result.missingBytes.value, "in this range")}
        </p>
      )}
      {latest !== undefined && <Running result={latest} onCancel={state.cancel} />}
      {isOld && result !== undefined && (
        <p class="note old" role="status">
          These are the results of the previous query: <code>{result.query.trim() || "every event"}</code>
        </p>
      )}
    </>
  );
}
