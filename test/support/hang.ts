/**
 * How long a driver of a browser waits by itself before what it waits for counts as never coming, in milliseconds. Their own
 * bounds of 30 s are those of an idle machine. As with `until`, it is there only to end a test that hangs.
 */
export const HANG_MS = 300_000;
