import { signal } from "@preact/signals";

/** As in the styles: what is beside each other on a wide screen is below each other. */
const query = matchMedia("(max-width: 820px)");

/** Whether the window has the width of a phone. */
export const isNarrow = signal(query.matches);

query.addEventListener("change", () => {
  isNarrow.value = query.matches;
});
