import { useMemo } from "preact/hooks";
import { rangeTexts } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { useLoaded } from "../data/loaded.ts";
import { FieldValues } from "../query-box/values.ts";

/** Fields of older events are hardly what an alert is about. */
const KNOWN_MS = 86_400_000;

/** The fields of the last day and their values, for the completion of a query. */
export function useFieldValues(projectId: string): FieldValues | undefined {
  const times = useMemo(() => ({ startMs: serviceNow() - KNOWN_MS, stopMs: serviceNow() }), [projectId]);
  const fields = useLoaded(
    async (signal) =>
      (await call("get_discovered_fields", { project_id: projectId, ...rangeTexts(times) }, { signal })).fields,
    [projectId],
  ).value.value;
  return useMemo(() => fields && new FieldValues(projectId, times, fields), [fields]);
}
