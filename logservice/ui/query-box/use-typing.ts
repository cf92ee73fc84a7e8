import { useRef } from "preact/hooks";
import type { CompletionItem } from "../../../grammar/query/index.ts";
import { visibleQuery } from "../../../grammar/query/visible.ts";
import { completed } from "./combobox.ts";
import type { QueryText } from "./use-query-text.ts";
import type { QueryRuns } from "./use-runs.ts";
import type { Suggestions } from "./use-suggestions.ts";

/** The parts of a query box that a change of its text goes through. */
export interface BoxParts {
  readonly box: QueryText;
  readonly suggestions: Suggestions;
  readonly runs: QueryRuns;
}

export interface TypingOptions {
  /** The queries of before, the latest first. */
  readonly past: (() => readonly string[]) | undefined;
  /** Told of every change that a person makes. */
  readonly onText: ((text: string) => void) | undefined;
}

/** The ways in which a person changes the text. */
export interface Typing {
  /** The area has another text. */
  typed(value: string): void;
  /** Puts a suggestion in. */
  take(item: CompletionItem): void;
  /** Puts a query of before into the box, or what was being typed. */
  recall(by: 1 | -1): void;
  /** Puts a text without the mistake in, and runs it. */
  fix(fixed: string): void;
}

export function useTyping({ box, suggestions, runs }: BoxParts, { past, onText }: TypingOptions): Typing {
  const { query, text, latest, cursor, area } = box;
  /** Which of the queries of before is in the box; -1 is what was being typed, which is kept in `draft`. */
  const recalled = useRef({ at: -1, draft: "" });
  const change = (value: string): void => {
    const next = visibleQuery(value);
    if (next !== value && cursor.current !== undefined)
      cursor.current = visibleQuery(value.slice(0, cursor.current)).length;
    latest.current = next;
    box.draw(next);
    recalled.current.at = -1;
    onText?.(next);
    runs.runAfterPause();
  };
  return {
    typed(value) {
      const next = visibleQuery(value);
      change(next);
      if (next === value) return void suggestions.suggest();
      const { selectionStart } = area.current!;
      // The text may be the one that is drawn already.
      area.current!.value = next;
      cursor.current = visibleQuery(value.slice(0, selectionStart)).length;
      area.current!.setSelectionRange(cursor.current, cursor.current);
    },
    take(item) {
      const next = completed(text, item);
      cursor.current = next.cursor;
      change(next.text);
      suggestions.hide();
      area.current!.focus();
    },
    recall(by) {
      // The latest one that was run is usually what is in the box.
      const queries = (past?.() ?? []).filter((one) => one !== query.trim());
      const at = Math.max(-1, Math.min(queries.length - 1, recalled.current.at + by));
      if (at === recalled.current.at) return;
      const draft = recalled.current.at < 0 ? text : recalled.current.draft;
      const next = at < 0 ? draft : queries[at]!;
      cursor.current = next.length;
      suggestions.hide();
      change(next);
      recalled.current = { at, draft };
    },
    fix(fixed) {
      cursor.current = fixed.length;
      latest.current = fixed;
      box.draw(fixed);
      onText?.(fixed);
      runs.run(fixed);
      area.current!.focus();
    },
  };
}
