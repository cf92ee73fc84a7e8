/**
 * The stage that commands mean if none is given: a mistake there reaches no user. It is not in the table of commands, which a
 * bundle that imports any of it has all of.
 */
export const DEFAULT_STAGE = "staging";
