import type { SavedQuery } from "./saved-queries.ts";

/** The part of a completion item that a box of one line needs. */
export interface Suggestion {
  readonly label: string;
  readonly detail?: string;
  readonly textEdit?: TextEdit;
}

interface TextEdit {
  readonly range: { readonly start: { readonly character: number }; readonly end: { readonly character: number } };
  readonly newText: string;
}

/** The part of a diagnostic that the box needs. The message says what is wrong and, on the next line, what to do. */
export interface QueryDiagnostic {
  readonly message: string;
  readonly data?: { readonly fix?: { readonly title: string; readonly edits: readonly TextEdit[] } };
}

export interface QueryProblem {
  readonly message: string;
  readonly remedy: string | undefined;
  /** The query without this problem, if the remedy is certain. */
  readonly fixed: string | undefined;
}

/** A query with a suggestion in place, and a blank where more may follow: the next word can be typed at once. */
export function applySuggestion(query: string, { label, textEdit }: Suggestion): string {
  const { range, newText } = textEdit ?? {
    range: { start: { character: query.length }, end: { character: query.length } },
    newText: label,
  };
  const before = query.slice(0, range.start.character);
  const after = query.slice(range.end.character);
  const text = before + newText;
  return after === "" && !/[\s("/.[]$/.test(text) ? `${text} ` : text + after;
}

/** The first problem of a query; `saved` are the names that it may begin with, unless there may be more. */
export function queryProblem(
  query: string,
  diagnostics: readonly QueryDiagnostic[],
  saved: readonly SavedQuery[],
  hasMore = false,
): QueryProblem | undefined {
  const problem = hasMore ? undefined : unknownSaved(query, saved);
  if (problem !== undefined) return problem;
  const first = diagnostics[0];
  if (first === undefined) return undefined;
  const [message = "", ...rest] = first.message.split("\n");
  const edits = first.data?.fix?.edits;
  return { message, remedy: rest.join(" ") || undefined, fixed: edits === undefined ? undefined : apply(query, edits) };
}

/** The saved queries whose name begins with the `@word` that the text ends with, such as `@sl`. */
export function savedSuggestions(query: string, saved: readonly SavedQuery[]): Suggestion[] {
  const match = /(?:^|\s)@(\S*)$/.exec(query);
  // They are allowed only at the start of a query.
  if (match === null || !/^(?:\s*@\S+)*\s*@\S*$/.test(query)) return [];
  const typed = match[1]!;
  const start = { character: query.length - typed.length - 1 };
  return saved
    .filter(({ name }) => name.startsWith(typed))
    .map(({ name, query: meaning }) => ({
      label: `@${name}`,
      detail: meaning,
      textEdit: { range: { start, end: { character: query.length } }, newText: `@${name}` },
    }));
}

function unknownSaved(query: string, saved: readonly SavedQuery[]): QueryProblem | undefined {
  let rest = query;
  for (let match = SAVED.exec(rest); match !== null; match = SAVED.exec(rest)) {
    const name = match[1]!;
    if (!saved.some((one) => one.name === name)) {
      const names = saved.map((one) => `@${one.name}`).join(", ");
      return {
        message: `tool.json has no saved query ${JSON.stringify(name)}`,
        remedy: names === "" ? "logs.queries names queries" : `it has: ${names}`,
        fixed: undefined,
      };
    }
    rest = rest.slice(match[0].length);
  }
  return undefined;
}

// At the end of the text the name may not be complete yet; before an operator it is the name of a field.
const SAVED = /^\s*@([^\s()=<>!~,"'@]+)(?=\s)(?!\s*(?:[=<>~]|!=|(?:not\s+)?in\b|contains\b))/i;

/** From the end to the beginning, so that places stay right. */
function apply(text: string, edits: readonly TextEdit[]): string {
  const ordered = [...edits].sort((a, b) => b.range.start.character - a.range.start.character);
  return ordered.reduce(
    (result, { range, newText }) =>
      result.slice(0, range.start.character) + newText + result.slice(range.end.character),
    text,
  );
}
