import type { Pages } from "../data/pages.ts";
import { Failure } from "./state.tsx";

/** The button for the next page of a list. */
export function MoreButton({ of }: { readonly of: Pages<unknown> }) {
  return (
    <>
      {of.error !== undefined && <Failure error={of.error} />}
      {of.hasMore && (
        <p class="row more">
          <button type="button" class="button small" disabled={of.isLoading} onClick={() => void of.more()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
