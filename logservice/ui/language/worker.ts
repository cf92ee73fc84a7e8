// The whole language, in a thread of its own: it is 100 KB, and the page does not need it to be shown.
import { otherTypesIn, parsePipeline, QuerySession, seenInService } from "../../../grammar/query/index.ts";
import { alertAnswer } from "./alert-answer.ts";
import type { Answers, LanguageQuestion, Numbered } from "./messages.ts";
import { nearAnswer } from "./near-answer.ts";

/** The global scope of a worker, which the types for pages lack. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Numbered<LanguageQuestion>>) => void) | null;
  postMessage(message: Numbered<Answers[LanguageQuestion["kind"]]>): void;
}

const session = new QuerySession();
const scope = globalThis as unknown as WorkerScope;

scope.onmessage = ({ data: { id, it } }) => scope.postMessage({ id, it: answer(it) });

function answer(question: LanguageQuestion): Answers[LanguageQuestion["kind"]] {
  if (question.kind === "problems") {
    const parsed = parsePipeline(question.text);
    return parsed.ok ? [] : parsed.problems;
  }
  if (question.kind === "alert") return alertAnswer(question.text, question.groups);
  if (question.kind === "near") return nearAnswer(question.text, question.fields, question.types);
  if (question.kind === "types") {
    const parsed = parsePipeline(question.text);
    return parsed.ok ? otherTypesIn(parsed.value, seenInService(question.fields)) : [];
  }
  const { text, offset, fields, values } = question;
  const wanted = new Set<string>();
  session.update(text);
  const { items } = session.complete(offset, {
    fields,
    values(field) {
      const fieldValues = Object.hasOwn(values, field) ? values[field] : undefined;
      if (fieldValues === undefined) wanted.add(field);
      return fieldValues ?? [];
    },
  });
  return { items, wanted: [...wanted] };
}
