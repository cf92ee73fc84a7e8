import type { ComponentChildren } from "preact";

export interface TableProps {
  /** Names of the columns; those of numbers begin with `#`. */
  readonly columns: readonly string[];
  /** Whether a last column has buttons. */
  readonly hasActions?: boolean;
  /** The element that names the table, or its name. */
  readonly labelledBy?: string;
  readonly label?: string;
  /** How its rows are shown where there is no room for columns, and what else styles know it by. */
  readonly class?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A list of things with their columns; on a telephone each row is a card. */
export function Table({ columns, hasActions = false, labelledBy, label, children, ...props }: TableProps) {
  return (
    <div class="table-wrap">
      <table class={`list ${props.class ?? "stacks"}`} aria-labelledby={labelledBy} aria-label={label}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th scope="col" key={name} class={name.startsWith("#") ? "number" : undefined}>
                {name.replace(/^#/, "")}
              </th>
            ))}
            {hasActions && (
              <th scope="col">
                <span class="spoken">What to do</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
