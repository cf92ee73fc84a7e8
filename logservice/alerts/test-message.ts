import type { AlertInput } from "../../schema/rpc.generated.ts";
import type { EventsStore } from "../events/store.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import { newId } from "../records/row.ts";
import { readAlertQuery } from "./alert-query.ts";
import { freeDisk, keptThreshold } from "./disk.ts";
import { groupValuesOf } from "./group.ts";
import { readSlots } from "./read-slots.ts";
import { sampleEvents } from "./samples.ts";
import { slotAt, slotStopMs } from "./slots.ts";
import { messageOf, type ToldAlert } from "./tell.ts";

/** The alert to test, and the data for its message. */
export interface Tested {
  readonly alert: AlertInput;
  /** The names of what it belongs to. */
  readonly place: Pick<ToldAlert, "team_id" | "team_name" | "project_name">;
  /** The key of the project's events. */
  readonly eventsKey: string;
}

/** The message of a test: what the last whole interval would tell, whether or not that breaches the threshold. */
export async function testMessage(
  events: EventsStore,
  { alert, place, eventsKey }: Tested,
  nowMs: number,
  signal: AbortSignal,
): Promise<AlertMessage> {
  const { interval = 5, limit = 10, description = "", id = "", kind = "events", query = "" } = alert;
  const slot = slotAt(nowMs, interval) - 1;
  const read = kind === "disk" ? undefined : readAlertQuery(query);
  const question = read?.ok ? { project: eventsKey, query: read.value, interval } : undefined;
  const [outcome] =
    kind === "disk"
      ? [await freeDisk(events)]
      : question === undefined
        ? []
        : await readSlots(events, question, { first: slot, last: slot }, signal);
  const values = outcome?.ok === true ? [...outcome.value] : [];
  const [key, value] = values.sort(([, one], [, other]) => other - one)[0] ?? ["", 0];
  const group = groupValuesOf(question?.query.columns ?? [], key);
  const samples = question && (await sampleEvents(events, question, { slot, group, limit }, signal));
  const threshold = keptThreshold(alert);
  const subject = { ...alert, ...place, id, description, kind, query, threshold, interval, for: alert.for ?? 1 };
  const since = new Date(slotStopMs(slot, interval)).toISOString();
  const episodeId = `test_${newId()}`;
  const message = messageOf(subject, { key, slot, value, episodeId, since, reason: "", ...(samples && { samples }) });
  return { ...message, id: `dlv_${newId()}`, kind: "test" };
}
