import { useEffect, useRef } from "preact/hooks";
import type { CompletionItem } from "../../../grammar/query/index.ts";
import { count } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";

export interface CompletionsProps {
  readonly id: string;
  readonly items: readonly CompletionItem[];
  readonly chosen: number;
  /** In how many events a field is. */
  countOf(field: string): number | undefined;
  onTake(item: CompletionItem): void;
}

/** What may be written next. */
export function Completions({ id, items, chosen, countOf, onTake }: CompletionsProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const item = list.current?.children[chosen];
    if (item === undefined) list.current?.scrollTo(0, 0);
    else item.scrollIntoView({ block: "nearest" });
  }, [chosen, items]);
  const about = items[chosen]?.documentation;
  return (
    <div class="completions">
      <ul id={id} role="listbox" aria-label="Suggestions" ref={list}>
        {items.map((item, i) => (
          <li
            key={`${item.label}\n${item.kind}\n${item.span.start}`}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
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

/** What a field is and in how many events, or what the language says of the item. */
function detailOf(item: CompletionItem, countOf: CompletionsProps["countOf"]): string {
  const found = item.kind === "field" ? countOf(item.label) : undefined;
  if (found !== undefined) return `${item.detail}, ${count(found)} ${found === 1 ? "event" : "events"}`;
  return (item.detail ?? "").replace(/^(\d+) entries$/, (_, digits: string) => `${count(Number(digits))} events`);
}
