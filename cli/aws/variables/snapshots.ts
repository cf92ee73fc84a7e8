import type { Parameter } from "@aws-sdk/client-ssm";
import type { Clock } from "../../../grammar/units/clock.ts";
import { PlatformError } from "../../platform/error.ts";
import type { VariableValues } from "../../platform/variables.ts";
import { parameterPrefix, SNAPSHOTS } from "../names.ts";
import { polling } from "../retrying.ts";
import { readSnapshotName, type Snapshot, unpackSnapshot } from "./pack.ts";
import { allBelow, removeParameters, type VariableStore } from "./store.ts";
import { withoutQuoted } from "./without-quoted.ts";

/** The path of a snapshot's parts, with a slash at its end. */
const prefixOf = (app: string, hash = "") => `${parameterPrefix(app)}${SNAPSHOTS}/${hash === "" ? "" : `${hash}/`}`;

/** A snapshot that was written is read again until it is there everywhere. */
const VISIBLE_WITHIN_MS = 10_000;

export interface StoredSnapshot {
  readonly count: number;
  /** How long reading it took from here, in milliseconds. */
  readonly readMs: number;
}

/**
 * Stores a snapshot, if it is not there yet, and reads it back. A part that exists is not changed if all of them together are
 * this snapshot: versions that run may read it. Its first part is written again as it is, so that it counts as young until a
 * version names it.
 */
export async function storeSnapshot(
  store: VariableStore & { readonly clock: Clock },
  { hash, parts }: Snapshot,
): Promise<StoredSnapshot> {
  const { ssm, app, signal, clock } = store;
  const prefix = prefixOf(app, hash);
  const read = async () => {
    const begin = clock.monotonicMs();
    const stored = partsOf(await allBelow(store, prefix, true), prefix);
    const isWhole = unpackSnapshot(hash, stored) !== undefined;
    return { count: stored.length, first: stored[0] ?? "", isWhole, readMs: clock.monotonicMs() - begin };
  };
  const write = (n: number, Value: string) =>
    withoutQuoted(Value, () =>
      ssm.putParameter(
        { Name: `${prefix}${n}`, Value, Type: "SecureString", Overwrite: true },
        { abortSignal: signal },
      ),
    );
  const before = await read();
  if (before.isWhole) {
    await write(1, before.first);
    return before;
  }
  for (const [i, part] of parts.entries()) await write(i + 1, part);
  const surplus = Array.from({ length: Math.max(0, before.count - parts.length) }, (_, i) => parts.length + i + 1);
  await removeParameters(
    store,
    surplus.map((n) => `${prefix}${n}`),
  );
  const stored = await polling(
    async () => {
      const now = await read();
      return now.isWhole ? now : undefined;
    },
    { firstWaitMs: 100, limitMs: VISIBLE_WITHIN_MS, signal, clock },
  );
  if (stored === undefined) {
    throw new PlatformError(
      "variables/not-stored",
      `the variables that do not fit into the function's configuration were written to ${prefix}, and are not there`,
      "run the command again: another deploy may have removed them",
    );
  }
  return stored;
}

/** The values of the snapshot that a version names; undefined if it names none, or that one is not whole. */
export async function readSnapshot(
  store: VariableStore,
  environment: VariableValues | undefined,
): Promise<VariableValues | undefined> {
  const named = readSnapshotName(environment);
  if (named === undefined) return undefined;
  const prefix = prefixOf(store.app, named.hash);
  return unpackSnapshot(named.hash, partsOf(await allBelow(store, prefix, true), prefix));
}

/** Parts in the order of their numbers, from 1 on. What else is there is not ours. */
function partsOf(parameters: readonly Parameter[], prefix: string): string[] {
  const values = new Map(parameters.map(({ Name = "", Value = "" }) => [Name.slice(prefix.length), Value]));
  const parts: string[] = [];
  for (let n = 1; values.has(String(n)); n++) parts.push(values.get(String(n))!);
  return parts;
}

/**
 * Removes snapshots that no version names. Those of which a part is younger than `youngMs` stay: a deploy that has not named
 * one yet writes its first part. `named` is called after the snapshots are listed.
 */
export async function removeSnapshots(
  store: VariableStore & { readonly clock: Clock },
  {
    named,
    youngMs,
  }: { readonly named: () => Promise<readonly (VariableValues | undefined)[]>; readonly youngMs: number },
): Promise<string[]> {
  const prefix = prefixOf(store.app);
  const snapshots = new Map<string, { names: string[]; youngest: number }>();
  for (const { Name = "", LastModifiedDate = new Date(0) } of await allBelow(store, prefix, false)) {
    const hash = Name.slice(prefix.length).split("/")[0]!;
    const { names, youngest } = snapshots.get(hash) ?? { names: [], youngest: 0 };
    snapshots.set(hash, { names: [...names, Name], youngest: Math.max(youngest, LastModifiedDate.getTime()) });
  }
  const kept = new Set((await named()).map((one) => readSnapshotName(one)?.hash));
  const removed = [...snapshots].filter(
    ([hash, { youngest }]) => !kept.has(hash) && store.clock.nowMs() - youngest >= youngMs,
  );
  await removeParameters(
    store,
    removed.flatMap(([, { names }]) => names),
  );
  return removed.map(([hash]) => hash);
}
