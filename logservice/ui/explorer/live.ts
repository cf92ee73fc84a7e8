import { type Signal, signal } from "@preact/signals";
import type { Event } from "../../../schema/rpc.generated.ts";

/** Events as they arrive. */
export interface Live {
  /** The latest first; those that were shown already and those that wait while the list is scrolled. */
  readonly shown: Signal<readonly Event[]>;
  readonly waiting: Signal<number>;
  /** Events that the service could not send in time. */
  readonly dropped: Signal<number>;
  readonly status: Signal<"connecting" | "open" | "gone">;
  /** Why the service ended it, such as a removed project. */
  readonly problem: Signal<string | undefined>;
  /** Shows what waits. */
  show(): void;
  /** While held, new events wait. */
  hold(isHeld: boolean): void;
  close(): void;
}

/** So many events are kept; the list is read anew when there are more. */
const MOST_LIVE = 4_000;
/** How often what arrived is drawn. */
const DRAW_MS = 100;

export interface LiveOptions {
  readonly projectId: string;
  readonly team: string;
  readonly query: string;
  /** Whether an event was found already, by the query. */
  isKnown(id: string): boolean;
  /** Called with what arrived since the last call. */
  arrived(events: readonly Event[]): void;
  /** Called when more arrived than are kept. */
  full(): void;
}

/** Opens a stream of new events. The browser opens it again when it breaks, from where it was. */
export function openLive({ projectId, team, query, isKnown, arrived, full }: LiveOptions): Live {
  const shown = signal<readonly Event[]>([]);
  const waiting = signal(0);
  const dropped = signal(0);
  const status = signal<"connecting" | "open" | "gone">("connecting");
  const problem = signal<string | undefined>(undefined);
  let queue: Event[] = [];
  let isHeld = false;
  /** How many have arrived since the last ones were shown. */
  let held = 0;
  /** How many of the queue were told of. */
  let counted = 0;
  const asked = new URLSearchParams({ project_id: projectId, query, ...(team !== "" && { team }) });
  const source = new EventSource(`/tail?${asked}`);
  source.onopen = () => {
    status.value = "open";
  };
  source.onerror = () => {
    status.value = source.readyState === EventSource.CLOSED ? "gone" : "connecting";
  };
  source.onmessage = ({ data }: MessageEvent<string>) => {
    const event = JSON.parse(data) as Event;
    if (isKnown(event.id)) return;
    queue.push(event);
    held += 1;
  };
  source.addEventListener("dropped", ({ data }: MessageEvent<string>) => {
    dropped.value += (JSON.parse(data) as { count: number | null }).count ?? 1;
  });
  source.addEventListener("error", (event) => {
    const { data } = event as MessageEvent<string | undefined>;
    if (typeof data !== "string") return;
    problem.value = (JSON.parse(data) as { message: string }).message;
    status.value = "gone";
    source.close();
  });
  const draw = (): void => {
    if (queue.length > counted) {
      arrived(queue.slice(counted));
      // What waits for hours must not fill the memory: it is read from the store when it is wanted.
      if (queue.length > MOST_LIVE) queue = queue.slice(-MOST_LIVE);
      counted = queue.length;
    }
    if (isHeld) waiting.value = held;
    else if (held > 0) show();
  };
  const show = (): void => {
    const isFull = held + shown.value.length > MOST_LIVE;
    const next = isFull ? [] : [...queue.reverse(), ...shown.value];
    queue = [];
    held = 0;
    counted = 0;
    waiting.value = 0;
    if (isFull) full();
    else shown.value = next;
  };
  const timer = setInterval(draw, DRAW_MS);
  return {
    ...{ shown, waiting, dropped, status, problem },
    show() {
      draw();
      show();
    },
    hold(held) {
      isHeld = held;
    },
    close() {
      clearInterval(timer);
      source.close();
    },
  };
}
