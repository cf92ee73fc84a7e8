import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleQuery } from "../../../grammar/query/visible.ts";

/** The text of a query box and where it is drawn. */
export interface QueryText {
  /** The query that is in force, as the box shows it. */
  readonly query: string;
  /** The text that is drawn. */
  readonly text: string;
  /** The text that is in the box, also before it is drawn. */
  readonly latest: { current: string };
  /** Where the cursor is put once the text is drawn; undefined if it stays. */
  readonly cursor: { current: number | undefined };
  readonly area: { current: HTMLTextAreaElement | null };
  /** The same text in colours. */
  readonly mirror: { current: HTMLPreElement | null };
  draw(text: string): void;
}

export function useQueryText(source: string): QueryText {
  // Nothing that the box shows is hidden, wherever it comes from.
  const query = visibleQuery(source);
  const [text, draw] = useState(query);
  const latest = useRef(text);
  const cursor = useRef<number>(undefined);
  const area = useRef<HTMLTextAreaElement>(null);
  const mirror = useRef<HTMLPreElement>(null);
  const isDrawn = useRef(false);
  latest.current = text;
  useLayoutEffect(() => {
    // A text that is longer than the box is scrolled with it. To ask lays out the page, which the first painting does.
    if (isDrawn.current) mirror.current!.scrollTop = area.current!.scrollTop;
    isDrawn.current = true;
    if (cursor.current === undefined) return;
    area.current!.setSelectionRange(cursor.current, cursor.current);
    cursor.current = undefined;
  });
  return { query, text, latest, cursor, area, mirror, draw };
}
