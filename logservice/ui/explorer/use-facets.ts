import { type ReadonlySignal, signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { DiscoveredField } from "../../../schema/rpc.generated.ts";
import { rangeTexts } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { FieldValues } from "../query-box/values.ts";
import type { RowRange } from "../rows/rows.ts";
import type { QueryResult } from "./explorer-state.ts";
import { Facets } from "./facet-data.ts";
import type { Live } from "./live.ts";

/** How long the fields stay as they are while events arrive; where there are none, they are wanted at once. */
const LIVE_MS = 10_000;
const FIRST_MS = 1_000;
/** At most this share of the time is spent on reading them. */
const MOST_SHARE = 1 / 20;

/** The fields of a range: those of the list, or of a later one while it is live. */
interface Fields {
  readonly times: RowRange;
  readonly fields: ReadonlySignal<readonly DiscoveredField[] | undefined>;
}

export interface FacetsView {
  /** Undefined before the first are known. */
  readonly fields: readonly DiscoveredField[] | undefined;
  readonly facets: Facets | undefined;
  /** For the completion. */
  readonly values: FieldValues | undefined;
}

/** The fields of a result, and their values. While it is live, they follow what arrives. */
export function useFacets(projectId: string, result: QueryResult | undefined, live: Live | undefined): FacetsView {
  const later = useSignal<(Fields & { readonly of: QueryResult }) | undefined>(undefined);
  const latest: Fields | undefined = later.value?.of === result ? later.value : result;
  const before = useRef<{ facets?: Facets | undefined; fields?: readonly DiscoveredField[] }>({}).current;
  const facets = useMemo(() => {
    const { facets } = before;
    before.facets =
      result && latest && new Facets({ projectId, query: result.query, ...latest.times }, latest.fields, facets);
    return before.facets;
  }, [result, latest]);
  useEffect(() => () => facets?.close(), [facets]);
  // The fields of before stay until those of this run are known.
  const fields = latest?.fields.value ?? before.fields;
  before.fields = fields ?? [];
  const values = useMemo(() => latest && new FieldValues(projectId, latest.times, fields ?? []), [latest, fields]);
  useEffect(() => {
    if (live === undefined || result === undefined) return;
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current: Fields = result;
    /** So many had arrived when they were read, of those that are not in the list. */
    let arrivedBefore = 0;
    const waitMs = () => (current.fields.peek()?.length === 0 ? FIRST_MS : LIVE_MS);
    const follow = async (): Promise<void> => {
      const beginMs = performance.now();
      const arrived = live.mark();
      // Values that take longer than the pause would never come.
      if (arrived !== arrivedBefore && !isUsed() && !before.facets?.isReading) {
        const stopMs = serviceNow();
        const times = { startMs: stopMs - (result.times.stopMs - result.times.startMs), stopMs };
        const input = { project_id: projectId, query: result.query, ...rangeTexts(times) };
        // The fields that are shown stay if they cannot be read, and they are requested again.
        const read = await call("get_discovered_fields", input, { signal: over.signal }).catch(() => undefined);
        if (over.signal.aborted) return;
        if (read !== undefined) {
          arrivedBefore = arrived;
          current = { times, fields: signal(read.fields) };
          later.value = { ...current, of: result };
        }
      }
      timer = setTimeout(follow, Math.max(waitMs(), (performance.now() - beginMs) / MOST_SHARE));
    };
    timer = setTimeout(follow, waitMs());
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [live, result]);
  return { fields, facets, values };
}

/** Nothing moves under a pointer that is about to press, or under what has the focus. */
const isUsed = () => document.querySelector(".facets:hover, .facets:focus-within") !== null;
