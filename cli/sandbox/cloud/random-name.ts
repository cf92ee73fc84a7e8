import { randomInt } from "node:crypto";

const pick = (characters: string, length: number) =>
  Array.from({ length }, () => characters[randomInt(characters.length)]).join("");

/** As the ids of API Gateway: lower-case letters and digits. */
export const randomId = (length: number) => pick("abcdefghijklmnopqrstuvwxyz0123456789", length);

/** As the ends of names that CloudFormation makes up. */
export const randomLetters = (length: number) => pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", length);
