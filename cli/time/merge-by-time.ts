/**
 * Merges several streams of batches, each oldest first, into one, oldest first. Nothing is yielded before every stream has
 * shown that it has nothing older. An error in one stream ends all of them.
 */
export async function* mergeByTime<T extends { readonly timeMs: number }>(
  streams: readonly AsyncIterable<readonly T[]>[],
): AsyncGenerator<readonly T[]> {
  const open = streams.map(
    (stream): OpenStream<T> => ({ batches: stream[Symbol.asyncIterator](), held: [], isDone: false }),
  );
  try {
    for (;;) {
      await Promise.all(open.filter(({ held, isDone }) => held.length === 0 && !isDone).map(refill));
      // A stream that had an empty batch may still yield something older.
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

interface OpenStream<T> {
  readonly batches: AsyncIterator<readonly T[]>;
  held: T[];
  isDone: boolean;
}

async function refill<T>(stream: OpenStream<T>): Promise<void> {
  const { done, value } = await stream.batches.next();
  if (done === true) stream.isDone = true;
  else stream.held = [...value];
}

/** Merges streams that never end: yields each batch as soon as it comes. */
export async function* asTheyCome<T>(streams: readonly AsyncIterable<readonly T[]>[]): AsyncGenerator<readonly T[]> {
  const open = new Map(
    streams.map((stream, i) => {
      const batches = stream[Symbol.asyncIterator]();
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
