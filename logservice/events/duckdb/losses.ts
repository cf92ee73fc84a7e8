import { crc32 } from "node:zlib";
import type { Loss } from "../store.ts";
import type { Identity } from "./folder-plan.ts";
import type { StoredLoss } from "./manifest.ts";

/** A loss with an id that is the same whenever the same file is found missing. */
export function lossOf({ project, began }: Identity, loss: Omit<StoredLoss, "id" | "atMs">, atMs: number): StoredLoss {
  return { id: lossId(`${project}~${began}/${loss.file}`), atMs, ...loss };
}

/** An id of a loss: short, since people type it. */
export const lossId = (name: string) => crc32(name).toString(16).padStart(8, "0");

/** As the store tells of it. */
export function toldLoss(
  { project, began }: Identity,
  { id, file, reason, bytes, entry }: StoredLoss,
  accepted: ReadonlySet<string>,
): Loss {
  return {
    id,
    project,
    file: file === "" ? `${project}~${began}` : `${project}~${began}/${file}`,
    reason,
    bytes,
    events: entry?.events,
    firstMs: entry && Number(BigInt(entry.first) / 1_000_000n),
    lastMs: entry && Number(BigInt(entry.last) / 1_000_000n) + 1,
    isAccepted: accepted.has(id),
  };
}
