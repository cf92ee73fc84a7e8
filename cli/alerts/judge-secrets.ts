import type { LogRecords } from "../../schema/as-config.ts";
import type { Notification } from "../../schema/rpc.generated.ts";
import { type ServiceSecrets, secretNameOf } from "./apply-records.ts";
import type { SecretJudge, WantedRecords } from "./plan-records.ts";
import { isHashOf } from "./secret-hash.ts";

const pairOf = (id: string, name: string) => JSON.stringify([id, name]);

/** A hash is slow, by intent: after so many, a notification that has another name is removed and added. */
const MAX_RENAMES_JUDGED = 100;

/** Compares the secrets of the notifications that both sides have, and of those that may have been renamed. */
export async function judgeSecrets(
  wanted: WantedRecords,
  { notifications }: LogRecords,
  secrets: ServiceSecrets,
): Promise<SecretJudge> {
  const owned = notifications.filter(({ managed_by }) => managed_by === wanted.app);
  const isSame = async (one: Notification, name: string) => {
    const secret = secrets.get(secretNameOfWanted(wanted, name) ?? "");
    return secret !== undefined && (await isHashOf(one.secret_hash ?? "", secret));
  };
  const same = new Set<string>();
  for (const one of owned) if (await isSame(one, one.name)) same.add(pairOf(one.id, one.name));

  const names = new Set(owned.map(({ name }) => name));
  const added = [...wanted.notifications.keys()].filter((name) => !names.has(name));
  const removed = owned.filter(({ name }) => !wanted.notifications.has(name));
  const pairs = removed
    .flatMap((one, i) => added.map((name, j) => ({ one, name, apart: Math.abs(i - j) })))
    .filter(({ one, name }) => wanted.notifications.get(name)!.type === one.type)
    .filter(({ name }) => secretNameOfWanted(wanted, name) !== undefined)
    // Most files keep their order.
    .sort((a, b) => a.apart - b.apart);
  const isWhole = pairs.length <= MAX_RENAMES_JUDGED;
  const paired = new Set<string>();
  let judged = 0;
  for (const { one, name } of pairs) {
    // Two may have one secret: then all pairs are of use.
    if (!isWhole && (paired.has(one.id) || paired.has(name))) continue;
    if (judged++ >= MAX_RENAMES_JUDGED) break;
    if (!(await isSame(one, name))) continue;
    same.add(pairOf(one.id, name));
    paired.add(one.id).add(name);
  }
  return ({ id }, name) => same.has(pairOf(id, name));
}

const secretNameOfWanted = ({ notifications }: WantedRecords, name: string) => {
  const notification = notifications.get(name);
  return notification === undefined ? undefined : secretNameOf(notification);
};
