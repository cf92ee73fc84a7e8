/** A seeded source of choices: the same seed, the same choices, on every machine. */
export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
}

/** A linear congruential step with a mixed output (PCG-style, 32 bits): short, and good enough to draw tests with. */
export function randomOf(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const next = () => {
    state = (Math.imul(state, 747796405) + 2891336453) >>> 0;
    const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737) >>> 0;
    return ((word >>> 22) ^ word) >>> 0;
  };
  const below = (limit: number) => next() % limit;
  return {
    below,
    pick: (list) => list[below(list.length)]!,
    chance: (probability) => next() / 2 ** 32 < probability,
  };
}
