import { useEffect, useState } from "preact/hooks";
import { serviceNow } from "../data/clock.ts";
import { ago, timeText, zoneName } from "./format.ts";

/** How often "3 min ago" is made anew. */
const STEP_MS = 10_000;

/** How long ago a time was, with the time itself as a title. `at` is an RFC 3339 time; without one it says `never`. */
export function Ago({ at, never = "never" }: { readonly at: string | null | undefined; readonly never?: string }) {
  const [nowMs, setNow] = useState(serviceNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), STEP_MS);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span>{never}</span>;
  const timeMs = Date.parse(at);
  return (
    <time dateTime={at} title={`${timeText(timeMs)} ${zoneName()}`}>
      {ago(timeMs, nowMs)}
    </time>
  );
}

/** A time in the zone that is preferred. */
export function At({ at }: { readonly at: string }) {
  return (
    <time dateTime={at}>
      {timeText(Date.parse(at))} {zoneName()}
    </time>
  );
}
