import { useEffect, useState } from "preact/hooks";
import type { Problem } from "../../../grammar/problem.ts";
import { askLanguage } from "../language/ask.ts";
import { kindOfQuery } from "../language/query.ts";
import type { QueryText } from "./use-query-text.ts";

/** Problems are said after this pause: before, the person is still typing. */
const TELL_MS = 500;

/** The problems of the text, and whether it is time to say them. */
export interface Mistakes {
  readonly problems: readonly Problem[];
  readonly isTold: boolean;
  show(problems: readonly Problem[]): void;
  /** Says them without a pause. */
  tell(): void;
}

export function useMistakes({ text, area }: QueryText): Mistakes {
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [isTold, setTold] = useState(false);
  useEffect(() => {
    setTold(false);
    const isRight = kindOfQuery(text) !== "wrong";
    if (isRight) setProblems([]);
    // The grammar takes texts that mean nothing; a text that was not typed here is taken as it is.
    if (isRight && document.activeElement !== area.current) return;
    let isOver = false;
    void askLanguage({ kind: "problems", text }).then(
      (answer) => isOver || setProblems(answer),
      () => {},
    );
    const timer = setTimeout(() => setTold(true), TELL_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return { problems, isTold, show: setProblems, tell: () => setTold(true) };
}
