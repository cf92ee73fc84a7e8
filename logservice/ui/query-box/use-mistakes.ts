import { useEffect, useState } from "preact/hooks";
import type { Problem } from "../../../grammar/problem.ts";
import { notedProblems, problemsOf } from "../language/checked.ts";
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
  const [problems, setProblems] = useState<readonly Problem[]>(() => notedProblems(text) ?? []);
  // A text that was not typed here is not going to be finished.
  const [isTold, setTold] = useState(true);
  useEffect(() => {
    const isTyped = document.activeElement === area.current;
    setTold(!isTyped);
    // The grammar takes texts that mean nothing: they are not known to be wrong yet.
    const noted = notedProblems(text) ?? (kindOfQuery(text) === "wrong" ? undefined : []);
    if (noted !== undefined) setProblems(noted);
    let isOver = false;
    void problemsOf(text).then(
      (answer) => isOver || setProblems(answer),
      () => {},
    );
    const timer = isTyped ? setTimeout(() => setTold(true), TELL_MS) : undefined;
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return { problems, isTold, show: setProblems, tell: () => setTold(true) };
}
