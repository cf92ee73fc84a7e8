import { useState } from "preact/hooks";
import { count, number } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import type { FacetValue } from "./facet-data.ts";
import { moveInRow } from "./row-keys.ts";
import type { ValueActions } from "./value-actions.ts";

interface FacetValueListProps {
  readonly field: string;
  readonly values: readonly FacetValue[];
  readonly actions: ValueActions;
}

/** Values with how many events have each, and buttons to have those alone or to leave them out. */
export function FacetValueList({ field, values, actions }: FacetValueListProps) {
  const most = Math.max(1, ...values.map((value) => value.count));
  return (
    <ul class="facet-values">
      {values.map(({ value, count: eventCount }) => (
        <li key={String(value)} onKeyDown={moveInRow}>
          <span class="facet-bar" style={{ width: `${(eventCount / most) * 100}%` }} aria-hidden="true" />
          <button
            type="button"
            class="facet-value"
            title={`${visibleText(nameOf(value))}\nPress: only this value. With Alt: not this value. Keys: → for more`}
            onClick={(event) => (event.altKey ? actions.filterOut(field, value) : actions.filterIn(field, value))}
          >
            <span class={field === "level" ? `level-${value}` : undefined}>
              {value === "" ? <em>empty</em> : <Text text={String(value)} />}
            </span>
          </button>
          <span class="facet-tools">
            <button
              type="button"
              class="facet-tool"
              tabIndex={-1}
              aria-label={visibleText(`Only ${field} ${nameOf(value)}`)}
              title="Only this value"
              onClick={() => actions.filterIn(field, value)}
            >
              +
            </button>
            <button
              type="button"
              class="facet-tool"
              tabIndex={-1}
              aria-label={visibleText(`Not ${field} ${nameOf(value)}`)}
              title="Not this value"
              onClick={() => actions.filterOut(field, value)}
            >
              −
            </button>
          </span>
          <span class="facet-count">{count(eventCount)}</span>
        </li>
      ))}
    </ul>
  );
}

/** Long values are found by their beginning. */
const nameOf = (value: FacetValue["value"]) => (value === "" ? "empty" : String(value).slice(0, 200));

interface FacetNumbersProps {
  readonly name: string;
  readonly min: number | null;
  readonly avg: number | null;
  readonly max: number | null;
  onBounds(field: string, bounds: { readonly min?: number; readonly max?: number }): void;
}

/** A field of many numbers: what they are like, and a range to set. */
export function FacetNumbers({ name, min, avg, max, onBounds }: FacetNumbersProps) {
  const [low, setLow] = useState("");
  const [high, setHigh] = useState("");
  if (min === null || max === null || avg === null) return <p class="hint">No numbers.</p>;
  return (
    <form
      class="facet-numbers"
      onSubmit={(event) => {
        event.preventDefault();
        const bounds = {
          ...(low !== "" && Number.isFinite(Number(low)) && { min: Number(low) }),
          ...(high !== "" && Number.isFinite(Number(high)) && { max: Number(high) }),
        };
        if (Object.keys(bounds).length > 0) onBounds(name, bounds);
      }}
    >
      <p class="hint">
        min {number(min)} · avg {number(avg)} · max {number(max)}
      </p>
      <div class="row">
        <input
          type="number"
          step="any"
          aria-label={visibleText(`Least ${name}`)}
          placeholder="from"
          value={low}
          onInput={(event) => setLow(event.currentTarget.value)}
        />
        <input
          type="number"
          step="any"
          aria-label={visibleText(`Most ${name}`)}
          placeholder="to"
          value={high}
          onInput={(event) => setHigh(event.currentTarget.value)}
        />
        <button type="submit" class="button small">
          Set
        </button>
      </div>
    </form>
  );
}
