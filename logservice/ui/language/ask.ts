import type { Answers, LanguageQuestion, Numbered } from "./messages.ts";

/** The file of the worker below the files of the page; put in when the page is built. */
declare const WORKER_FILE: string;

let worker: Worker | undefined;
let lastId = 0;
const waiting = new Map<number, { resolve(answer: never): void; reject(error: Error): void }>();

/** Asks the worker that knows the whole language. It is started with the first question. */
export function askLanguage<Kind extends LanguageQuestion["kind"]>(
  question: Extract<LanguageQuestion, { kind: Kind }>,
): Promise<Answers[Kind]> {
  return new Promise((resolve, reject) => {
    const id = ++lastId;
    waiting.set(id, { resolve: resolve as (answer: never) => void, reject });
    workerNow().postMessage({ id, it: question } satisfies Numbered<LanguageQuestion>);
  });
}

/** Starts the worker before it is needed. */
export function prepareLanguage(): void {
  workerNow();
}

function workerNow(): Worker {
  if (worker !== undefined) return worker;
  const started = new Worker(`/assets/${WORKER_FILE}`);
  started.onmessage = ({ data: { id, it } }: MessageEvent<Numbered<never>>) => {
    waiting.get(id)?.resolve(it);
    waiting.delete(id);
  };
  started.onerror = () => {
    // It could not be loaded, such as after an upgrade: the next question tries again.
    for (const { reject } of waiting.values()) reject(new Error("the language could not be loaded"));
    waiting.clear();
    started.terminate();
    worker = undefined;
  };
  worker = started;
  return started;
}
