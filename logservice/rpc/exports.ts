import { RpcError } from "../error.ts";
import { type DiscoveredField, MAX_DISCOVERED_FIELDS } from "../events/store.ts";
import { eventsKeyOf } from "../records/projects.ts";
import { askerOf, type Handlers, projectOf } from "./call.ts";
import { newTicket } from "./export-tickets.ts";
import { readField, readPipelineInput, readRange } from "./read-range.ts";

/** The most rows that stages may give for a file: what `aggregate` answers at once. */
export const MOST_ROWS = 10_000;

export const exports: Handlers<"add_export"> = {
  async add_export(service, { project_id, start, stop, query = "", format, fields: fieldNames }, call) {
    // Before any work for what is refused anyway.
    service.openExports.requirePlace(call.grant);
    const { query: selecting, pipes } = readPipelineInput(query, "query");
    const times = readRange({ start, stop });
    for (const [at, name] of (fieldNames ?? []).entries()) readField(name, `fields[${at}]`);
    const eventsKey = await eventsKeyOf(service.records.db, projectOf(call, project_id));
    const selected = selecting.expr === undefined ? undefined : selecting;
    const request = { ...times, query: selected, project: eventsKey, signal: call.signal, asker: askerOf(call) };
    const isTable = pipes.length > 0;
    if (isTable) {
      if (fieldNames !== undefined)
        throw new RpcError("invalid", "fields: leave it out: the stages of the query say which columns there are");
      // Who downloads a file by a link sees no message, so what would be refused then is found out now.
      const { isTruncated } = await service.events.aggregate({ ...request, pipes, limit: MOST_ROWS });
      if (isTruncated) throw TOO_MANY_ROWS;
    }
    const isOfAll = format === "csv" && !isTable && fieldNames === undefined;
    const fields = isOfAll ? namesOf((await service.events.discoveredFields(request)).fields) : (fieldNames ?? []);
    const order = { range: { project_id, start, stop, query }, eventsKey, isTable, format, fields };
    // Others may have come meanwhile.
    service.openExports.requirePlace(call.grant);
    const ticket = newTicket(call.grant);
    service.openExports.keep(ticket, call.grant);
    await service.exportTickets.add(ticket, order, call.grant, service.nowMs());
    return { ticket };
  },
};

export const TOO_MANY_ROWS = new RpcError(
  "invalid",
  `query: its stages give more than ${MOST_ROWS} rows: add | limit ${MOST_ROWS}, or narrow the range`,
);

/** The names of all fields, each once: one of two types is one column. */
function namesOf(fields: readonly DiscoveredField[]): string[] {
  if (fields.length < MAX_DISCOVERED_FIELDS) return [...new Set(fields.map(({ name }) => name))];
  const message = `fields: is required, as there are ${MAX_DISCOVERED_FIELDS} fields or more; or take the format ndjson`;
  throw new RpcError("invalid", message);
}
