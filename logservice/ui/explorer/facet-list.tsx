import { useSignal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import type { DiscoveredField, Level } from "../../../schema/rpc.generated.ts";
import { keep, readKept } from "../data/preferences.ts";
import { count, number } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import type { Facets, FacetValue } from "./facet-data.ts";
import { STACKED } from "./histogram-data.ts";
import type { ValueActions } from "./value-actions.ts";

export interface FacetListProps {
  readonly projectId: string;
  readonly fields: readonly DiscoveredField[] | undefined;
  readonly byLevel: ReadonlyMap<Level, number> | undefined;
  readonly facets: Facets | undefined;
  readonly actions: ValueActions;
  onBounds(field: string, bounds: { readonly min?: number; readonly max?: number }): void;
}

/** So many fields are open unless the person opens or closes them. */
const OPEN_AT_FIRST = 4;

/** The levels and fields of what was found, each with its values, by which to filter. */
export function FacetList({ projectId, fields, byLevel, facets, actions, onBounds }: FacetListProps) {
  const [typed, setTyped] = useState("");
  const name = `facets.${projectId}`;
  const chosen = useSignal<Readonly<Record<string, boolean>>>(useMemo(() => readChoices(name), [name]));
  const choose = (field: string, isOpen: boolean): void => {
    chosen.value = { ...chosen.value, [field]: isOpen };
    keep(name, JSON.stringify(chosen.value));
  };
  const levels = [...STACKED].reverse().flatMap((level) => {
    const found = byLevel?.get(level);
    return found ? [{ value: level, count: found }] : [];
  });
  const usual = new Set(usualFields(fields ?? []).slice(0, OPEN_AT_FIRST));
  const shown = (fields ?? []).filter((field) => field.name.toLowerCase().includes(typed.trim().toLowerCase()));
  const pinned = (field: DiscoveredField) => chosen.value[field.name] === true;
  const sorted = [...shown].sort((a, b) => Number(pinned(b)) - Number(pinned(a)));
  return (
    <aside class="facets" aria-label="Fields">
      <h2 class="spoken">Fields</h2>
      <section>
        <h3>level</h3>
        <Values field="level" values={levels} actions={actions} />
      </section>
      {(fields?.length ?? 0) > 8 && (
        <input
          type="search"
          aria-label="Find a field"
          placeholder="Find a field"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      {sorted.map((field) => {
        const isOpen = chosen.value[field.name] ?? usual.has(field);
        return (
          <section key={`${field.type} ${field.name}`}>
            <h3>
              <button type="button" class="fold" aria-expanded={isOpen} onClick={() => choose(field.name, !isOpen)}>
                <span class="turn" aria-hidden="true" />
                <span class="name">
                  <Text text={field.name} />
                </span>
                <span class="share" title={`In ${count(field.count)} events`}>
                  {field.percent < 0.01 ? "< 1" : Math.round(field.percent * 100)} %
                </span>
              </button>
            </h3>
            {isOpen && facets !== undefined && (
              <Facet field={field} facets={facets} actions={actions} onBounds={onBounds} />
            )}
          </section>
        );
      })}
      {typed !== "" && shown.length === 0 && <p class="hint">No field has this name.</p>}
    </aside>
  );
}

interface FacetProps extends Pick<FacetListProps, "actions" | "onBounds"> {
  readonly field: DiscoveredField;
  readonly facets: Facets;
}

function Facet({ field, facets, actions, onBounds }: FacetProps) {
  const known = facets.of(field).value;
  if (known === undefined) return <p class="hint">…</p>;
  if (known.kind === "failed") return <p class="hint">{known.reason}</p>;
  if (known.kind === "values")
    return (
      <>
        <Values field={field.name} values={known.values} actions={actions} />
        {known.isCut && (
          <button type="button" class="button quiet small" onClick={() => actions.groupBy(field.name)}>
            All values
          </button>
        )}
      </>
    );
  return <Numbers key={`${known.min} ${known.max}`} name={field.name} {...known} onBounds={onBounds} />;
}

interface ValuesProps {
  readonly field: string;
  readonly values: readonly FacetValue[];
  readonly actions: ValueActions;
}

function Values({ field, values, actions }: ValuesProps) {
  const most = Math.max(1, ...values.map((value) => value.count));
  return (
    <ul class="facet-values">
      {values.map(({ value, count: found }) => (
        <li key={String(value)}>
          <span class="facet-bar" style={{ width: `${(found / most) * 100}%` }} aria-hidden="true" />
          <button
            type="button"
            class="facet-value"
            title="Only this value; with Alt: not this value"
            onClick={(event) => (event.altKey ? actions.filterOut(field, value) : actions.filterIn(field, value))}
          >
            <span class={field === "level" ? `level-${value}` : undefined}>
              {value === "" ? <em>empty</em> : <Text text={String(value)} />}
            </span>
          </button>
          <button
            type="button"
            class="facet-out"
            aria-label={`Not ${value}`}
            title="Not this value"
            onClick={() => actions.filterOut(field, value)}
          >
            −
          </button>
          <span class="facet-count">{count(found)}</span>
        </li>
      ))}
    </ul>
  );
}

interface NumbersProps {
  readonly name: string;
  readonly min: number | null;
  readonly avg: number | null;
  readonly max: number | null;
  onBounds: FacetListProps["onBounds"];
}

function Numbers({ name, min, avg, max, onBounds }: NumbersProps) {
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
          aria-label={`Least ${name}`}
          placeholder="from"
          value={low}
          onInput={(event) => setLow(event.currentTarget.value)}
        />
        <input
          type="number"
          step="any"
          aria-label={`Most ${name}`}
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

/** Fields worth opening: of few values as far as the name tells, in many events. */
function usualFields(fields: readonly DiscoveredField[]): DiscoveredField[] {
  const rank = ({ name, type }: DiscoveredField) =>
    /^(?:status|path|stage|method|service|host|logger|kind|type|name)$/i.test(name)
      ? 0
      : /(?:^|[._])(?:id|uuid|hash|key|token|time|at|ip)$|_id$|Id$/.test(name)
        ? 9
        : type === "boolean"
          ? 3
          : type === "string"
            ? 2
            : 4;
  return fields
    .filter((field) => field.percent >= 0.05)
    .sort((a, b) => rank(a) - rank(b) || b.percent - a.percent)
    .filter((field) => rank(field) < 9);
}

function readChoices(name: string): Readonly<Record<string, boolean>> {
  try {
    const kept: unknown = JSON.parse(readKept(name) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Record<string, boolean>) : {};
  } catch {
    return {};
  }
}
