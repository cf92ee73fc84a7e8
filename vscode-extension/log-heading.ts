/** The first line of a logs document. The manifest tells the language by how it begins. */
export function logHeading(name: string, query: string, state: { maxLines: number; dropped: number; isLive: boolean }) {
  const { maxLines, dropped, isLive } = state;
  const what = query === "" ? "all entries" : query.replace(/\s+/g, " ");
  const bound = `the newest ${grouped(maxLines)} lines${dropped > 0 ? `, ${grouped(dropped)} before are not shown` : ""}`;
  return `Logs of ${name}: ${what} (${isLive ? "live" : "ended"}, ${bound})`;
}

/** A document's name in its tab: a slash would begin a folder. */
export function logTitle(name: string, query: string): string {
  const what = query === "" ? "logs" : query.replace(/\s+/g, " ");
  const short = what.length <= MAX_TITLE_LENGTH ? what : `${what.slice(0, MAX_TITLE_LENGTH - 1)}\u2026`;
  return `${name}: ${short}`.replaceAll("/", "\u2215");
}

/** Tabs are narrow. */
const MAX_TITLE_LENGTH = 40;

const grouped = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
