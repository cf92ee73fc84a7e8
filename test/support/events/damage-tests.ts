import t from "tap";
import { type Case, runCase } from "./damage.ts";
import { buildRichStore, type RichStore } from "./rich-store.ts";

const only = new RegExp(process.env.DAMAGE_ONLY ?? "");

/** The store that each row of a file of tests damages a copy of. It is removed after the tests. */
export async function richStoreOfTests(): Promise<RichStore> {
  const rich = await buildRichStore();
  t.teardown(() => rich.remove());
  return rich;
}

/** A test for the rows of a kind that DAMAGE_ONLY picks, several at once: most of a row is waiting for disks and processes. */
export function testRows<Row extends { readonly name: string }>(
  kind: string,
  rows: readonly Row[],
  run: (row: Row) => Promise<string[]>,
  atOnce = 1,
): void {
  const chosen = rows.filter(({ name }) => only.test(name));
  if (chosen.length === 0) return;
  t.test(kind, async (t) => {
    for (let i = 0; i < chosen.length; i += atOnce) {
      const some = chosen.slice(i, i + atOnce);
      const results = await Promise.all(some.map(run));
      for (const [at, row] of some.entries()) t.strictSame(results[at], [], row.name);
    }
  });
}

/** Tests of a store that nobody uses while it is damaged. */
export function testCases(rich: RichStore, groups: readonly (readonly [kind: string, rows: readonly Case[]])[]): void {
  for (const [kind, rows] of groups) testRows(kind, rows, (row) => runCase(rich, row), 3);
}
