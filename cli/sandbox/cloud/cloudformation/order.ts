// The order in which the resources of a stack are worked on.
import type { ResourceStep } from "./stack.ts";

export interface ResourceOrder {
  readonly names: readonly string[];
  readonly steps: Map<string, ResourceStep>;
  waitsFor(name: string): ReadonlySet<string>;
  begin(name: string): ResourceStep;
}

/** Begins each after all that it waits for; what waits for one that failed fails. True if all are at their end. */
export function inOrder({ names, steps, waitsFor, begin }: ResourceOrder): boolean {
  const isOver = (name: string) => /^(done|failed)$/.test(steps.get(name) ?? "");
  for (let hasBegun = true; hasBegun; ) {
    hasBegun = false;
    for (const name of names) {
      if (steps.has(name)) continue;
      const others = [...waitsFor(name)].filter((other) => names.includes(other) && other !== name);
      if (!others.every(isOver)) continue;
      steps.set(name, others.some((other) => steps.get(other) === "failed") ? "failed" : begin(name));
      hasBegun = true;
    }
  }
  return names.every(isOver);
}
