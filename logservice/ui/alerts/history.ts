import type { Alert, AlertEpisode, Delivery } from "../../../schema/rpc.generated.ts";
import { CAME_LATE } from "../../notify/condition.ts";

/** The present state of an alert, as people say it. */
export interface AlertStatus {
  readonly text: "triggered" | "ok" | "failing" | "not evaluated yet";
  readonly style: "error" | "good" | "warning" | "";
}

/** The state that the records say. An alert that fails may be triggered still: both are said. */
export function statesOf({ state, triggered, evaluated_at }: Alert): readonly AlertStatus[] {
  const isFailing = state === "failing";
  return [
    ...(triggered ? [{ text: "triggered", style: "error" } as const] : []),
    ...(isFailing ? [{ text: "failing", style: "warning" } as const] : []),
    ...(!triggered && !isFailing
      ? [evaluated_at ? ({ text: "ok", style: "good" } as const) : ({ text: "not evaluated yet", style: "" } as const)]
      : []),
  ];
}

/**
 * From when on an alert counts events, as far as its record says that: its first interval is one that begins after it was
 * made, or after its condition was changed. Milliseconds since 1970; undefined of one that was evaluated and changed, which
 * may be of its name only, and of one that is so old that its history is not kept from there.
 */
export function countsFrom(
  { created_at, updated_at, evaluated_at, interval = 5 }: Alert,
  nowMs: number,
): number | undefined {
  if (evaluated_at && updated_at !== created_at) return undefined;
  const begunMs = Date.parse(updated_at ?? "");
  if (Number.isNaN(begunMs) || nowMs - begunMs > KEPT_DAYS * 86_400_000) return undefined;
  return Math.ceil(begunMs / (interval * 60_000)) * interval * 60_000;
}

/** How long episodes are kept. */
export const KEPT_DAYS = 90;

/** Since when an alert is what it is, as far as its episodes say: RFC 3339. Undefined if it always was, or is nothing yet. */
export function sinceOf(
  { id, state, triggered, evaluated_at }: Alert,
  episodes: readonly AlertEpisode[],
): string | undefined {
  const own = episodes.filter(({ alert_id }) => alert_id === id);
  if (triggered || state === "failing") {
    const kind = triggered ? "triggered" : "failed";
    const begun = own.filter((one) => one.resolved_at === null && one.kind === kind);
    return first(begun.map(({ triggered_at }) => triggered_at));
  }
  if (!evaluated_at) return undefined;
  const ended = own.flatMap(({ resolved_at }) => resolved_at ?? []);
  return ended.sort(byTime).at(-1);
}

/** Whether the last message of an alert has not arrived, though it was tried. Deliveries are the newest first. */
export function isUndelivered(id: string, deliveries: readonly Pick<Delivery, "alert_id" | "status" | "attempts">[]) {
  const last = deliveries.find(({ alert_id }) => alert_id === id);
  return last !== undefined && (last.status === "failed" || (last.status === "waiting" && last.attempts > 0));
}

/** Whether it was triggered only after the events of its interval had come late. */
export const isOfLate = ({ kind, reason }: AlertEpisode) => kind === "triggered" && reason === CAME_LATE;

/** How an episode ended. A failure keeps its reason, and ends when the query can be evaluated again. */
export function endOf(episode: AlertEpisode): string {
  const { kind, reason, resolved_at } = episode;
  if (resolved_at === null) return kind === "failed" ? "still cannot be evaluated" : "still triggered";
  if (kind === "failed") return "could be evaluated again";
  return reason === "" || isOfLate(episode) ? "resolved" : reason;
}

const byTime = (a: string, b: string) => Date.parse(a) - Date.parse(b);
const first = (times: readonly string[]) => [...times].sort(byTime)[0];

/** The events of an episode are in the interval that triggered it, those before that `for` needed, and up to its end. */
export function windowOf(
  { triggered_at, resolved_at }: { readonly triggered_at: string; readonly resolved_at: string | null },
  { interval, for: times }: { readonly interval: number; readonly for: number },
  nowMs: number,
): { readonly startMs: number; readonly stopMs: number } {
  const startMs = Date.parse(triggered_at) - interval * times * 60_000;
  const stopMs = resolved_at === null ? nowMs : Date.parse(resolved_at);
  // Both ends of a range are part of it.
  return { startMs, stopMs: Math.max(startMs, stopMs - 1) };
}
