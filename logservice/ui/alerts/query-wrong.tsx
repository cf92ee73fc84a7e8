import { withoutPipes } from "../../../grammar/query/edit.ts";
import type { AlertAnswer } from "../language/messages.ts";
import { kindOfQuery } from "../language/query.ts";

/** The refusal that the service would answer to the query, in its words; undefined if none is known. */
export function queryRefusal(answer: AlertAnswer | undefined): string | undefined {
  if (answer === undefined || answer.ok) return undefined;
  return `alert.query: ${answer.problems[0] ?? "is not a valid query: fix what is underlined"}`;
}

interface QueryWrongProps {
  readonly query: string;
  readonly answer: AlertAnswer | undefined;
  readonly wrong: string | undefined;
  onQuery(query: string): void;
}

/** Why an alert cannot have the query, below it, and what would do. */
export function QueryWrong({ query, answer, wrong, onQuery }: QueryWrongProps) {
  const isEmpty = query.trim() === "";
  const refusal = isEmpty || answer === undefined || answer.ok ? undefined : answer.problems[0];
  const text = refusal === undefined ? wrong : `The query of an alert ${refusal}.`;
  const bare = withoutPipes(query);
  const fixes = isEmpty
    ? [{ name: "Count all events", to: "| count" }]
    : refusal !== undefined && kindOfQuery(query) === "stages"
      ? [{ name: "Count the events instead", to: bare?.trim() ? bare : "| count" }]
      : [];
  if (text === undefined && fixes.length === 0) return null;
  return (
    <div class="row query-refused">
      {text !== undefined && (
        <span class="wrong" role="alert">
          {text}
        </span>
      )}
      {fixes.map(({ name, to }) => (
        <button type="button" class="button small" key={name} onClick={() => onQuery(to)}>
          {name}
        </button>
      ))}
    </div>
  );
}
