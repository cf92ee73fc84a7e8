import type { Problem } from "../../../grammar/problem.ts";
import { visibleQuery } from "../../../grammar/query/visible.ts";
import { askLanguage } from "./ask.ts";

/** Texts that were checked, the latest last; as the query box shows them. */
const checked = new Map<string, readonly Problem[]>();
const MOST_CHECKED = 100;
/** How long a query waits to be checked before it is run unchecked: the service refuses it if it is wrong. */
const PATIENCE_MS = 1_500;

/** Remembers the problems of a query, such as those that came with the page. */
export function noteProblems(query: string, problems: readonly Problem[]): void {
  const text = visibleQuery(query);
  checked.delete(text);
  checked.set(text, problems);
  for (const oldest of checked.keys()) {
    if (checked.size <= MOST_CHECKED) return;
    checked.delete(oldest);
  }
}

/** The problems of a query; undefined if it was not checked yet. */
export function notedProblems(query: string): readonly Problem[] | undefined {
  const text = visibleQuery(query);
  return text.trim() === "" ? [] : checked.get(text);
}

/** The problems of a query, from the worker unless they are remembered. Fails if the worker cannot be loaded. */
export async function problemsOf(query: string): Promise<readonly Problem[]> {
  const noted = notedProblems(query);
  if (noted !== undefined) return noted;
  const problems = await askLanguage({ kind: "problems", text: visibleQuery(query) });
  noteProblems(query, problems);
  return problems;
}

/** The same for a query that is about to run: none if the worker is late or cannot be loaded. */
export function problemsBeforeRun(query: string): Promise<readonly Problem[]> {
  return new Promise((resolve) => {
    const unchecked = (): void => {
      clearTimeout(timer);
      resolve([]);
    };
    const timer = setTimeout(() => {
      // It is not waited for a second time.
      noteProblems(query, []);
      unchecked();
    }, PATIENCE_MS);
    problemsOf(query).then((problems) => {
      clearTimeout(timer);
      resolve(problems);
    }, unchecked);
  });
}
