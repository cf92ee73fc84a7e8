// An events store in a process of its own, as another user or to be killed. The first argument says what it does:
//   fill DIRECTORY JOB close|kill   appends batches until the journal has two files, then closes or waits for its end
//   load DIRECTORY FIRST            appends, flushes and merges until it is killed; prints each batch that is acknowledged
//   serve USER                      opens stores for the parent, as that user (0: as it is)
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { StoreError } from "../../../logservice/events/store.ts";
import { until } from "../until.ts";
import { wrongAnswers } from "./damage-check.ts";
import { eventsOf, numbersOf } from "./rich-store.ts";

type Batches = readonly (readonly [project: string, numbers: readonly number[]])[];

async function fill(directory: string, job: string, end: string): Promise<void> {
  const [first, second] = JSON.parse(readFileSync(job, "utf8")) as [Batches, Batches];
  const flushEvents = first.reduce((sum, [, numbers]) => sum + numbers.length, 0);
  const store = await openEventsStore({ directory, reserveBytes: 0, flushEvents });
  const journals = () => readdirSync(join(directory, "journal")).filter((name) => name.endsWith(".ndjson")).length;
  const before = journals();
  for (const [project, numbers] of first) {
    await store.append(project, eventsOf(project, numbers), { idempotencyKey: `late ${project} ${numbers[0]}` });
  }
  await until("the next file of the journal", () => journals() !== before);
  for (const [project, numbers] of second) await store.append(project, eventsOf(project, numbers));
  process.stdout.write("done\n");
  if (end === "close") await store.close();
  else await new Promise(() => setInterval(() => {}, 1000));
}

/** Batches of load, which the parent knows before they are acknowledged. */
export const LOADED = 10;
export const loadedProject = (batch: number) => ["alpha", "beta", "again"][batch % 3]!;

async function load(directory: string, first: number): Promise<void> {
  const store = await openEventsStore({ directory, reserveBytes: 0, flushEvents: 50 });
  process.stdout.write("open\n");
  for (let batch = first; ; batch++) {
    const project = loadedProject(batch);
    await store.append(project, eventsOf(project, numbersOf(batch, LOADED)));
    process.stdout.write(`${batch}\n`);
    await pause(2);
  }
}

/** The requests of the parent. */
export type Request =
  | { readonly do: "open"; readonly directory: string }
  | {
      readonly do: "answers";
      readonly events: Batches;
      readonly missing: readonly string[];
      /** See Expected. */
      readonly fullyChecked?: readonly string[];
    }
  | { readonly do: "append"; readonly project: string; readonly numbers: readonly number[] }
  | { readonly do: "flush" | "compact" | "close" | "losses" | "lines" };

/** Texts, or the type and the message of what was thrown. */
export type Reply = { readonly texts: readonly string[] } | { readonly type: string; readonly message: string };

function serve(user: number): void {
  if (user !== 0) {
    process.setgid!(user);
    process.setuid!(user);
  }
  let store: Awaited<ReturnType<typeof openEventsStore>>;
  let lines: string[] = [];
  const answer = async (request: Request): Promise<readonly string[]> => {
    switch (request.do) {
      case "open":
        lines = [];
        store = await openEventsStore({
          directory: request.directory,
          reserveBytes: 0,
          log: (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
        });
        return [];
      case "answers": {
        const events = new Map(request.events.map(([project, numbers]) => [project, new Set(numbers)]));
        const fullyChecked = request.fullyChecked && new Set(request.fullyChecked);
        const isMissing = (project: string) => request.missing.includes(project);
        return wrongAnswers(store, { events, isMissing, ...(fullyChecked && { fullyChecked }) });
      }
      case "append":
        await store.append(request.project, eventsOf(request.project, request.numbers));
        return [];
      case "losses":
        return store.losses().map(({ file, reason }) => `${file} ${reason}`);
      case "lines":
        return lines;
      default:
        await store[request.do]();
        return [];
    }
  };
  process.on("message", (request: Request) => {
    answer(request).then(
      (texts) => process.send!({ texts } satisfies Reply),
      (error: unknown) => {
        const type = error instanceof StoreError ? error.type : "error";
        process.send!({ type, message: String(error) } satisfies Reply);
      },
    );
  });
  process.send!({ texts: [] } satisfies Reply);
}

const [command, ...argv] = process.argv.slice(2);
if (command === "fill") await fill(argv[0]!, argv[1]!, argv[2]!);
else if (command === "load") await load(argv[0]!, Number(argv[1]));
else if (command === "serve") serve(Number(argv[0]));
