import { useLayoutEffect, useRef } from "preact/hooks";
import { Menu } from "../kit/menu.tsx";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import type { ListControl } from "../rows/virtual-list.tsx";

export interface EventHeadProps {
  readonly columns: readonly string[];
  /** Moves the rows below. */
  readonly control: ListControl;
  onColumns(columns: readonly string[]): void;
}

/** The names of the columns of the list. Each is a menu that moves or removes it. */
export function EventHead({ columns, control, onColumns }: EventHeadProps) {
  const names = useRef<HTMLDivElement>(null);
  /** Where a column was removed, whose name had the focus. */
  const removedAt = useRef(-1);
  useLayoutEffect(() => {
    const buttons = names.current!.querySelectorAll<HTMLElement>("button.column-name");
    if (removedAt.current >= 0) buttons[Math.min(removedAt.current, buttons.length - 1)]?.focus();
    removedAt.current = -1;
    // A column that was moved may be out of view.
    if (names.current!.contains(document.activeElement)) control.showColumn?.(document.activeElement!);
  }, [columns.join("\n")]);
  const moved = (at: number, by: number): readonly string[] => {
    const next = [...columns];
    const [name] = next.splice(at, 1);
    next.splice(at + by, 0, name!);
    return next;
  };
  return (
    <div class="event-names" ref={names}>
      <span>time</span>
      <span>level</span>
      {columns.map((name, at) => (
        <Menu
          key={name}
          class="column-name"
          name={visibleText(`Column ${name}`)}
          label={
            <>
              <Text text={name} /> <span aria-hidden="true">▾</span>
            </>
          }
          entries={[
            ...(at > 0 ? [{ text: "Move to the left", onChoose: () => onColumns(moved(at, -1)) }] : []),
            ...(at < columns.length - 1
              ? [{ text: "Move to the right", onChoose: () => onColumns(moved(at, 1)) }]
              : []),
            {
              text: "Remove the column",
              onChoose: () => {
                removedAt.current = at;
                if (columns.length === 1) document.getElementById("events")?.focus();
                onColumns(columns.filter((one) => one !== name));
              },
            },
          ]}
        />
      ))}
      <span>message</span>
    </div>
  );
}
