import type { DiscoveredField } from "../../../schema/rpc.generated.ts";
import { eventCountText } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import { moveInRow } from "./row-keys.ts";

interface FacetHeadProps {
  readonly field: DiscoveredField;
  readonly isOpen: boolean;
  readonly isPinned: boolean;
  readonly isColumn: boolean;
  onOpen(): void;
  onPin(): void;
  onColumn(): void;
}

/** The name of a field, which folds its values, and what can be done with the field as a whole. */
export function FacetHead({
  field: { name, count: eventCount, percent },
  isOpen,
  isPinned,
  isColumn,
  ...on
}: FacetHeadProps) {
  return (
    <div class="facet-head" data-marked={isPinned || isColumn} onKeyDown={moveInRow}>
      <h3>
        <button type="button" class="fold" aria-expanded={isOpen} onClick={on.onOpen}>
          <span class="turn" aria-hidden="true" />
          <span class={`name${name.includes(".") ? " path" : ""}`} title={name}>
            <Text text={name} />
          </span>{" "}
          <span class="share" title={`In ${eventCountText(eventCount)}`}>
            {percent < 0.01 ? "< 1" : Math.round(percent * 100)} %
          </span>
        </button>
      </h3>
      <span class="facet-tools">
        <button
          type="button"
          class="facet-tool"
          tabIndex={-1}
          aria-label={visibleText(`Column of ${name}`)}
          aria-pressed={isColumn}
          title={isColumn ? "Remove the column" : "Show as a column"}
          onClick={on.onColumn}
        >
          ▥
        </button>
        <button
          type="button"
          class="facet-tool"
          tabIndex={-1}
          aria-label={visibleText(`Pin ${name}`)}
          aria-pressed={isPinned}
          title={isPinned ? "No longer above the others" : "Keep above the others"}
          onClick={on.onPin}
        >
          {isPinned ? "★" : "☆"}
        </button>
      </span>
    </div>
  );
}
