import { randomBytes } from "node:crypto";
import type { Entry } from "../../grammar/entry.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { entryLine } from "../entries.ts";
import type { Sender, SenderOptions } from "./sender.ts";

/** Where the entries of a function go: to stdout, and to the log service if the deploy found a token for it. */
export interface FunctionLog {
  /** Begins the ids of entries; undefined if they go to stdout alone, where nobody compares them. */
  readonly instance: string | undefined;
  readonly log: (entries: readonly Entry[]) => void;
  readonly sender: Sender | undefined;
  /** Whose entries are about the delivery; what fails before is on stdout alone. */
  noteBy(note: SenderOptions["note"]): void;
}

export interface FunctionLogOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Writes to stdout at once: the platform reads lines, and may stop this process right after them. */
  readonly print: (text: string) => void;
  /** `logs.cloudwatch` of tool.json. */
  readonly printsAll: boolean;
  /** Not with Firehose, which takes from CloudWatch what is printed: all of it. */
  readonly sends: boolean;
}

/** TOOL_LOGS_URL and TOOL_LOGS_TOKEN of the function say where entries are sent: `https://logs.example.com/ingest/shop`. */
export async function openFunctionLog({
  env,
  clock,
  print,
  printsAll,
  sends,
}: FunctionLogOptions): Promise<FunctionLog> {
  const { TOOL_LOGS_URL: url = "", TOOL_LOGS_TOKEN: token = "" } = env;
  const printed = { log: (entries: readonly Entry[]) => print(linesOf(entries)), sender: undefined, noteBy: () => {} };
  // A version of another time may have sent the same stage's entries: those of both are told apart by their ids.
  if (!sends) return { ...printed, instance: newInstance() };
  if (token === "" || !URL.canParse(url)) return { ...printed, instance: undefined };
  // Imported late: functions that send nothing load none of it.
  const [{ openIngest }, { Sender }] = await Promise.all([import("./ingest.ts"), import("./sender.ts")]);
  const instance = newInstance();
  let note: SenderOptions["note"] = () => {};
  const sender = new Sender({
    post: await openIngest({ url, token, clock }),
    instance,
    clock,
    note: (...entry) => note(...entry),
    print: printsAll ? undefined : print,
  });
  return {
    instance,
    sender,
    log(entries) {
      const lines = entries.map(entryLine);
      if (printsAll) print(`${lines.join("\n")}\n`);
      sender.write(entries, lines);
    },
    noteBy(by) {
      note = by;
    },
  };
}

const newInstance = () => randomBytes(8).toString("hex");

/** Entries as they are printed. */
export const linesOf = (entries: readonly Entry[]) => entries.map((entry) => `${entryLine(entry)}\n`).join("");
