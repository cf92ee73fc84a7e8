import { randomInt } from "node:crypto";
import type { Kysely } from "kysely";
import type { Notification } from "../../schema/rpc.generated.ts";
import type { Seal } from "./seal.ts";
import type { Tables } from "./tables.ts";

/** How far the confirmation of a number is. A number without one was never sent a code. */
export interface NumberState {
  readonly number: string;
  readonly isConfirmed: boolean;
  /** The code that was sent last, encrypted by seal.ts; "" if there is none, or it has ended. */
  readonly code: string;
  /** RFC 3339, or "" if there is no code. */
  readonly expires_at: string;
  readonly tries_left: number;
  /** Why the code could not be sent, for people; "" if it was. */
  readonly failure: string;
}

interface Sealed {
  readonly db: Kysely<Tables>;
  readonly seal: Seal;
}

/** A number and the code that it is sent. */
export interface NumberCode {
  readonly number: string;
  readonly code: string;
}

/** Long enough for a text message that is late. */
const LASTS_MS = 10 * 60_000;
/** Wrong codes after which a code ends. */
const TRIES = 5;

/** Makes a code for each of these numbers of a notification; the codes of before end. */
export async function makeCodes(
  { db, seal }: Sealed,
  id: string,
  numbers: readonly string[],
  nowMs: number,
): Promise<NumberCode[]> {
  const codes = numbers.map((number) => ({ number, code: String(randomInt(1_000_000)).padStart(6, "0") }));
  const expires_at = new Date(nowMs + LASTS_MS).toISOString();
  await changeStates(db, id, (states) => [
    ...states.filter(({ number }) => !numbers.includes(number)),
    ...codes.map(({ number, code }): NumberState => {
      const sealed = seal.close(code, placeOf(id, number));
      return { number, isConfirmed: false, code: sealed, expires_at, tries_left: TRIES, failure: "" };
    }),
  ]);
  return codes;
}

/** Notes why a number was not sent its code, which ends. */
export async function noteUnsent(db: Kysely<Tables>, id: string, number: string, failure: string): Promise<void> {
  await changeState(db, id, number, (state) =>
    state.isConfirmed ? state : { ...state, code: "", expires_at: "", failure },
  );
}

/** The code of a number before a try, and the tries that are left after it; undefined if no code can be tried. */
export async function takeNumberTry(
  { db, seal }: Sealed,
  id: string,
  number: string,
  nowMs: number,
): Promise<{ readonly code: string; readonly left: number } | undefined> {
  const state = (await statesOf(db, id)).find((one) => one.number === number);
  if (state === undefined || state.code === "" || Date.parse(state.expires_at) <= nowMs) return undefined;
  const left = state.tries_left - 1;
  await changeState(db, id, number, (one) => ({ ...one, tries_left: left, ...(left <= 0 && ENDED) }));
  return { code: seal.open(state.code, placeOf(id, number)), left };
}

const ENDED = { code: "", expires_at: "" } as const;

export async function confirmNumber(db: Kysely<Tables>, id: string, number: string): Promise<void> {
  await changeState(db, id, number, (one) => ({ ...one, ...ENDED, isConfirmed: true, failure: "" }));
}

export async function isNumberConfirmed(db: Kysely<Tables>, id: string, number: string): Promise<boolean> {
  return (await statesOf(db, id)).some((one) => one.number === number && one.isConfirmed);
}

/** Forgets the numbers that a notification does not have any more: one that comes back is confirmed again. */
export async function dropStates(db: Kysely<Tables>, id: string, numbers: readonly string[]): Promise<void> {
  await changeStates(db, id, (states) => states.filter(({ number }) => numbers.includes(number)));
}

/** The numbers of a notification that are not confirmed, as clients are shown them. */
export function unconfirmedOf(
  type: string,
  numbers: readonly string[],
  number_states: string,
): NonNullable<Notification["unconfirmed_numbers"]> {
  if (type !== "sms") return [];
  const states: readonly NumberState[] = JSON.parse(number_states);
  return [...new Set(numbers)].flatMap((number) => {
    const state = states.find((one) => one.number === number);
    if (state?.isConfirmed === true) return [];
    const { expires_at = "", failure = "" } = state ?? {};
    return [{ sms_number: number, expires_at: expires_at === "" ? null : expires_at, failure }];
  });
}

async function statesOf(db: Kysely<Tables>, id: string): Promise<readonly NumberState[]> {
  const row = await db.selectFrom("notifications").select("number_states").where("id", "=", id).executeTakeFirst();
  return row === undefined ? [] : JSON.parse(row.number_states);
}

function changeState(
  db: Kysely<Tables>,
  id: string,
  number: string,
  change: (state: NumberState) => NumberState,
): Promise<void> {
  return changeStates(db, id, (states) => states.map((one) => (one.number === number ? change(one) : one)));
}

async function changeStates(
  db: Kysely<Tables>,
  id: string,
  change: (states: readonly NumberState[]) => readonly NumberState[],
): Promise<void> {
  const number_states = JSON.stringify(change(await statesOf(db, id)));
  await db.updateTable("notifications").set({ number_states }).where("id", "=", id).execute();
}

/** A code that is copied to another number does not decrypt. */
const placeOf = (id: string, number: string) => `${id}.code.${number}`;
