// Where the key Tab leads to on a page, and what it leaves out.
import type { ChromiumPage } from "./chromium.ts";

export interface TabStops {
  /** The elements that were reached, in their order. */
  readonly stops: readonly string[];
  /** The elements that can be pressed or typed into, and were not reached. */
  readonly missing: readonly string[];
  /** The elements that were reached before those above them in the page. */
  readonly disordered: readonly string[];
  /** The elements that look the same with the focus and without. */
  readonly unseen: readonly string[];
  /** The elements that were outside of the window, or under something else, while they had the focus. */
  readonly hidden: readonly string[];
}

/** A page with more stops has a list that should be one stop. */
const MOST_STOPS = 400;

/** Presses Tab from the beginning of the page, or of the window that is open over it, until it has been everywhere. */
export async function stopsOfTab({ page }: ChromiumPage): Promise<TabStops> {
  const count = await page.evaluate<number>(PREPARE);
  const visited: { readonly at: number; readonly looks: string; readonly isHidden: boolean }[] = [];
  // A key, so that a focus that a script sets is drawn as that of a key.
  await page.keyboard.press("Shift");
  await page.evaluate("globalThis.tabStops[0]?.focus()");
  for (let i = 0; i < MOST_STOPS; i++) {
    if (i > 0) await page.keyboard.press("Tab");
    const stop = await page.evaluate<{ at: number; looks: string; isHidden: boolean; isOver: boolean }>(LOOK);
    if (stop.isOver) break;
    visited.push(stop);
  }
  // Nothing has the focus any more.
  const { names, plain } = await page.evaluate<{ names: string[]; plain: string[] }>(LEAVE);
  const nameOf = (at: number) => names[at] ?? "something else";
  const stops = visited.filter(({ at }) => at >= 0);
  return {
    stops: visited.map(({ at }) => nameOf(at)),
    missing: Array.from({ length: count }, (_, at) => at)
      .filter((at) => !stops.some((stop) => stop.at === at))
      .map(nameOf),
    disordered: stops.filter(({ at }, i) => i > 0 && at < stops[i - 1]!.at).map(({ at }) => nameOf(at)),
    unseen: stops.filter(({ at, looks }) => looks === plain[at]).map(({ at }) => nameOf(at)),
    hidden: stops.filter(({ isHidden }) => isHidden).map(({ at }) => nameOf(at)),
  };
}

/** Finds everything that Tab should reach, in the order of the page. */
const PREPARE = `(() => {
  const scope = document.querySelector("dialog[open]") ?? document;
  const selector = "a[href], button, input, select, textarea, summary, [tabindex]";
  globalThis.tabStops = [...scope.querySelectorAll(selector)].filter((element) =>
    element.tabIndex >= 0 && !element.matches(":disabled") && element.type !== "hidden" &&
    element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0);
  globalThis.tabLooks = (element) => {
    const looks = [];
    // The frame around a text may be that of its box.
    for (let at = element, i = 0; at && i < 3; at = at.parentElement, i++) {
      const style = getComputedStyle(at);
      looks.push(style.outlineStyle === "none" ? "" : style.outline, style.boxShadow, style.borderColor,
        style.backgroundColor, style.textDecorationLine);
    }
    return looks.join("|");
  };
  globalThis.tabBegun = false;
  return globalThis.tabStops.length;
})()`;

const LOOK = `(() => {
  const element = document.activeElement;
  const at = globalThis.tabStops.indexOf(element);
  const isNowhere = element === null || element === document.body || element === document.documentElement;
  const isOver = isNowhere || (at === 0 && globalThis.tabBegun);
  globalThis.tabBegun = true;
  if (isOver) return { at, looks: "", isHidden: false, isOver };
  const box = element.getBoundingClientRect();
  const points = [0.5, 0.1, 0.9].flatMap((x) => [0.5, 0.1, 0.9].map((y) =>
    document.elementFromPoint(box.left + box.width * x, box.top + box.height * y)));
  const isHidden = !points.some((seen) => seen !== null && (element.contains(seen) || seen.contains(element) && seen !== document.body && seen !== document.documentElement));
  return { at, looks: globalThis.tabLooks(element), isHidden, isOver };
})()`;

const LEAVE = `(() => {
  document.activeElement?.blur();
  const names = globalThis.tabStops.map((element) =>
    (element.tagName.toLowerCase() + " " + (element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent
      ?? element.textContent ?? "")).replace(/\\s+/g, " ").trim().slice(0, 60));
  return { names, plain: globalThis.tabStops.map((element) => globalThis.tabLooks(element)) };
})()`;
