import { type Signal, signal } from "@preact/signals";
import type { Event } from "../../../schema/rpc.generated.ts";
import { Arrivals } from "./arrivals.ts";
import type { Arrived } from "./without-arrived.ts";

/** Events as they arrive. */
export interface Live {
  /** The latest first; those that wait while the list is scrolled are not in it. */
  readonly shown: Signal<readonly Event[]>;
  readonly waiting: Signal<number>;
  /** Events that the service could not send in time. They are stored. */
  readonly dropped: Signal<number>;
  readonly status: Signal<"connecting" | "open" | "gone">;
  /** Since when the stream is not open, in milliseconds since 1970. */
  readonly since: Signal<number>;
  /** Why the service ended it, such as a removed project. */
  readonly problem: Signal<string | undefined>;
  /** All that arrived and are not in the list. */
  readonly arrivals: Arrived;
  /** Shows what waits. */
  show(): void;
  /** While held, new events wait. */
  hold(isHeld: boolean): void;
  /** Called when the list begins to be read anew: how many have arrived before. */
  mark(): number;
  /** The list was read anew after `mark`: what is in it is not shown twice. */
  rebase(mark: number, isInList: (event: Event) => boolean): void;
  close(): void;
}

/** How often what arrived is drawn. */
const DRAW_MS = 100;
/** How long to wait before a stream is opened again that the service has refused. */
const RETRY_MS = 3_000;

export interface LiveOptions {
  readonly projectId: string;
  readonly team: string;
  readonly query: string;
  /** Whether an event was read with the list already: it was on its way. */
  isInList(event: Event): boolean;
  /** Called with what arrived since the last call. */
  arrived(events: readonly Event[]): void;
  /** Called if the list has to be read anew, since events may be missing between it and the stream. */
  stale(): void;
  /** Called if more have arrived than are kept: those before are to be read with the list. */
  full(): void;
}

/**
 * Opens a stream of new events. The list is read after it is open, so that no event is between the two. The browser opens
 * it again when it breaks, from where it was; one that was refused is opened anew here.
 */
export function openLive({ projectId, team, query, isInList, arrived, stale, full }: LiveOptions): Live {
  const shown = signal<readonly Event[]>([]);
  const waiting = signal(0);
  const dropped = signal(0);
  const status = signal<"connecting" | "open" | "gone">("connecting");
  const since = signal(Date.now());
  const problem = signal<string | undefined>(undefined);
  const all = new Arrivals();
  let isHeld = false;
  let isStale = false;
  let isEnded = false;
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const asked = new URLSearchParams({ project_id: projectId, query, ...(team !== "" && { team }) });
  const tellStale = (): void => {
    // What is looked at does not move: the list is read anew when its beginning is shown.
    isStale = isHeld;
    if (!isHeld) stale();
  };
  const lost = (next: "connecting" | "gone"): void => {
    if (status.value === "open") since.value = Date.now();
    status.value = next;
  };
  const open = (): void => {
    let isNew = true;
    source = new EventSource(`/tail?${asked}`);
    source.onopen = () => {
      status.value = "open";
      // Opened again by the browser it goes on where it was.
      if (isNew) tellStale();
      isNew = false;
    };
    source.onerror = () => {
      if (isEnded) return;
      lost("connecting");
      if (source!.readyState !== EventSource.CLOSED) return;
      retry = setTimeout(open, RETRY_MS);
    };
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as Event;
      if (!isInList(event)) all.push(event);
    };
    source.addEventListener("dropped", ({ data }: MessageEvent<string>) => {
      const { count } = JSON.parse(data) as { count: number | null };
      if (count === null) tellStale();
      else dropped.value += count;
    });
    source.addEventListener("error", (event) => {
      const { data } = event as MessageEvent<string | undefined>;
      if (typeof data !== "string") return;
      problem.value = (JSON.parse(data) as { message: string }).message;
      isEnded = true;
      lost("gone");
      source!.close();
    });
  };
  const draw = (): void => {
    const news = all.untold();
    if (news.length > 0) arrived(news);
    if (isHeld) waiting.value = all.waiting;
    else if (all.waiting > 0) show();
  };
  const show = (): void => {
    const isWhole = all.show();
    waiting.value = 0;
    shown.value = all.shown;
    if (isStale) stale();
    else if (!isWhole) full();
    isStale = false;
  };
  open();
  const timer = setInterval(draw, DRAW_MS);
  return {
    ...{ shown, waiting, dropped, status, since, problem, arrivals: all },
    show() {
      isHeld = false;
      draw();
      show();
    },
    hold(held) {
      isHeld = held;
    },
    mark: () => all.total,
    rebase(mark, isInList) {
      all.rebase(mark, isInList);
      shown.value = all.shown;
      waiting.value = isHeld ? all.waiting : 0;
    },
    close() {
      clearInterval(timer);
      clearTimeout(retry);
      isEnded = true;
      source?.close();
    },
  };
}
