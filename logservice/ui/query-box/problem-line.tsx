import type { Fix, Problem } from "../../../grammar/problem.ts";
import { Text } from "../kit/text.tsx";

export interface ProblemLineProps {
  readonly id: string;
  readonly text: string;
  readonly problem: Problem;
  /** Takes the text that a fix makes. */
  onFix(text: string): void;
}

/** The problem of a query, and buttons for queries that may have been meant. */
export function ProblemLine({ id, text, problem, onFix }: ProblemLineProps) {
  const fixes = [...(problem.fix ? [problem.fix] : []), ...(problem.alternatives ?? [])].slice(0, 3);
  return (
    <p class="query-problem" id={id} role="status">
      <span>
        <Text text={`${sentence(problem.message)}.`} />
        {problem.hint !== undefined && (
          <span class="query-hint">
            {" "}
            <Text text={`${sentence(problem.hint)}.`} />
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

/** A text with the edits of a fix made. */
function fixedText(text: string, { edits }: Fix): string {
  return [...edits]
    .sort((a, b) => b.span.start - a.span.start)
    .reduce((fixed, { span, text: inserted }) => fixed.slice(0, span.start) + inserted + fixed.slice(span.end), text);
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, "");
