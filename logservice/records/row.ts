import { randomBytes } from "node:crypto";
import { type RawBuilder, sql } from "kysely";

/** Without vowels, so that no words come about, and without what is read wrongly. */
const LETTERS = "23456789bcdfghjkmnpqrstvwxyz";
/** 28 letters to the 20th are 2^96: nobody guesses one, no two are the same. */
const LENGTH = 20;

/** A new id of a record. */
export function newId(): string {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of randomBytes(LENGTH)) {
      // Bytes beyond the last whole multiple would make the first letters more frequent.
      if (byte < 252 && id.length < LENGTH) id += LETTERS[byte % LETTERS.length];
    }
  }
  return id;
}

/** The time of a change. Never before the time that the row already has: clocks are set back. */
export function changedAt(now: string): RawBuilder<string> {
  return sql<string>`max(updated_at, ${now})`;
}
