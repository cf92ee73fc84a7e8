/**
 * Batches of several readings, each oldest first, as one, oldest first. Nothing is given out before every reading has
 * shown that it has nothing older. What throws in one reading ends all of them.
 */
export async function* mergeByTime<T extends { readonly timeMs: number }>(
  readings: readonly AsyncIterable<readonly T[]>[],
): AsyncGenerator<readonly T[]> {
  const open = readings.map(
    (reading): Reading<T> => ({ batches: reading[Symbol.asyncIterator](), held: [], isDone: false }),
  );
  try {
    for (;;) {
      await Promise.all(open.filter(({ held, isDone }) => held.length === 0 && !isDone).map(refill));
      // One that goes on with nothing in hand may still find something older.
      if (open.some(({ held, isDone }) => held.length === 0 && !isDone)) continue;
      if (open.every(({ held }) => held.length === 0)) return;
      const safeMs = Math.min(...open.filter(({ isDone }) => !isDone).map(({ held }) => held.at(-1)!.timeMs));
      const ready = open.flatMap((one) => {
        const cut = one.held.findIndex(({ timeMs }) => timeMs > safeMs);
        return one.held.splice(0, cut === -1 ? one.held.length : cut);
      });
      if (open.length > 1) ready.sort((a, b) => a.timeMs - b.timeMs);
      yield ready;
    }
  } finally {
    await Promise.allSettled(open.map(({ batches }) => batches.return?.(undefined)));
  }
}

interface Reading<T> {
  readonly batches: AsyncIterator<readonly T[]>;
  held: T[];
  isDone: boolean;
}

async function refill<T>(reading: Reading<T>): Promise<void> {
  const { done, value } = await reading.batches.next();
  if (done === true) reading.isDone = true;
  else reading.held = [...value];
}

/** Batches of several readings that never end, each as soon as it comes. */
export async function* asTheyCome<T>(readings: readonly AsyncIterable<readonly T[]>[]): AsyncGenerator<readonly T[]> {
  const open = new Map(
    readings.map((reading, i) => {
      const batches = reading[Symbol.asyncIterator]();
      return [i, { batches, next: next(i, batches) }];
    }),
  );
  try {
    while (open.size > 0) {
      const { i, result } = await Promise.race([...open.values()].map((one) => one.next));
      const one = open.get(i)!;
      if (result.done === true) open.delete(i);
      else {
        one.next = next(i, one.batches);
        yield result.value;
      }
    }
  } finally {
    await Promise.allSettled([...open.values()].map(({ batches }) => batches.return?.(undefined)));
  }
}

async function next<T>(i: number, batches: AsyncIterator<readonly T[]>) {
  return { i, result: await batches.next() };
}
