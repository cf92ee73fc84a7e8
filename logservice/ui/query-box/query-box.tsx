import { useEffect, useId } from "preact/hooks";
import { prepareLanguage } from "../language/ask.ts";
import { boxKeys } from "./box-keys.ts";
import { mirrored } from "./coloured-text.tsx";
import { Completions } from "./completions.tsx";
import { ProblemLines } from "./problem-line.tsx";
import { useDoubts } from "./use-doubts.ts";
import { useMistakes } from "./use-mistakes.ts";
import { useQueryText } from "./use-query-text.ts";
import { useRuns } from "./use-runs.ts";
import { useSuggestions } from "./use-suggestions.ts";
import { useTyping } from "./use-typing.ts";
import type { FieldValues } from "./values.ts";

export interface QueryBoxProps {
  /** The query that is in force. */
  readonly query: string;
  /** The known fields and their values. */
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
/**
 * Where the query is typed: a textarea over the same text in colours, with completion as a combobox (WAI-ARIA's editable
 * combobox with a list), problems underlined, and fixes to press. Enter or Ctrl-Enter runs, and so does a pause; Shift-Enter
 * begins a line; Alt with the arrows goes through the queries of before.
 */
export function QueryBox({ query: source, values, past, isRefused = false, onRun, onWrong, onText }: QueryBoxProps) {
  const box = useQueryText(source);
  const { query, text, area, mirror } = box;
  const suggestions = useSuggestions(box, values);
  const { items, chosen, hide } = suggestions;
  const mistakes = useMistakes(box);
  const { problems } = mistakes;
  const runs = useRuns(box, suggestions, mistakes, onRun);
  const parts = { box, suggestions, runs };
  const typing = useTyping(parts, { past, onText });
  const id = useId();
  // A filter, the button back or a link has changed the query.
  useEffect(() => {
    if (query === box.latest.current) return;
    runs.stop();
    box.draw(query);
    hide();
  }, [query]);
  const listId = `${id}-list`;
  const [problem] = problems;
  // A text whose end is still open is not wrong while its suggestions are shown.
  const isUnfinished = items.length > 0 && problem !== undefined && problem.span.end >= text.trimEnd().length;
  const isWrong = problem !== undefined && mistakes.isTold && !isUnfinished;
  useEffect(() => onWrong?.(isWrong), [isWrong]);
  const doubts = useDoubts(text, values, mistakes.isTold && problem === undefined);
  const said = isWrong ? problems : doubts;
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
          aria-describedby={said.length > 0 ? `${id}-problem` : undefined}
          aria-keyshortcuts="/"
          placeholder='Every event. Try: error, "*a text*", status >= 500, | count by path'
          value={text}
          onFocus={prepareLanguage}
          onInput={(event) => {
            const { value } = event.currentTarget;
            // A text that an input method is still composing is shown, and nothing else happens.
            if (event.isComposing) return box.draw(value);
            typing.typed(value);
          }}
          onCompositionEnd={(event) => {
            typing.typed(event.currentTarget.value);
          }}
          onScroll={(event) => {
            mirror.current!.scrollTop = event.currentTarget.scrollTop;
          }}
          onClick={hide}
          onBlur={hide}
          onKeyDown={boxKeys(parts, typing)}
        />
        {items.length > 0 && (
          <Completions
            id={listId}
            items={items}
            chosen={chosen}
            countOf={(field) => values?.countOf(field)}
            onTake={typing.take}
          />
        )}
      </div>
      {said.length > 0 && <ProblemLines id={`${id}-problem`} problems={said} onFix={typing.fix} text={text} />}
    </div>
  );
}
