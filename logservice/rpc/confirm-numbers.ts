import type { Kysely } from "kysely";
import type { Notification, NotificationInput } from "../../schema/rpc.generated.ts";
import { isEqual } from "../account/links.ts";
import { RpcError } from "../error.ts";
import { noteWrongCode } from "../records/audit.ts";
import { makeCodes, type NumberCode, noteUnsent, takeNumberTry } from "../records/number-states.ts";
import type { Tables } from "../records/tables.ts";
import { firstOwnerOf } from "../records/teams.ts";
import { once, transact } from "../records/transact.ts";
import type { Call, OperationCall, Service } from "./call.ts";

/** The numbers that a notification tells, each once. */
export const numbersOf = ({ type, sms_numbers = [] }: NotificationInput): string[] =>
  type === "sms" ? [...new Set(sms_numbers)] : [];

/**
 * Returns a function for the transaction of a change. Where everybody may sign up, it makes the codes that confirm new numbers
 * of a notification: otherwise anybody could have the service write to any number. It throws if they may not be sent.
 */
export function codesFor(
  { account, records: { seal }, testing, notifies, nowMs }: Service,
  { grant }: Call,
): (
  db: Kysely<Tables>,
  to: { readonly id: string; readonly numbers: readonly string[] },
) => Promise<readonly NumberCode[]> {
  const takeCodes = once(testing.takeCodes);
  return async (db, { id, numbers }) => {
    if (account.signUp.kind !== "open" || numbers.length === 0) return [];
    const people = [grant.by, await firstOwnerOf(db, grant.team)].filter((id) => id !== "");
    if (notifies.isTexting) takeCodes(grant.team, numbers, people);
    return makeCodes({ db, seal }, id, numbers, nowMs());
  };
}

/** Sends codes that were made. Why one could not be sent is noted, and returned. */
export async function sendCodes(
  { records, testing }: Service,
  id: string,
  codes: readonly NumberCode[],
): Promise<readonly string[]> {
  const failures = await Promise.all(
    codes.map(async ({ number, code }) => {
      const outcome = await testing.sendCode(number, code);
      return outcome.kind === "delivered" ? [] : [{ number, reason: outcome.reason }];
    }),
  );
  for (const { number, reason } of failures.flat()) {
    await transact(records.db, (db) => noteUnsent(db, id, number, reason));
  }
  return failures.flat().map(({ reason }) => reason);
}

/** Throws if there is nothing to confirm. */
export function refuseUnconfirmable({ account }: Service, notification: Notification, number: string): void {
  const { type } = notification;
  if (type !== "sms")
    throw new RpcError("conflict", `this notification is of type ${type}: only phone numbers are confirmed`);
  if (account.signUp.kind !== "open")
    throw new RpcError("conflict", "numbers need no confirmation here, since not everybody may sign up");
  if (!numbersOf(notification).includes(number))
    throw new RpcError("invalid", `sms_number: ${JSON.stringify(number)} is not a number of this notification`);
}

/** Tries the code of a number. A try counts before the code is looked at. Throws if it is another one. */
export async function tryCode(
  { records, nowMs }: Service,
  { grant, address, operation }: OperationCall,
  { projectId, id, number }: { readonly projectId: string; readonly id: string; readonly number: string },
  code: string,
): Promise<void> {
  const { seal } = records;
  const one = await transact(records.db, (db) => takeNumberTry({ db, seal }, id, number, nowMs()));
  if (one === undefined)
    throw new RpcError("conflict", `the code of ${number} has ended, or none was sent: ask for another one by resend`);
  if (isEqual(code.replace(/\s/g, ""), one.code)) return;
  const at = new Date(nowMs()).toISOString();
  const who = { at, team_id: grant.team, actor: grant.actor, address };
  await transact(records.db, (db) => {
    return noteWrongCode(db, { ...who, operation, project_id: projectId, target_id: id });
  });
  if (one.left <= 0)
    throw new RpcError("conflict", "that was the last try with a wrong code: ask for another one by resend");
  throw new RpcError("invalid", `code: is another one; ${one.left === 1 ? "1 try is" : `${one.left} tries are`} left`);
}
