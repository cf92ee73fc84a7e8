import { until } from "./until.ts";

/**
 * Looks in a row that see the same. What could still change it has a turn of its own between two of them, as long as the
 * machine is slow; a pause of `until` is 10 ms, so the shortest while is 450 ms.
 */
const LOOKS = 45;

/** Waits until `look` sees the same for a while of looks, and returns that. For what tells nobody that it has come to rest. */
export async function unchanging<T>(what: string, look: () => T | Promise<T>): Promise<T> {
  let [last, before, looks] = [await look(), "", 0];
  const isSame = async () => {
    last = await look();
    const now = JSON.stringify(last);
    if (now !== before) [before, looks] = [now, 0];
    return ++looks >= LOOKS;
  };
  await until(what, isSame, () => before);
  return last;
}
