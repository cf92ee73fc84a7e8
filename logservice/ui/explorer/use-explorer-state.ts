import { useEffect, useMemo, useRef } from "preact/hooks";
import { keep } from "../data/preferences.ts";
import { teamId } from "../data/session.ts";
import { rememberQuery } from "../query-box/history.ts";
import { type ExplorerState, explorerState } from "./explorer-state.ts";

/** The state of a project's explorer, which runs the query of the address whenever that or the range changes. */
export function useExplorerState(projectId: string): ExplorerState {
  // It runs before the first painting, which has what came with the page.
  const state = useMemo(() => {
    const made = explorerState(projectId);
    made.run();
    return made;
  }, [projectId]);
  const run = useRef<ExplorerState>(undefined);
  const view = state.view.value;
  useEffect(() => {
    keep("last", `${teamId.value}\n${projectId}`);
    return () => state.close();
  }, [state]);
  useEffect(() => {
    if (run.current === state) state.run();
    run.current = state;
  }, [state, view.query, JSON.stringify(view.range)]);
  return state;
}

/** Runs a query that was typed, and remembers the queries that were run on purpose. `isPause` if the typing paused. */
export function useTypedQuery(state: ExplorerState): (query: string, isPause: boolean) => void {
  const { projectId } = state;
  const view = state.view.value;
  /** A query that was run by a pause may be half typed: it is remembered once it is run again. */
  const halfTyped = useRef<string>(undefined);
  useEffect(() => {
    if (view.query !== halfTyped.current) rememberQuery(projectId, view.query);
  }, [projectId, view.query]);
  return (query, isPause) => {
    // A pause that changed nothing has nothing to run.
    if (isPause && query === view.query) return;
    // A query that was run on purpose, or came from elsewhere, stays a step for the button back.
    const replaces = isPause && halfTyped.current === view.query;
    halfTyped.current = isPause ? query : undefined;
    if (!isPause) rememberQuery(projectId, query);
    state.change({ query, event: "" }, { replaces });
  };
}
