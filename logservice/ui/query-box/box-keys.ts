import type { BoxParts, Typing } from "./use-typing.ts";

/** The keys of a query box. */
export function boxKeys({ box, suggestions, runs }: BoxParts, typing: Typing): (event: KeyboardEvent) => void {
  const { text, area } = box;
  const { items, chosen } = suggestions;
  return (event) => {
    // Keys that an input method takes are not ours.
    // Safari ends the composition first, and tells by the code alone that the key was a part of it.
    if (event.isComposing || event.keyCode === 229) return;
    const isOpen = items.length > 0;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      const item = items[chosen];
      if (isOpen && item !== undefined && !event.ctrlKey && !event.metaKey) typing.take(item);
      else runs.run(text);
    } else if (step !== undefined && (event.altKey || (step < 0 && text === "" && !isOpen))) {
      event.preventDefault();
      typing.recall(step < 0 ? 1 : -1);
    } else if (isOpen && step !== undefined) {
      event.preventDefault();
      suggestions.move(step);
    } else if (isOpen && event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      typing.take(items[Math.max(0, chosen)]!);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (isOpen) suggestions.hide();
      else area.current!.blur();
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void suggestions.suggest(true);
    } else if (["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"].includes(event.key)) suggestions.hide();
  };
}
