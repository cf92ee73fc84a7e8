import { LEVELS, type Level, levelOf } from "../../grammar/query/index.ts";

/** The levels by their names on the wire, least severe first. The language says `warn`; clients read `warning`. */
export const LEVEL_NAMES = LEVELS.map((level) => (level === "warn" ? "warning" : level));

export type LevelName = Exclude<Level, "warn"> | "warning";

/** The name on the wire of a level in any spelling. */
export function levelName(spelling: string): LevelName {
  const level = levelOf(spelling)!;
  return level === "warn" ? "warning" : level;
}
