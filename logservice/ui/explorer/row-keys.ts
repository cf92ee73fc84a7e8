/** Left and right go from button to button in a row that is one stop for Tab. */
export function moveInRow(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const row = event.currentTarget as HTMLElement;
  const buttons = [...row.querySelectorAll<HTMLElement>("button")];
  const to = buttons[buttons.indexOf(document.activeElement as HTMLElement) + step];
  if (to === undefined) return;
  event.preventDefault();
  to.focus();
}
