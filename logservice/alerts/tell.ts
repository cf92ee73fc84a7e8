import { lastInstantBefore, printQuery } from "../../grammar/query/index.ts";
import { pathOf } from "../address/page.ts";
import { searchOf } from "../address/view.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import type { AlertRow } from "../records/tables.ts";
import { type AlertQuery, readAlertQuery } from "./alert-query.ts";
import { DISK_QUERY } from "./disk.ts";
import { groupValuesOf, queryOfGroup } from "./group.ts";
import { MINUTE_MS, slotStartMs, slotStopMs } from "./slots.ts";

/** An alert with the names of what it belongs to, as messages need it. */
export interface ToldAlert
  extends Pick<
    AlertRow,
    | "id"
    | "name"
    | "description"
    | "kind"
    | "query"
    | "severity"
    | "operator"
    | "threshold"
    | "interval"
    | "for"
    | "team_id"
    | "project_id"
  > {
  readonly team_name: string;
  readonly project_name: string;
}

export interface MessageFacts {
  readonly key: string;
  readonly slot: number;
  readonly value: number | null;
  readonly episodeId: string;
  readonly since: string;
  readonly reason: string;
  /** Whether it is over: its events are those of all its intervals. */
  readonly isOver?: boolean;
  readonly samples?: Pick<AlertMessage, "events" | "hasMoreEvents">;
}

/** Makes the message of a transition. */
export function messageOf(alert: ToldAlert, facts: MessageFacts): Omit<AlertMessage, "id" | "kind"> {
  const { id, name, description, query, severity, operator, threshold, interval } = alert;
  const isOfDisk = alert.kind === "disk";
  const read = readAlertQuery(query);
  const parsedQuery = isOfDisk ? DISK_QUERY : read.ok ? read.value : NOTHING;
  const group = groupValuesOf(parsedQuery.columns, facts.key);
  const [startMs, stopMs] = [slotStartMs(facts.slot, interval), slotStopMs(facts.slot, interval)];
  // In the last interval of what is over, there may be nothing to see.
  const firstMs = facts.isOver ? Date.parse(facts.since) - alert.for * interval * MINUTE_MS : startMs;
  return {
    team: { id: alert.team_id, name: alert.team_name },
    project: { id: alert.project_id, name: alert.project_name },
    alert: { ...{ id, name, description, query }, ...({ severity, operator, threshold, interval } as Compared) },
    episodeId: facts.episodeId,
    group,
    value: facts.value,
    what: parsedQuery.what,
    unit: parsedQuery.unit,
    window: { start: new Date(startMs).toISOString(), stop: new Date(stopMs).toISOString() },
    triggeredAt: facts.since,
    events: facts.samples?.events ?? [],
    hasMoreEvents: facts.samples?.hasMoreEvents ?? false,
    reason: facts.reason,
    path: isOfDisk
      ? pathOf({ kind: "team", team: alert.team_id, section: "usage" })
      : pathOfEvents(alert, printQuery(queryOfGroup(parsedQuery, group) ?? NO_QUERY), {
          startMs: Math.min(startMs, firstMs),
          stopMs,
        }),
  };
}

type Compared = Pick<AlertMessage["alert"], "severity" | "operator" | "threshold" | "interval">;

const NO_QUERY = { source: "", expr: undefined };
/** A query that an older version accepted is told as it is, with all events. */
const NOTHING: AlertQuery = { query: undefined, pipes: [], columns: [], what: "events", unit: "", isCount: true };

/** The page with exactly these events, by the code that reads its address. */
function pathOfEvents(
  { team_id: team, project_id: project }: ToldAlert,
  query: string,
  { startMs, stopMs }: { readonly startMs: number; readonly stopMs: number },
): string {
  const page = pathOf({ kind: "project", team, project, section: "events" });
  // The page includes both ends, of whole milliseconds.
  return page + searchOf({ query, range: { startMs, stopMs: Math.floor(lastInstantBefore(stopMs)) } });
}
