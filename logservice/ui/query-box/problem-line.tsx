import type { Fix, Problem } from "../../../grammar/problem.ts";
import { Text } from "../kit/text.tsx";
import { sentence } from "./sentence.ts";

interface ProblemLineProps {
  readonly text: string;
  readonly problem: Problem;
  /** Takes the text that a fix makes. */
  onFix(text: string): void;
}

export interface ProblemLinesProps extends Omit<ProblemLineProps, "problem"> {
  readonly id: string;
  readonly problems: readonly Problem[];
}

/** Below them, the query would be out of sight. */
const MOST_LINES = 5;

/** The problems of a query, in the order of what is underlined. */
export function ProblemLines({ id, problems, ...props }: ProblemLinesProps) {
  return (
    <div class="query-problems" id={id} role="status">
      {problems.slice(0, MOST_LINES).map((problem) => (
        <ProblemLine key={`${problem.code} ${problem.span.start}`} problem={problem} {...props} />
      ))}
    </div>
  );
}

/** A problem of a query, and buttons for queries that may have been meant. */
function ProblemLine({ text, problem, onFix }: ProblemLineProps) {
  const fixes = [...(problem.fix ? [problem.fix] : []), ...(problem.alternatives ?? [])].slice(0, 3);
  return (
    <p class={`query-problem${problem.severity === "warning" ? " is-doubt" : ""}`}>
      <span>
        <Text text={`${sentence(problem.message)}.`} />
        {problem.hint !== undefined && (
          <span class="query-hint">
            {" "}
            <Text text={ended(sentence(problem.hint))} />
          </span>
        )}
      </span>
      {fixes.map((fix) => {
        const fixed = fixedText(text, fix);
        return (
          <button type="button" class="button small" key={fixed} onClick={() => onFix(fixed)}>
            Use{" "}
            <code>
              <Text text={fixed.length > 80 ? fix.title : fixed} keepsLines />
            </code>
          </button>
        );
      })}
    </p>
  );
}

/** A question has its end. */
const ended = (text: string) => (text.endsWith("?") ? text : `${text}.`);

/** A text with the edits of a fix made. */
function fixedText(text: string, { edits }: Fix): string {
  return [...edits]
    .sort((a, b) => b.span.start - a.span.start)
    .reduce((fixed, { span, text: inserted }) => fixed.slice(0, span.start) + inserted + fixed.slice(span.end), text);
}
