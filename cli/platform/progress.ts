export interface Watched {
  readonly signal: AbortSignal;
  readonly report: (event: ProgressEvent) => void;
}

/** For people, while calls that were throttled wait. */
export const THROTTLED = "throttled: the cloud asks to slow down, waiting to call again";

/** What is under way. A phase begins, may say more, and ends; the next one begins after that. */
export type ProgressEvent =
  | { readonly kind: "begin"; readonly phase: string }
  /** Something to wait for, or to know. A detail is of use to who watches, and to who wants to know it all. */
  | { readonly kind: "note"; readonly phase: string; readonly text: string; readonly isDetail?: boolean }
  /** The cloud refuses calls because there are too many, and is asked again; then, that it goes on. */
  | { readonly kind: "throttled"; readonly isOver: boolean }
  | { readonly kind: "end"; readonly phase: string; readonly text?: string };
