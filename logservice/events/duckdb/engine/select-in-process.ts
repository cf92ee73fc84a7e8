import type { Clock } from "../../../../grammar/units/clock.ts";
import type { TurnTaker } from "../../../turns/turns.ts";
import type { SelectEvents } from "../../selecting-tail.ts";
import { StoreError } from "../../store.ts";
import type { Selecting } from "./engine-protocol.ts";
import type { KillableEngines } from "./killable-engines.ts";

/** How long a process may test one piece of a tail. An expression that needs more cannot follow any project. */
const PIECE_MS = 5_000;

/** Tests events of a tail in a process that is killed when it takes too long, or when the tail ends. */
export function selectInProcess(
  engines: KillableEngines,
  by: Selecting,
  { asker, clock }: { readonly asker: TurnTaker; readonly clock: Clock },
): SelectEvents {
  return async (events, signal) => {
    const engine = await engines.take("tails", signal, asker);
    const end = () => void engine.end(signal.reason);
    const timer = clock.after(PIECE_MS, () => void engine.end(tooSlow()));
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
      const places = (await engine.ask({ kind: "events", by, events })) as Uint32Array;
      return Array.from(places, (place) => events[place]!);
    } finally {
      timer.stop();
      signal.removeEventListener("abort", end);
      engines.giveBack(engine, "tails", asker);
    }
  };
}

const tooSlow = () =>
  new StoreError(
    "timeout",
    `the regular expressions of the query take more than ${PIECE_MS / 1000} s over the newest events, so the tail has ended: write simpler ones, or search for a word`,
  );
