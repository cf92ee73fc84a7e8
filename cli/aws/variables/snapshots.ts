import type { Parameter, SSM } from "@aws-sdk/client-ssm";
import { PlatformError } from "../../platform/error.ts";
import type { Values } from "../../platform/variables.ts";
import { parameterPrefix, SNAPSHOTS } from "../names.ts";
import { polling } from "../retrying.ts";
import { readSnapshotName, type Snapshot, unpackSnapshot } from "./pack.ts";
import { allBelow, removeParameters, type Store } from "./store.ts";
import { withoutQuoted } from "./without-quoted.ts";

/** The path of a snapshot's parts, with a slash at its end. */
const prefixOf = (app: string, hash = "") => `${parameterPrefix(app)}${SNAPSHOTS}/${hash === "" ? "" : `${hash}/`}`;

/** What was written is read again until it is there everywhere. */
const VISIBLE_WITHIN_MS = 10_000;

export interface StoredSnapshot {
  readonly count: number;
  /** How long reading it took from here, in milliseconds. */
  readonly readMs: number;
  readonly isNew: boolean;
}

/**
 * Stores a snapshot, if it is not there yet, and reads it back. A part that exists is not touched if all of them together
 * are this snapshot: versions that run may read it.
 */
export async function storeSnapshot(store: Store, { hash, parts }: Snapshot): Promise<StoredSnapshot> {
  const { ssm, app, signal } = store;
  const prefix = prefixOf(app, hash);
  const read = async () => {
    const begin = performance.now();
    const found = partsOf(await allBelow(store, prefix, true), prefix);
    return {
      count: found.length,
      isWhole: unpackSnapshot(hash, found) !== undefined,
      readMs: performance.now() - begin,
    };
  };
  const before = await read();
  if (before.isWhole) return { ...before, isNew: false };
  for (const [i, Value] of parts.entries()) {
    await withoutQuoted(() =>
      ssm.putParameter(
        { Name: `${prefix}${i + 1}`, Value, Type: "SecureString", Overwrite: true },
        { abortSignal: signal },
      ),
    );
  }
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
    { firstWaitMs: 100, limitMs: VISIBLE_WITHIN_MS, signal },
  );
  if (stored === undefined) {
    throw new PlatformError(
      "variables/not-stored",
      `the variables that do not fit into the function's configuration were written to ${prefix}, and are not there`,
      "run the command again: another deploy may have removed them",
    );
  }
  return { ...stored, isNew: true };
}

/** The values of the snapshot that a version names; undefined if it names none. Parts that are gone have no values. */
export async function readSnapshot(store: Store, environment: Values | undefined): Promise<Values | undefined> {
  const named = readSnapshotName(environment);
  if (named === undefined) return undefined;
  const prefix = prefixOf(store.app, named.hash);
  return unpackSnapshot(named.hash, partsOf(await allBelow(store, prefix, true), prefix)) ?? {};
}

/** Parts in the order of their numbers. */
function partsOf(found: readonly Parameter[], prefix: string): string[] {
  return found
    .map(({ Name = "", Value = "" }) => ({ n: Number(Name.slice(prefix.length)), Value }))
    .sort((a, b) => a.n - b.n)
    .map(({ Value }) => Value);
}

/** Removes snapshots that no version names. `youngerMs` protects those that a deploy has not named yet. */
export async function removeSnapshots(
  store: { readonly ssm: SSM; readonly app: string; readonly signal: AbortSignal },
  { named, youngMs }: { readonly named: readonly (Values | undefined)[]; readonly youngMs: number },
): Promise<string[]> {
  const prefix = prefixOf(store.app);
  const kept = new Set(named.map((one) => readSnapshotName(one)?.hash));
  const removed = new Map<string, string[]>();
  for (const { Name = "", LastModifiedDate = new Date(0) } of await allBelow(store, prefix, false)) {
    const hash = Name.slice(prefix.length).split("/")[0]!;
    if (kept.has(hash) || Date.now() - LastModifiedDate.getTime() < youngMs) continue;
    removed.set(hash, [...(removed.get(hash) ?? []), Name]);
  }
  await removeParameters(store, [...removed.values()].flat());
  return [...removed.keys()];
}
