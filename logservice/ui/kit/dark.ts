import { signal } from "@preact/signals";

const query = matchMedia("(prefers-color-scheme: dark)");

/** Whether the system is dark: what the page is, unless the person prefers one of both. */
export const isSystemDark = signal(query.matches);

query.addEventListener("change", () => {
  isSystemDark.value = query.matches;
});
