import { effect, signal } from "@preact/signals";

/** The preferences of a person in this browser. They stay; nothing is lost if they cannot be kept. */
export const theme = kept<"auto" | "light" | "dark">("theme", "auto", ["auto", "light", "dark"]);
/** The zone of the times that are shown. */
export const zone = kept<"utc" | "local">("zone", "utc", ["utc", "local"]);
/** Whether long messages go on in further lines. */
export const wrap = kept<"one line" | "wrapped">("wrap", "one line", ["one line", "wrapped"]);
/** Whether the request and the response of one id are one row. */
export const requests = kept<"folded" | "apart">("requests", "folded", ["folded", "apart"]);
/** Whether the facets are shown, where there is room for both. */
export const facets = kept<"shown" | "hidden">("facets", "shown", ["shown", "hidden"]);
/** Whether single letters do something. Who dictates, or presses keys by accident, turns them off. */
export const letterKeys = kept<"on" | "off">("letter-keys", "on", ["on", "off"]);

/** Keeps the colours of the page what they are preferred to be. */
export function showTheme(): void {
  effect(() => {
    if (theme.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  });
}

/** A text of this browser under a name; undefined if there is none, or the browser keeps nothing. */
export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(`tool.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, text: string): void {
  try {
    localStorage.setItem(`tool.${name}`, text);
  } catch {
    // The browser keeps nothing for this page, or has no room.
  }
}

function kept<T extends string>(name: string, first: T, all: readonly T[]) {
  const text = readKept(name) as T | undefined;
  const one = signal<T>(text !== undefined && all.includes(text) ? text : first);
  effect(() => keep(name, one.value));
  return one;
}
