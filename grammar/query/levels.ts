/** The levels, least severe first. */
export const LEVELS = ["debug", "info", "notice", "warn", "error", "critical", "alert", "emergency"] as const;

export type Level = (typeof LEVELS)[number];

/** Every spelling of a level, equal in every comparison. */
export const LEVEL_SPELLINGS: Readonly<Record<Level, readonly string[]>> = {
  debug: ["debug", "trace", "verbose"],
  info: ["info"],
  notice: ["notice"],
  warn: ["warn", "warning"],
  error: ["error", "err"],
  critical: ["critical", "crit"],
  alert: ["alert"],
  emergency: ["emergency", "emerg", "fatal"],
};

/** The level that a spelling names: `warning` is `warn`. Undefined for any other text; upper case is other text. */
export function levelOf(spelling: string): Level | undefined {
  return BY_SPELLING.get(spelling);
}

/** 0 for debug up to 7 for emergency. */
export function severity(level: Level): number {
  return LEVELS.indexOf(level);
}

/** Stages that a query may name by their word alone. */
export const STAGE_WORDS = ["production", "staging", "development"] as const;

const BY_SPELLING: ReadonlyMap<string, Level> = new Map(
  LEVELS.flatMap((level) => LEVEL_SPELLINGS[level].map((spelling) => [spelling, level] as const)),
);
