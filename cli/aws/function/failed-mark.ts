// An alias marks a version that failed its check. A version cannot be changed once it is published, a function has at most
// 50 tags, and aliases, of which there may be any number, are read with the versions anyway.
import { failedAlias } from "../names.ts";
import type { Aliases } from "./aliases.ts";
import { type DeployRecord, writeRecord } from "./record.ts";

/** Marks the version of the record. One call. Why the app does not start matters more than a mark that cannot be made. */
export async function markFailed(aliases: Aliases, record: DeployRecord): Promise<void> {
  const { version } = record;
  await aliases.create(failedAlias(version), { version, description: writeRecord(record) }).catch(() => {});
}

/** Whether the version is marked. One call. */
export async function isMarkedFailed(aliases: Aliases, version: string): Promise<boolean> {
  return (await aliases.get(failedAlias(version)))?.FunctionVersion === version;
}

/**
 * Removes the mark of a version, if it has one. One call, to be made before a stage gets the version, so that no interruption
 * leaves a mark on one that runs. A mark that cannot be removed does not stop that: lists do not show it while a stage has the
 * version.
 */
export async function unmarkFailed(aliases: Aliases, version: string): Promise<void> {
  await aliases.remove(failedAlias(version)).catch(() => {});
}
