/** Moves the focus to the heading of the page, if it is there: whoever does not see the page hears what it is. */
export function focusHeading(within: ParentNode): boolean {
  const heading = within.querySelector<HTMLElement>("h1");
  if (heading === null) return false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  return true;
}
