import { signal } from "@preact/signals";

/** The window of the keys that is open: the search over pages, or the list of keys. */
export const overlay = signal<"find" | "keys" | undefined>(undefined);
