/** How a call is cancelled, and where it reports what it does. */
export interface Watched {
  readonly signal: AbortSignal;
  readonly report: (event: ProgressEvent) => void;
}

/** Shown while throttled calls wait. */
export const THROTTLED = "throttled: the cloud asks to slow down, waiting to call again";

/** A phase begins, may be followed by notes, and ends before the next one begins. */
export type ProgressEvent =
  | { readonly kind: "begin"; readonly phase: string }
  /** Something to know, or to wait for. Details are shown on a terminal and with --verbose only. */
  | { readonly kind: "note"; readonly phase: string; readonly text: string; readonly isDetail?: boolean }
  /**
   * The cloud refused a call because there are too many, and it will be retried; `isOver` when it has succeeded or failed
   * for good.
   */
  | { readonly kind: "throttled"; readonly isOver: boolean }
  | { readonly kind: "end"; readonly phase: string; readonly text?: string };
