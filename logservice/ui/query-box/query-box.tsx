import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../../../grammar/problem.ts";
import type { CompletionItem } from "../../../grammar/query/index.ts";
import { visibleQuery } from "../../../grammar/query/visible.ts";
import { askLanguage, prepareLanguage } from "../language/ask.ts";
import { kindOfQuery } from "../language/query.ts";
import { mirrored } from "./coloured-text.tsx";
import { completed } from "./combobox.ts";
import { Completions } from "./completions.tsx";
import { ProblemLine } from "./problem-line.tsx";
import type { FieldValues } from "./values.ts";

export interface QueryBoxProps {
  /** The query that is in force. */
  readonly query: string;
  /** What is known of fields and their values. */
  readonly values: FieldValues | undefined;
  /** The queries of before, the latest first. */
  past?(): readonly string[];
  /** Runs another query. `isPause` if the person only stopped typing. */
  onRun(query: string, isPause: boolean): void;
  /** Whether the service, or the form that the box is part of, does not take the query. */
  readonly isRefused?: boolean;
  /** Told whether the box says that its text is wrong. */
  onWrong?(isWrong: boolean): void;
  /** Told of every change that a person makes, also while the text is not valid. */
  onText?(text: string): void;
}

/** The types of Preact know a textarea as a textbox only; ARIA in HTML allows this. */
const COMBOBOX = { role: "combobox" } as object;
/** A pause of this length runs a query that is valid. */
const PAUSE_MS = 900;
/** More are found by typing. */
const MOST_ITEMS = 60;
/** How long a query waits to be checked before it is run unchecked. */
const PATIENCE_MS = 1_500;
/** What is wrong is said after this pause: before, the person is still typing it. */
const TELL_MS = 500;

/**
 * Where the query is typed: a textarea over the same text in colours, with completion as a combobox (WAI-ARIA's editable
 * combobox with a list), problems underlined, and fixes to press. Enter or Ctrl-Enter runs, and so does a pause; Shift-Enter
 * begins a line; Alt with the arrows goes through the queries of before.
 */
export function QueryBox({ query: given, values, past, isRefused = false, onRun, onWrong, onText }: QueryBoxProps) {
  // Nothing that the box shows is hidden, wherever it comes from.
  const query = visibleQuery(given);
  const [text, setText] = useState(query);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [isTold, setTold] = useState(false);
  const [items, setItems] = useState<readonly CompletionItem[]>([]);
  const [chosen, setChosen] = useState(-1);
  /** What the keys have chosen last, and the text that it was offered for. */
  const choice = useRef<{ readonly item: CompletionItem | undefined; readonly text: string }>({
    item: undefined,
    text: "",
  });
  const area = useRef<HTMLTextAreaElement>(null);
  const mirror = useRef<HTMLPreElement>(null);
  /** Which of the queries of before is in the box; -1 is what was being typed, which is kept in `draft`. */
  const recalled = useRef({ at: -1, draft: "" });
  const cursor = useRef<number>(undefined);
  const isDrawn = useRef(false);
  const latest = useRef(text);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  latest.current = text;
  const isChoosing = useRef(false);
  isChoosing.current = items.length > 0 && chosen >= 0;

  // A filter, the button back or a link has changed the query.
  useEffect(() => {
    if (query === latest.current) return;
    clearTimeout(pause.current);
    setText(query);
    setItems([]);
  }, [query]);
  useEffect(() => () => clearTimeout(pause.current), []);
  useEffect(() => {
    setTold(false);
    const isRight = kindOfQuery(text) !== "wrong";
    if (isRight) setProblems([]);
    // The grammar takes texts that mean nothing; a text that was not typed here is taken as it is.
    if (isRight && document.activeElement !== area.current) return;
    let isOver = false;
    void askLanguage({ kind: "problems", text }).then(
      (found) => isOver || setProblems(found),
      () => {},
    );
    const timer = setTimeout(() => setTold(true), TELL_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  useLayoutEffect(() => {
    // A text that is longer than the box is scrolled with it. To ask lays out the page, which the first painting does.
    if (isDrawn.current) mirror.current!.scrollTop = area.current!.scrollTop;
    isDrawn.current = true;
    if (cursor.current === undefined) return;
    area.current!.setSelectionRange(cursor.current, cursor.current);
    cursor.current = undefined;
  });

  const run = (what: string, isPause = false): void => {
    clearTimeout(pause.current);
    if (!isPause) setItems([]);
    setTold(true);
    if (kindOfQuery(what) === "wrong") return;
    const unlessTyped = (act: () => void): void => {
      // What was typed meanwhile is run by its own pause.
      if (latest.current === what) act();
    };
    const checked = askLanguage({ kind: "problems", text: what });
    // The service refuses what is wrong, too: a language that is still on its way is not waited for.
    const late = new Promise<never>((_, reject) => setTimeout(reject, PATIENCE_MS));
    void Promise.race([checked, late]).then(
      (found) => unlessTyped(() => (found.length === 0 ? onRun(what, isPause) : setProblems(found))),
      () => unlessTyped(() => onRun(what, isPause)),
    );
  };
  const change = (given: string): void => {
    const next = visibleQuery(given);
    if (next !== given && cursor.current !== undefined)
      cursor.current = visibleQuery(given.slice(0, cursor.current)).length;
    latest.current = next;
    setText(next);
    recalled.current.at = -1;
    onText?.(next);
    clearTimeout(pause.current);
    pause.current = setTimeout(() => {
      // Who goes through the list is about to take something of it.
      if (!isChoosing.current) run(latest.current, true);
    }, PAUSE_MS);
  };
  const suggest = async (isAsked = false): Promise<void> => {
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
    const isStill = () => area.current?.value === value && area.current.selectionStart === offset;
    try {
      await values?.known();
      let answer = await ask();
      if (answer.wanted.length > 0 && values !== undefined) {
        await Promise.all(answer.wanted.map((field) => values.read(field)));
        answer = await ask();
      }
      if (!isStill()) return;
      // What is typed in full is no suggestion.
      const useful = answer.items.filter(
        ({ insertText, span }) => value.slice(span.start, span.end) !== insertText.trim(),
      );
      const offered = useful.slice(0, MOST_ITEMS);
      // What was chosen of an earlier list for the same text stays chosen.
      const { item, text } = choice.current;
      setItems(offered);
      setChosen(text === value && item ? offered.findIndex(({ insertText }) => insertText === item.insertText) : -1);
    } catch {
      setItems([]);
    }
  };
  const typed = (value: string): void => {
    const next = visibleQuery(value);
    change(next);
    if (next === value) return void suggest();
    const { selectionStart } = area.current!;
    // The text may be the one that is drawn already.
    area.current!.value = next;
    cursor.current = visibleQuery(value.slice(0, selectionStart)).length;
    area.current!.setSelectionRange(cursor.current, cursor.current);
  };
  const take = (item: CompletionItem): void => {
    const next = completed(text, item);
    cursor.current = next.cursor;
    change(next.text);
    setItems([]);
    area.current!.focus();
  };
  /** Puts a query of before into the box, or what was being typed. */
  const recall = (by: 1 | -1): void => {
    // The latest one that was run is usually what is in the box.
    const queries = (past?.() ?? []).filter((one) => one !== query.trim());
    const at = Math.max(-1, Math.min(queries.length - 1, recalled.current.at + by));
    if (at === recalled.current.at) return;
    const draft = recalled.current.at < 0 ? text : recalled.current.draft;
    const next = at < 0 ? draft : queries[at]!;
    cursor.current = next.length;
    setItems([]);
    change(next);
    recalled.current = { at, draft };
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Keys that an input method takes are not ours.
    // Safari ends the composition first, and tells by the code alone that the key was a part of it.
    if (event.isComposing || event.keyCode === 229) return;
    const isOpen = items.length > 0;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      const item = items[chosen];
      if (isOpen && item !== undefined && !event.ctrlKey && !event.metaKey) take(item);
      else run(text);
    } else if (step !== undefined && (event.altKey || (step < 0 && text === "" && !isOpen))) {
      event.preventDefault();
      recall(step < 0 ? 1 : -1);
    } else if (isOpen && step !== undefined) {
      event.preventDefault();
      // Between the last and the first, what was typed.
      const next = chosen + step < -1 ? items.length - 1 : chosen + step >= items.length ? -1 : chosen + step;
      choice.current = { item: items[next], text };
      setChosen(next);
    } else if (isOpen && event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      take(items[Math.max(0, chosen)]!);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (isOpen) setItems([]);
      else area.current!.blur();
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void suggest(true);
    } else if (["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"].includes(event.key)) setItems([]);
  };
  const listId = `${id}-list`;
  const [problem] = problems;
  // A text whose end is still open is not wrong while its suggestions are shown.
  const isUnfinished = items.length > 0 && problem !== undefined && problem.span.end >= text.trimEnd().length;
  const isWrong = problem !== undefined && isTold && !isUnfinished;
  useEffect(() => onWrong?.(isWrong), [isWrong]);
  return (
    <div class="query">
      <div class="query-box" data-wrong={isWrong ? "true" : undefined}>
        <pre class="query-mirror" aria-hidden="true" ref={mirror}>
          {mirrored(text, isWrong ? problems : [])}
          {"\n"}
        </pre>
        <textarea
          ref={area}
          class="query-text"
          rows={1}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          {...COMBOBOX}
          aria-label="Query"
          aria-autocomplete="list"
          aria-expanded={items.length > 0}
          aria-controls={listId}
          aria-activedescendant={chosen >= 0 && items.length > 0 ? `${listId}-${chosen}` : undefined}
          aria-invalid={isWrong || isRefused}
          aria-describedby={isWrong ? `${id}-problem` : undefined}
          aria-keyshortcuts="/"
          placeholder='Every event. Try: error, "a text", status >= 500, | count by path'
          value={text}
          onFocus={prepareLanguage}
          onInput={(event) => {
            const { value } = event.currentTarget;
            // What an input method is still composing is shown, and nothing else.
            if (event.isComposing) return setText(value);
            typed(value);
          }}
          onCompositionEnd={(event) => {
            typed(event.currentTarget.value);
          }}
          onScroll={(event) => {
            mirror.current!.scrollTop = event.currentTarget.scrollTop;
          }}
          onClick={() => setItems([])}
          onBlur={() => setItems([])}
          onKeyDown={onKeyDown}
        />
        {items.length > 0 && (
          <Completions
            id={listId}
            items={items}
            chosen={chosen}
            countOf={(field) => values?.countOf(field)}
            onTake={take}
          />
        )}
      </div>
      {isWrong && (
        <ProblemLine
          id={`${id}-problem`}
          problem={problem}
          onFix={(fixed) => {
            cursor.current = fixed.length;
            latest.current = fixed;
            setText(fixed);
            onText?.(fixed);
            run(fixed);
            area.current!.focus();
          }}
          text={text}
        />
      )}
    </div>
  );
}
