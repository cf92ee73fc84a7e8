// The rivals, each in a process of its own: what one holds in memory or waits for is not the other's.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The operations of a rival that the bench calls. */
export interface RivalStore {
  /** One batch, durable when it resolves. */
  append(events: readonly unknown[]): Promise<void>;
  /** After the last one: what is left over goes to where it belongs. */
  settle(): Promise<void>;
  all(sql: string): Promise<readonly (readonly unknown[])[]>;
  close(): void;
}

export type RivalName = "table" | "sqlite";

export const RIVAL_TITLES: Readonly<Record<RivalName, string>> = {
  table: "DuckDB table, fields as JSON",
  sqlite: "SQLite with FTS5",
};

export type RivalRequest =
  | { readonly kind: "open"; readonly name: RivalName; readonly path: string }
  | { readonly kind: "load"; readonly batches: number }
  | { readonly kind: "ask"; readonly sql: string };

export type RivalAnswer =
  | { readonly kind: "opened" }
  | { readonly kind: "loaded"; readonly ms: number }
  | { readonly kind: "asked"; readonly ms: number; readonly rows: readonly (readonly unknown[])[] }
  | { readonly kind: "failed"; readonly error: string };

export interface Rival {
  readonly name: RivalName;
  readonly path: string;
  /** Loads the first `batches` batches. The milliseconds that it took, without those for making the events. */
  load(batches: number): Promise<number>;
  /** The rows, and the milliseconds in the rival's own process: nothing of ours is in them. */
  ask(sql: string): Promise<{ readonly ms: number; readonly rows: readonly (readonly unknown[])[] }>;
  close(): void;
}

export async function openRival(name: RivalName, path: string): Promise<Rival> {
  // Counts of DuckDB are whole numbers that JSON does not know.
  const child: ChildProcess = fork(fileURLToPath(new URL("rival-process.js", import.meta.url)), {
    serialization: "advanced",
  });
  const call = <Kind extends RivalAnswer["kind"]>(request: RivalRequest, kind: Kind) =>
    new Promise<Extract<RivalAnswer, { kind: Kind }>>((resolve, reject) => {
      const end = () => {
        child.off("message", onAnswer);
        child.off("exit", onExit);
      };
      const onAnswer = (answer: RivalAnswer) => {
        end();
        if (answer.kind === kind) resolve(answer as Extract<RivalAnswer, { kind: Kind }>);
        else reject(new Error(`${name}: ${answer.kind === "failed" ? answer.error : answer.kind}`));
      };
      const onExit = () => {
        end();
        reject(new Error(`the process of ${name} ended`));
      };
      child.on("message", onAnswer);
      child.on("exit", onExit);
      child.send(request);
    });
  await call({ kind: "open", name, path }, "opened");
  return {
    name,
    path,
    load: async (batches) => (await call({ kind: "load", batches }, "loaded")).ms,
    ask: (sql) => call({ kind: "ask", sql }, "asked"),
    close: () => child.disconnect(),
  };
}
