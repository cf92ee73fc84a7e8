import { filterIn } from "../../../grammar/query/edit.ts";
import type { Event } from "../../../schema/rpc.generated.ts";
import { valueAt } from "./field-values.ts";

/** Fields that programs write the id of a request into, as queries name them; the proxy's first. */
const REQUEST_FIELDS = [
  ...["fields.id", "request_id", "requestId", "req_id", "reqId", "request.id", "req.id"],
  ...["correlation_id", "correlationId", "trace_id", "traceId"],
];

/** The query of all events of the request that an event is about; undefined if it names none. */
export function requestQuery(event: Event): string | undefined {
  for (const field of REQUEST_FIELDS) {
    const value = valueAt(event, field);
    if ((typeof value === "string" && value !== "") || typeof value === "number") return filterIn("", field, value);
  }
  return undefined;
}
