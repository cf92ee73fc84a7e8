// The watcher by which tests see calls, and have them fail.

import type { BegunCall, CallWatcher } from "../../../cli/sandbox/server.ts";
import { errorOf, type Failures } from "./failures.ts";
import { type Journal, withoutBytes } from "./journal.ts";
import { refusalOf } from "./refused-keys.ts";

export function watchCalls(
  journal: Journal,
  failures: Failures,
  nowMs: () => number,
): (call: BegunCall) => CallWatcher {
  return ({ scope: { service, region, accessKeyId }, bodyBytes }) => {
    const entry = journal.add({
      service,
      operation: "?",
      region,
      input: undefined,
      at: nowMs(),
      outcome: "ok",
      bytes: bodyBytes,
    });
    return {
      async onCall(operation, input, { protocol }) {
        entry.operation = operation;
        entry.input = withoutBytes(input);
        const refusal = refusalOf(accessKeyId, service, protocol);
        if (refusal !== undefined) throw refusal;
        const failure = failures.meet(service, operation, input);
        if (failure?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, failure.delayMs));
        await failure?.run?.();
        if (failure?.drop === "before") return "cut-before";
        if (failure?.error !== undefined) throw errorOf(failure.error);
        return failure?.drop === "after" ? "cut-after" : undefined;
      },
      onEnd(outcome) {
        entry.outcome = outcome;
      },
    };
  };
}
