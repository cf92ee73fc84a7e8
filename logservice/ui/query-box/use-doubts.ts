import { useEffect, useState } from "preact/hooks";
import type { Problem } from "../../../grammar/problem.ts";
import { askLanguage } from "../language/ask.ts";
import type { FieldValues } from "./values.ts";

/**
 * The conditions of a valid text that can never hold with the types of the project's fields. The text runs all the same.
 * `isAsked` is false while the person is typing.
 */
export function useDoubts(text: string, values: FieldValues | undefined, isAsked: boolean): readonly Problem[] {
  const [doubts, setDoubts] = useState<{ readonly text: string; readonly problems: readonly Problem[] }>();
  useEffect(() => {
    if (!isAsked || values === undefined || text.trim() === "") return;
    let isOver = false;
    void doubtsIn(text, values).then(
      (problems) => isOver || setDoubts({ text, problems }),
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [text, values, isAsked]);
  return isAsked && doubts?.text === text ? doubts.problems : [];
}

async function doubtsIn(text: string, values: FieldValues): Promise<readonly Problem[]> {
  await values.loadFields();
  const ask = (fields: FieldValues["discovered"]) => askLanguage({ kind: "types", text, fields });
  // The fields of what was found have fewer types than those of all events: most texts need no other question.
  if ((await ask(values.discovered)).length === 0) return [];
  return ask(await values.allFields());
}
