import { timingSafeEqual } from "node:crypto";
import type { Seal } from "../records/seal.ts";

/** The purpose of a link. A link for one purpose is of no use for another one. */
export type LinkPurpose = "confirm" | "sign-in" | "invite" | "join";

/** The last part of the path of a link: the id of the record, and what only this installation can make from it. */
export function linkOf(seal: Seal, purpose: LinkPurpose, id: string): string {
  return `${id}.${seal.sign(id, purpose)}`;
}

/** The id of the record that a link of this purpose is of; undefined if we did not make it. */
export function idOfLink(seal: Seal, purpose: LinkPurpose, link: string): string | undefined {
  const id = link.slice(0, Math.max(0, link.indexOf(".")));
  return isEqual(linkOf(seal, purpose, id), link) ? id : undefined;
}

/** Compares secrets in a time that does not depend on where they differ. */
export function isEqual(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
