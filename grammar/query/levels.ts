/** The levels, least severe first. */
export const LEVELS = ["debug", "info", "notice", "warn", "error", "critical", "alert", "emergency"] as const;

export type Level = (typeof LEVELS)[number];

/** Every spelling of a level in lower case. They are equal in every comparison, in any case. */
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

/** The level that a spelling names, in any case: `Warning` is `warn`. Undefined for any other text. */
export function levelOf(spelling: string): Level | undefined {
  return BY_SPELLING.get(spelling) ?? (spelling.length <= MAX_LENGTH ? BY_SPELLING.get(lower(spelling)) : undefined);
}

/** Letters of ASCII in lower case, all others as they are: the Kelvin sign is not a k. */
export const lower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** 0 for debug up to 7 for emergency. */
export function severity(level: Level): number {
  return LEVELS.indexOf(level);
}

/** Stages that a query may name by their word alone. */
export const STAGE_WORDS = ["production", "staging", "development"] as const;

/** Every spelling in lower and in upper case, as most programs write them; mixed case is folded first. */
const BY_SPELLING: ReadonlyMap<string, Level> = new Map(
  LEVELS.flatMap((level) =>
    LEVEL_SPELLINGS[level].flatMap((spelling) => [spelling, spelling.toUpperCase()].map((text) => [text, level])),
  ),
);

/** Every spelling is at most this long; a longer text need not be folded. */
const MAX_LENGTH = Math.max(...[...BY_SPELLING.keys()].map(({ length }) => length));
