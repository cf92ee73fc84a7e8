import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** From so many on, a list is filtered by typing. */
const MANY = 6;

export interface FilteredListProps<T> {
  readonly all: readonly T[];
  /** The items of the list, in the plural: `projects`. */
  readonly what: string;
  /** Where it is looked for what is typed: `name or id`. */
  readonly where: string;
  /** The message if no item matches. */
  readonly nothing: string;
  matching(all: readonly T[], typed: string): readonly T[];
  children(matches: readonly T[]): ComponentChildren;
}

/** A list with a field over it that filters it, if it is long or was. */
export function FilteredList<T>({ all, what, where, nothing, matching, children }: FilteredListProps<T>) {
  const [typed, setTyped] = useState("");
  const matches = matching(all, typed);
  return (
    <>
      {(all.length >= MANY || typed !== "") && (
        <input
          class="filter"
          type="search"
          aria-label={`Filter the ${what}`}
          placeholder={`Filter by ${where}`}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <p class="spoken" role="status">
        {typed === "" ? "" : `${matches.length} found`}
      </p>
      {matches.length === 0 ? (
        <div class="empty card">
          <h2>{nothing}</h2>
          <button type="button" class="button" onClick={() => setTyped("")}>
            Show all {all.length}
          </button>
        </div>
      ) : (
        children(matches)
      )}
    </>
  );
}
