import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { withoutPipes } from "../../../grammar/query/edit.ts";
import type { AlertInput } from "../../../schema/rpc.generated.ts";
import { rangeTexts } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { type Loaded, loaded } from "../data/loaded.ts";
import { type Preview, stripBars, type Times } from "./preview-data.ts";

/** A replay of an alert over the last days, and the events that it looked at. */
export interface Replayed {
  readonly times: Times;
  readonly preview: Preview;
  readonly strip: ReturnType<typeof stripBars>;
  readonly alert: AlertInput;
}

const REPLAYED_MS = 7 * 86_400_000;
/** An hour each, and one more if the range begins within an hour. */
const BARS = 170;
/** So many steps the service counts at most. */
const MOST_STEPS = 10_000;
/** The replay begins after this pause: before, the person is still typing. */
const PAUSE_MS = 700;

/** Replays an alert whenever what it compares has changed. Undefined alerts, which are not complete, are not replayed. */
export function useReplay(alert: AlertInput | undefined): Loaded<Replayed> {
  const latest = useRef(alert);
  latest.current = alert;
  const it = useMemo(() => loaded((signal) => replay(latest.current!, signal)), []);
  const key = alert && JSON.stringify([alert.query, alert.operator, alert.threshold, alert.interval, ...counts(alert)]);
  const isFirst = useSignal(true);
  useEffect(() => {
    it.cancel();
    if (key === undefined) return;
    const timer = setTimeout(() => void it.load(), isFirst.peek() ? 0 : PAUSE_MS);
    isFirst.value = false;
    return () => clearTimeout(timer);
  }, [key]);
  useEffect(() => () => it.cancel(), []);
  return it;
}

const counts = (alert: AlertInput) => [alert.for, alert.recover];

async function replay(alert: AlertInput, signal: AbortSignal): Promise<Replayed> {
  const stopMs = serviceNow();
  const times = { startMs: stopMs - REPLAYED_MS, stopMs };
  const range = { start: new Date(times.startMs).toISOString(), stop: new Date(stopMs).toISOString() };
  const query = withoutPipes(alert.query ?? "") ?? "";
  const { project_id } = alert;
  const intervalMs = (alert.interval ?? 5) * 60_000;
  // An interval each, and one more if the range begins within an interval.
  const mostSteps = Math.min(MOST_STEPS, Math.max(BARS, Math.ceil(REPLAYED_MS / intervalMs) + 1));
  // A replay needs neither, and the service wants them.
  const whole = { ...alert, name: alert.name || "preview", notification_id: alert.notification_id || "none" };
  const [preview, { points }] = await Promise.all([
    call("preview_alert", { alert: whole, ...range }, { signal }),
    call(
      "get_level_timeseries",
      { project_id, ...rangeTexts(times), ...(query !== "" && { query }), max_points: mostSteps },
      { signal },
    ),
  ]);
  const { episodes } = preview;
  const strip = stripBars(points, { ...times, mostSteps, mostBars: BARS, intervalMs, episodes });
  return { times, preview, strip, alert };
}
