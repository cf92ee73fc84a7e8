import { fieldsBesides, summaryLine, summaryOf } from "../../grammar/summary/index.ts";
import type { Event } from "../events/store.ts";

/** An event in one line, as the web UI has it, and the fields that the line does not say. Neither is harmless yet. */
export function sampleLine(event: Event): { readonly line: string; readonly fields: Event["fields"] } {
  const summary = summaryOf(event);
  return { line: summaryLine(summary), fields: fieldsBesides(event.fields, summary.used) };
}
