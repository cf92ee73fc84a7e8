import {
  countBy,
  fieldExists,
  filterBetween,
  filterIn,
  filterOut,
  levelFrom,
  type Scalar,
  withoutPipes,
} from "../../../grammar/query/edit.ts";
import type { ViewRange } from "../../address/view.ts";
import { say } from "../kit/toasts.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import type { ValueActions } from "./value-actions.ts";

export interface ExplorerActions extends ValueActions {
  /** Only events whose number is within bounds. */
  within(field: string, bounds: { readonly min?: number; readonly max?: number }): void;
  /** Only warnings, or only errors and what is worse. */
  severity(level: "warning" | "error"): void;
  /** The events of one group of a result: the values of the fields that it is grouped by. */
  eventsOf(group: readonly (readonly [field: string, value: unknown])[]): void;
  /** Shows another range of time, which does not go on. */
  zoom(range: ViewRange): void;
}

/** The edits of an explorer's query and view that buttons beside values and drawings make. */
export function actionsOn(state: ExplorerState): ExplorerActions {
  const apply = (edit: (query: string) => string | undefined): void => {
    const before = state.view.peek();
    const query = edit(before.query);
    if (query === undefined) {
      say("The query is not valid: fix it first");
      return;
    }
    if (query === before.query) return;
    state.change({ query });
    say("Query changed", () => state.change({ query: before.query }));
  };
  return {
    filterIn: (field, value) => apply((query) => filterIn(query, field, scalar(value))),
    alone: (field, value) => apply(() => filterIn("", field, scalar(value))),
    filterOut: (field, value) => apply((query) => filterOut(query, field, scalar(value))),
    exists: (field) => apply((query) => fieldExists(query, field)),
    groupBy: (field) => apply((query) => countBy(query, field)),
    within: (field, bounds) => apply((query) => filterBetween(query, field, bounds)),
    severity: (level) =>
      apply((query) => (level === "error" ? levelFrom(query, level) : filterIn(query, "level", level))),
    eventsOf: (group) =>
      apply((query) =>
        group.reduce<string | undefined>((edited, [field, value]) => {
          if (edited === undefined) return undefined;
          return value === null ? without(edited, field) : filterIn(edited, field, scalar(value));
        }, withoutPipes(query) ?? query),
      ),
    zoom: (range) => state.change({ range, isLive: false, event: "" }),
    toggleColumn(field) {
      const { columns } = state.view.peek();
      state.change({
        columns: columns.includes(field) ? columns.filter((name) => name !== field) : [...columns, field],
      });
    },
  };
}

/** A value as a query can compare it: lists and objects are compared by no query, so they are their text. */
const scalar = (value: unknown): Scalar =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : (value as Scalar);

/** Only events that do not have the field, or have nothing in it: the group without a value. */
function without(query: string, field: string): string {
  const nothing = `(not exists ${field} or ${field} = null)`;
  return query.trim() === "" ? nothing : `(${query}) and ${nothing}`;
}
