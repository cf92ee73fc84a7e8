import { Menu } from "../kit/menu.tsx";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";

export interface EventHeadProps {
  readonly columns: readonly string[];
  onColumns(columns: readonly string[]): void;
}

/** The names of the columns of the list. Each is a menu that moves or removes it. */
export function EventHead({ columns, onColumns }: EventHeadProps) {
  const moved = (at: number, by: number): readonly string[] => {
    const next = [...columns];
    const [name] = next.splice(at, 1);
    next.splice(at + by, 0, name!);
    return next;
  };
  return (
    <div class="event-names">
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
            { text: "Remove the column", onChoose: () => onColumns(columns.filter((one) => one !== name)) },
          ]}
        />
      ))}
      <span>message</span>
    </div>
  );
}
