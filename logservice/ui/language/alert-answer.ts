import { parsePipeline, printQuery } from "../../../grammar/query/index.ts";
import type { AlertGroupValue } from "../../../schema/rpc.generated.ts";
import { readAlertQuery } from "../../alerts/alert-query.ts";
import { queryOfGroup } from "../../alerts/group.ts";
import type { AlertAnswer } from "./messages.ts";

/** The reading that the service has of the query of an alert, without asking it. */
export function alertAnswer(text: string, groups: readonly (readonly AlertGroupValue[])[] = []): AlertAnswer {
  const read = readAlertQuery(text);
  // The problems of a text that is no query are shown at the box in which it is typed.
  if (!read.ok) return { ok: false, problems: parsePipeline(text).ok ? read.problems : [] };
  const { what, unit, columns } = read.value;
  const queries = groups.map((group) => {
    const query = queryOfGroup(read.value, group);
    return query === undefined ? "" : printQuery(query);
  });
  return { ok: true, measured: { what, unit }, isGrouped: columns.some(({ isGroup }) => isGroup), queries };
}
