import { RpcError } from "../error.ts";

/** Where a page of entries ended that are sorted by time, then by id. */
export interface PageEnd {
  readonly at: string;
  readonly id: string;
}

/** The cursor for the page after this end. */
function printCursor({ at, id }: PageEnd): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** Reads the cursor of a request; undefined for the first page. Throws `bad_request`. */
export function readCursor(text: string | undefined): PageEnd | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const [at, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (typeof at === "string" && typeof id === "string") return { at, id };
  } catch {
    // Reported below.
  }
  throw new RpcError("bad_request", "cursor: is not one that an answer returned");
}

/** A page of the entries that were found, of which one more than `limit` was asked for: that tells whether there is another. */
export function pageOf<Row>(
  entries: readonly Row[],
  limit: number,
  endOf: (row: Row) => PageEnd,
): { readonly rows: readonly Row[]; readonly cursor?: string } {
  const rows = entries.slice(0, limit);
  const last = rows.at(-1);
  return { rows, ...(entries.length > limit && last !== undefined && { cursor: printCursor(endOf(last)) }) };
}
