import { useEffect, useRef } from "preact/hooks";
import type { CompletionItem } from "../../../grammar/query/index.ts";
import { Text } from "../kit/text.tsx";

export interface CompletionsProps {
  readonly id: string;
  readonly items: readonly CompletionItem[];
  readonly chosen: number;
  onTake(item: CompletionItem): void;
}

/** What may be written next. */
export function Completions({ id, items, chosen, onTake }: CompletionsProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const item = list.current?.children[chosen];
    if (item === undefined) list.current?.scrollTo(0, 0);
    else item.scrollIntoView({ block: "nearest" });
  }, [chosen, items]);
  const about = items[chosen]?.documentation;
  return (
    <div class="completions">
      <ul id={id} role="listbox" aria-label="What may follow" ref={list}>
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
            <span class="detail">{item.detail}</span>
          </li>
        ))}
      </ul>
      {about && <p>{about}</p>}
    </div>
  );
}
