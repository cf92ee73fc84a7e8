import { useEffect, useState } from "preact/hooks";
import { serviceNow } from "../data/clock.ts";
import { ago, lasting, timeText, zoneName } from "./format.ts";

/** How often "3 min ago" is made anew. */
const STEP_MS = 10_000;

/** How long ago a time was, with the time itself as a title. `at` is an RFC 3339 time; without one it says `never`. */
export function Ago({ at, never = "never" }: { readonly at: string | null | undefined; readonly never?: string }) {
  const nowMs = useNow();
  if (!at) return <span>{never}</span>;
  const timeMs = Date.parse(at);
  return (
    <time dateTime={at} title={`${timeText(timeMs)} ${zoneName()}`}>
      {ago(timeMs, nowMs)}
    </time>
  );
}

/** For how long something is so that began at a time, with the time itself as a title. */
export function LastingSince({ at }: { readonly at: string }) {
  const nowMs = useNow();
  const timeMs = Date.parse(at);
  return (
    <time dateTime={at} title={`since ${timeText(timeMs)} ${zoneName()}`}>
      for {lasting(timeMs, nowMs)}
    </time>
  );
}

function useNow(): number {
  const [nowMs, setNow] = useState(serviceNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), STEP_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

/** A time in the zone that is preferred. */
export function At({ at }: { readonly at: string }) {
  return (
    <time dateTime={at}>
      {timeText(Date.parse(at))} {zoneName()}
    </time>
  );
}
