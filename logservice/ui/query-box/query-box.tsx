import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../../../grammar/problem.ts";
import type { CompletionItem } from "../../../grammar/query/index.ts";
import { askLanguage, prepareLanguage } from "../language/ask.ts";
import { kindOfQuery } from "../language/query.ts";
import { coloured } from "./coloured-text.tsx";
import { completed } from "./combobox.ts";
import { Completions } from "./completions.tsx";
import { ProblemLine } from "./problem-line.tsx";
import type { FieldValues } from "./values.ts";

export interface QueryBoxProps {
  /** The query that is in force. */
  readonly query: string;
  /** What is known of fields and their values. */
  readonly values: FieldValues | undefined;
  /** Runs another query. `isPause` if the person only stopped typing. */
  onRun(query: string, isPause: boolean): void;
  /** Told of every change that a person makes, also while the text is not valid. */
  onText?(text: string): void;
}

/** The types of Preact know a textarea as a textbox only; ARIA in HTML allows this. */
const COMBOBOX = { role: "combobox" } as object;
/** A pause of this length runs a query that is valid. */
const PAUSE_MS = 900;
/** What is wrong is said after this pause: before, the person is still typing it. */
const TELL_MS = 500;

/**
 * Where the query is typed: a textarea over the same text in colours, with completion as a combobox (WAI-ARIA's editable
 * combobox with a list), problems underlined, and fixes to press. Enter or Ctrl-Enter runs, Shift-Enter begins a line.
 */
export function QueryBox({ query, values, onRun, onText }: QueryBoxProps) {
  const [text, setText] = useState(query);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [isTold, setTold] = useState(false);
  const [items, setItems] = useState<readonly CompletionItem[]>([]);
  const [chosen, setChosen] = useState(-1);
  const area = useRef<HTMLTextAreaElement>(null);
  const cursor = useRef<number>(undefined);
  const latest = useRef(text);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  latest.current = text;
  const isOffering = useRef(false);
  isOffering.current = items.length > 0;

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
    if (cursor.current === undefined) return;
    area.current!.setSelectionRange(cursor.current, cursor.current);
    cursor.current = undefined;
  });

  const run = (what: string, isPause = false): void => {
    clearTimeout(pause.current);
    if (!isPause) setItems([]);
    setTold(true);
    if (kindOfQuery(what) === "wrong") return;
    void askLanguage({ kind: "problems", text: what }).then(
      (found) => (found.length === 0 ? onRun(what, isPause) : setProblems(found)),
      () => onRun(what, isPause),
    );
  };
  const change = (next: string): void => {
    setText(next);
    onText?.(next);
    clearTimeout(pause.current);
    pause.current = setTimeout(() => {
      // While something is offered, the person is in the middle of a word.
      if (latest.current !== query && !isOffering.current) run(latest.current, true);
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
      setItems(useful);
      setChosen(-1);
    } catch {
      setItems([]);
    }
  };
  const take = (item: CompletionItem): void => {
    const next = completed(text, item);
    cursor.current = next.cursor;
    change(next.text);
    setItems([]);
    area.current!.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isOpen = items.length > 0;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      const item = items[chosen];
      if (isOpen && item !== undefined && !event.ctrlKey && !event.metaKey) take(item);
      else run(text);
    } else if (isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setChosen(chosen < 0 && step < 0 ? items.length - 1 : (chosen + step + items.length) % items.length);
    } else if (isOpen && event.key === "Tab" && !event.shiftKey && chosen >= 0) {
      event.preventDefault();
      take(items[chosen]!);
    } else if (event.key === "Escape") {
      if (isOpen) setItems([]);
      else area.current!.blur();
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void suggest(true);
    }
  };
  const listId = `${id}-list`;
  return (
    <div class="query">
      <div class="query-box" data-wrong={problems.length > 0 && isTold ? "true" : undefined}>
        <pre class="query-mirror" aria-hidden="true">
          {coloured(text, isTold ? problems : [])}
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
          aria-invalid={problems.length > 0 && isTold}
          aria-describedby={problems.length > 0 && isTold ? `${id}-problem` : undefined}
          aria-keyshortcuts="/"
          placeholder='Every event. Try: error, "a text", status >= 500, | count by path'
          value={text}
          onFocus={prepareLanguage}
          onInput={(event) => {
            change(event.currentTarget.value);
            void suggest();
          }}
          onClick={() => setItems([])}
          onBlur={() => setItems([])}
          onKeyDown={onKeyDown}
        />
        {items.length > 0 && <Completions id={listId} items={items} chosen={chosen} onTake={take} />}
      </div>
      {isTold && problems.length > 0 && (
        <ProblemLine
          id={`${id}-problem`}
          problem={problems[0]!}
          onFix={(fixed) => {
            cursor.current = fixed.length;
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
