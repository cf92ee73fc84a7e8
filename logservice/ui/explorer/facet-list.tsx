import { useRef, useState } from "preact/hooks";
import type { DiscoveredField, Level } from "../../../schema/rpc.generated.ts";
import { useDrawer } from "../kit/drawer.ts";
import { visibleText } from "../kit/visible.ts";
import type { Facets } from "./facet-data.ts";
import { FacetHead } from "./facet-head.tsx";
import { FacetNumbers, FacetValueList } from "./facet-values.tsx";
import { useFieldChoices } from "./field-choices.ts";
import { STACKED } from "./histogram-data.ts";
import type { ValueActions } from "./value-actions.ts";

export interface FacetListProps {
  readonly projectId: string;
  readonly fields: readonly DiscoveredField[] | undefined;
  readonly byLevel: ReadonlyMap<Level, number> | undefined;
  readonly facets: Facets | undefined;
  readonly columns: readonly string[];
  readonly actions: ValueActions;
  onBounds(field: string, bounds: { readonly min?: number; readonly max?: number }): void;
  /** Whether it is shown over the list, where there is no room beside it. */
  readonly isDrawer: boolean;
  /** Closes it if it is a drawer over the list. */
  onClose(): void;
}

/** So many fields are open unless the person opens or closes them. */
const OPEN_AT_FIRST = 4;

/** The levels and fields of a result, each with its values, by which to filter. */
export function FacetList(props: FacetListProps) {
  const { projectId, fields, byLevel, facets, columns, actions, onBounds, isDrawer, onClose } = props;
  const root = useRef<HTMLElement>(null);
  const modal = useDrawer(root, isDrawer);
  const [typed, setTyped] = useState("");
  const choices = useFieldChoices(projectId);
  const levels = [...STACKED].reverse().flatMap((level) => {
    const eventCount = byLevel?.get(level);
    return eventCount ? [{ value: level, count: eventCount }] : [];
  });
  const usual = new Set(usualFields(fields ?? []).slice(0, OPEN_AT_FIRST));
  const wanted = typed.trim().toLowerCase();
  const matches = (fields ?? []).filter((field) => field.name.toLowerCase().includes(wanted));
  const sorted = [...matches].sort((a, b) => Number(choices.isPinned(b.name)) - Number(choices.isPinned(a.name)));
  return (
    <section
      class="facets"
      aria-label="Fields"
      ref={root}
      {...modal}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || modal === undefined) return;
        event.stopPropagation();
        onClose();
      }}
    >
      <header class="facets-head">
        <h2>Fields</h2>
        <button type="button" class="button small" onClick={onClose}>
          Close
        </button>
      </header>
      {levels.length > 0 && (
        <section aria-label="level">
          <h3>level</h3>
          <FacetValueList field="level" values={levels} actions={actions} />
        </section>
      )}
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
        const isOpen = choices.isOpen(field.name) ?? (choices.isPinned(field.name) || usual.has(field));
        return (
          <section key={`${field.type} ${field.name}`} aria-label={visibleText(field.name)}>
            <FacetHead
              field={field}
              isOpen={isOpen}
              isPinned={choices.isPinned(field.name)}
              isColumn={columns.includes(field.name)}
              onOpen={() => choices.open(field.name, !isOpen)}
              onPin={() => choices.pin(field.name)}
              onColumn={() => actions.toggleColumn(field.name)}
            />
            {isOpen && facets !== undefined && (
              <Facet field={field} facets={facets} actions={actions} onBounds={onBounds} />
            )}
          </section>
        );
      })}
      {typed !== "" && matches.length === 0 && <p class="hint">No field has this name.</p>}
    </section>
  );
}

interface FacetProps extends Pick<FacetListProps, "actions" | "onBounds"> {
  readonly field: DiscoveredField;
  readonly facets: Facets;
}

function Facet({ field, facets, actions, onBounds }: FacetProps) {
  const facet = facets.of(field).value;
  if (facet === undefined) return <p class="hint">…</p>;
  if (facet.kind === "failed") return <p class="hint">{facet.reason}</p>;
  if (facet.kind === "values")
    return (
      <>
        <FacetValueList field={field.name} values={facet.values} actions={actions} />
        {facet.isCut && (
          <button type="button" class="button quiet small" onClick={() => actions.groupBy(field.name)}>
            All values
          </button>
        )}
      </>
    );
  // The text that is typed for a range goes with the query that it is for.
  return <FacetNumbers key={facets.query} name={field.name} {...facet} onBounds={onBounds} />;
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
