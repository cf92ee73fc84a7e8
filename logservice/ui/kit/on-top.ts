/** The element on top of the page, which alone can be used: the last window that is open, else the page. */
export function onTop(): HTMLElement {
  return [...document.querySelectorAll<HTMLElement>("dialog[open]")].at(-1) ?? document.body;
}
