import { useRef, useState } from "preact/hooks";
import type { CompletionItem } from "../../../grammar/query/index.ts";
import { askLanguage } from "../language/ask.ts";
import type { QueryText } from "./use-query-text.ts";
import type { FieldValues } from "./values.ts";

/** More are found by typing. */
const MOST_ITEMS = 60;

/** The list of what may be written next. */
export interface Suggestions {
  readonly items: readonly CompletionItem[];
  /** The item that is chosen; -1 is what was typed. */
  readonly chosen: number;
  /** Whether an item is chosen now. */
  readonly isChoosing: { current: boolean };
  /** Lists what may be written at the cursor. `isAsked` if the person asked for it. */
  suggest(isAsked?: boolean): Promise<void>;
  move(step: 1 | -1): void;
  hide(): void;
}

export function useSuggestions({ text, area }: QueryText, values: FieldValues | undefined): Suggestions {
  const [items, setItems] = useState<readonly CompletionItem[]>([]);
  const [chosen, setChosen] = useState(-1);
  /** The item that the keys have chosen last, and the text that it was offered for. */
  const choice = useRef<{ readonly item: CompletionItem | undefined; readonly text: string }>({
    item: undefined,
    text: "",
  });
  const isChoosing = useRef(false);
  /** Counts what was asked for and what was hidden: an answer to an earlier question opens no list. */
  const turn = useRef(0);
  isChoosing.current = items.length > 0 && chosen >= 0;
  return {
    ...{ items, chosen, isChoosing },
    async suggest(isAsked = false) {
      const own = ++turn.current;
      const { value, selectionStart: offset, selectionEnd } = area.current!;
      if (offset !== selectionEnd) return setItems([]);
      // An empty box offers everything only if it is asked.
      if (!isAsked && (value.trim() === "" || (/\s$/.test(value.slice(0, offset)) === false && offset === 0)))
        return setItems([]);
      const ask = () =>
        askLanguage({
          kind: "complete",
          text: value,
          offset,
          fields: values?.fields ?? [],
          values: values?.values ?? {},
        });
      const isStill = () =>
        own === turn.current && area.current?.value === value && area.current.selectionStart === offset;
      try {
        await values?.loadFields();
        let answer = await ask();
        if (answer.wanted.length > 0 && values !== undefined) {
          await Promise.all(answer.wanted.map((field) => values.read(field)));
          answer = await ask();
        }
        if (!isStill()) return;
        // A word that is typed in full is no suggestion.
        const useful = answer.items.filter(
          ({ insertText, span }) => value.slice(span.start, span.end) !== insertText.trim(),
        );
        const offered = useful.slice(0, MOST_ITEMS);
        // The item that was chosen of an earlier list for the same text stays chosen.
        const { item, text } = choice.current;
        setItems(offered);
        setChosen(text === value && item ? offered.findIndex(({ insertText }) => insertText === item.insertText) : -1);
      } catch {
        if (isStill()) setItems([]);
      }
    },
    move(step) {
      // Between the last and the first, what was typed.
      const next = chosen + step < -1 ? items.length - 1 : chosen + step >= items.length ? -1 : chosen + step;
      choice.current = { item: items[next], text };
      setChosen(next);
    },
    hide() {
      turn.current += 1;
      setItems([]);
    },
  };
}
