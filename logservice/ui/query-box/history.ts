import { keep, readKept } from "../data/preferences.ts";

/** So many queries of a project are remembered in this browser. */
const MOST = 30;

/** The queries that were run last, the latest first. */
export function pastQueries(projectId: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(readKept(`queries.${projectId}`) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Remembers a query that was run. One that goes on from the latest takes its place: it was still being typed. */
export function rememberQuery(projectId: string, query: string): void {
  const text = query.trim();
  if (text === "") return;
  const past = [...pastQueries(projectId)].filter((one) => one !== text);
  if (past[0] !== undefined && text.startsWith(past[0])) past.shift();
  keep(`queries.${projectId}`, JSON.stringify([text, ...past].slice(0, MOST)));
}
