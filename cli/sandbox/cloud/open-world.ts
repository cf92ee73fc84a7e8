// An account to work with: in memory, or in a folder where it survives.
import { CloudClock } from "./clock.ts";
import { factories } from "./services.ts";
import { Storage } from "./storage.ts";
import { openStore } from "./store/store.ts";
import { type AccountOptions, World } from "./world.ts";

export interface WorldOptions extends AccountOptions {
  /** Where the state is; it is in memory only if this is absent. Only one process may have it open. */
  readonly folder?: string;
  readonly clock?: CloudClock;
}

/** Throws a `StoreProblem` if the folder's state cannot be used; its message says what to do. */
export function openWorld({ folder, clock = new CloudClock(), ...options }: WorldOptions = {}): World {
  const report = options.report ?? ((text: string) => void process.stderr.write(`sandbox: ${text}\n`));
  const store = folder === undefined ? undefined : openStore(folder, report, clock.base);
  return new World({ options, clock, factories, storage: new Storage(store, report, clock.base), report });
}
