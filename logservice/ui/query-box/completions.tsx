import { useEffect, useRef, useState } from "preact/hooks";
import type { CompletionItem } from "../../../grammar/query/index.ts";
import { eventCountText } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";

export interface CompletionsProps {
  readonly id: string;
  readonly items: readonly CompletionItem[];
  readonly chosen: number;
  /** In how many events a field is. */
  countOf(field: string): number | undefined;
  onTake(item: CompletionItem): void;
}

/** So many are drawn at first, more than are in sight: each key lists them anew, and has to be painted with the next frame. */
const FEW = 14;

/** The list of texts that may be written next. */
export function Completions({ id, items, chosen, countOf, onTake }: CompletionsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [scrolled, setScrolled] = useState({ items, most: FEW });
  const most = Math.max(scrolled.items === items ? scrolled.most : FEW, chosen + FEW);
  useEffect(() => {
    const item = list.current?.children[chosen];
    if (item === undefined) list.current?.scrollTo(0, 0);
    else item.scrollIntoView({ block: "nearest" });
  }, [chosen, items]);
  const about = items[chosen]?.documentation;
  return (
    <div class="completions">
      <ul
        id={id}
        role="listbox"
        aria-label="Suggestions"
        ref={list}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          if (most < items.length && scrollTop + 2 * clientHeight > scrollHeight)
            setScrolled({ items, most: most + FEW });
        }}
      >
        {items.slice(0, most).map((item, i) => (
          <li
            key={`${item.label}\n${item.kind}\n${item.span.start}`}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            aria-setsize={items.length}
            aria-posinset={i + 1}
            onMouseDown={(event) => {
              // The focus stays in the query.
              event.preventDefault();
              onTake(item);
            }}
          >
            <span class={`mark-${item.kind}`} aria-hidden="true" />
            <Text text={item.label} />
            <span class="detail">{detailOf(item, countOf)}</span>
          </li>
        ))}
      </ul>
      {about && <p>{about}</p>}
    </div>
  );
}

/** The type of a field and in how many events it is, or the detail that the language gives for the item. */
function detailOf(item: CompletionItem, countOf: CompletionsProps["countOf"]): string {
  const eventCount = item.kind === "field" ? countOf(item.label) : undefined;
  if (eventCount !== undefined) return `${item.detail}, ${eventCountText(eventCount)}`;
  return (item.detail ?? "").replace(/^(\d+) entr(?:y|ies)$/, (_, digits: string) => eventCountText(Number(digits)));
}
