import { requests } from "../data/preferences.ts";
import { count } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import type { Fold } from "./fold.ts";

export interface ListNoteProps {
  /** The fields that all rows have with the same value. */
  readonly common: ReadonlyMap<string, string>;
  /** The requests and responses that belong together. */
  readonly pairs: Fold;
}

/** Says once what no row repeats: the fields that all have in common, and the requests that are in the rows of responses. */
export function ListNote({ common, pairs }: ListNoteProps) {
  if (common.size === 0 && pairs.count === 0) return null;
  const isFolded = requests.value === "folded";
  const counted = `${count(pairs.count)} ${pairs.count === 1 ? "request" : "requests"}`;
  return (
    <p class="list-note">
      {common.size > 0 && (
        <span class="common">
          In every row:{" "}
          {[...common].map(([name, text]) => (
            <span key={name}>
              <Text text={`${name}=${text}`} />{" "}
            </span>
          ))}
        </span>
      )}
      {pairs.count > 0 && (
        <span class="folded" title="Of the events that were read so far">
          {isFolded && `${counted} merged with ${pairs.count === 1 ? "its response" : "their responses"} `}
          <button
            type="button"
            class="button quiet small"
            title={isFolded ? "Show requests in rows of their own" : "Show requests in the rows of their responses"}
            onClick={() => {
              requests.value = isFolded ? "apart" : "folded";
            }}
          >
            {isFolded ? "Show separately" : `Merge ${counted}`}
          </button>
        </span>
      )}
    </p>
  );
}
