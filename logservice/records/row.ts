import { randomBytes } from "node:crypto";
import type { ExpressionBuilder } from "kysely";
import type { Tables } from "./tables.ts";

/** Without vowels, so that no words result, and without letters that look like others. */
const LETTERS = "23456789bcdfghjkmnpqrstvwxyz";
/** 28^20 is 2^96: ids cannot be guessed and do not collide. */
const LENGTH = 20;

/** A random id for a new row. */
export function newId(): string {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of randomBytes(LENGTH)) {
      // Bytes past the last multiple of 28 would make the first letters more frequent.
      if (byte < 252 && id.length < LENGTH) id += LETTERS[byte % LETTERS.length];
    }
  }
  return id;
}

/** The time of a change, which never goes back, even if the clock was set back. */
export function changedAt(now: string) {
  return (row: ExpressionBuilder<Tables, "projects" | "alerts" | "notifications" | "searches" | "teams">) =>
    row.case().when("updated_at", ">", now).then(row.ref("updated_at")).else(now).end();
}
