import { ANY_EVENT, allOf, anyOf, type PatternCondition, print } from "./conditions.ts";

/** "Length Constraints: Minimum length of 0. Maximum length of 1024": FilterLogEvents, filterPattern. */
export const MAX_PATTERN_LENGTH = 1024;

/** Each pattern is a scan of its own. More than these cost longer than they save. */
const MAX_PATTERNS = 8;

/**
 * The condition as patterns that are short enough: an event that satisfies it is matched by at least one. A long `||` is
 * cut into several patterns; where that does not help, conditions are left out. Empty if only "every event" is left.
 */
export function fit(condition: PatternCondition): { readonly patterns: readonly string[]; readonly isWhole: boolean } {
  let whole = condition;
  for (let isWhole = true; ; isWhole = false) {
    if (whole.kind === "all") return { patterns: [], isWhole };
    const parts = split(whole);
    if (parts !== undefined && parts.length <= MAX_PATTERNS) return { patterns: parts.map(pattern), isWhole };
    whole = weaken(whole);
  }
}

const pattern = (condition: PatternCondition) => `{ ${print(condition)} }`;
const fits = (condition: PatternCondition) => pattern(condition).length <= MAX_PATTERN_LENGTH;

/** Conditions that fit and of which one holds where the whole does; undefined if nothing can be cut. */
function split(condition: PatternCondition): readonly PatternCondition[] | undefined {
  if (fits(condition)) return [condition];
  if (condition.kind === "or") return splitOr(condition.terms);
  if (condition.kind !== "and") return undefined;
  // (a || b) && c is (a && c) || (b && c): the longest of the alternatives gains most.
  const longest = longestOf(condition.terms.filter(({ kind }) => kind === "or"));
  if (longest?.kind !== "or") return undefined;
  const rest = condition.terms.filter((term) => term !== longest);
  const parts: PatternCondition[] = [];
  let group: PatternCondition[] = [];
  for (const term of longest.terms) {
    if (group.length > 0 && !fits(allOf([anyOf([...group, term]), ...rest]))) {
      parts.push(allOf([anyOf(group), ...rest]));
      group = [];
    }
    group.push(term);
  }
  parts.push(allOf([anyOf(group), ...rest]));
  if (parts.length > MAX_PATTERNS || parts.length === 1) return undefined;
  return all(parts.map(split));
}

function splitOr(terms: readonly PatternCondition[]): readonly PatternCondition[] | undefined {
  const parts: PatternCondition[] = [];
  let group: PatternCondition[] = [];
  const close = () => {
    if (group.length > 0) parts.push(anyOf(group));
    group = [];
  };
  for (const term of terms) {
    if (fits(anyOf([...group, term]))) {
      group.push(term);
      continue;
    }
    close();
    if (fits(term)) group.push(term);
    else {
      const own = split(term);
      if (own === undefined) return undefined;
      parts.push(...own);
    }
  }
  close();
  return parts;
}

function all(parts: readonly (readonly PatternCondition[] | undefined)[]): readonly PatternCondition[] | undefined {
  const conditions: PatternCondition[] = [];
  for (const part of parts) {
    if (part === undefined) return undefined;
    conditions.push(...part);
  }
  return conditions;
}

/** Something that more events satisfy and that is shorter. */
function weaken(condition: PatternCondition): PatternCondition {
  if (condition.kind === "and") {
    const longest = longestOf(condition.terms);
    const rest = condition.terms.filter((term) => term !== longest);
    return rest.length === 0 ? ANY_EVENT : allOf(rest);
  }
  if (condition.kind === "or") {
    const longest = longestOf(condition.terms);
    return longest?.kind === "and"
      ? anyOf(condition.terms.map((term) => (term === longest ? weaken(longest) : term)))
      : ANY_EVENT;
  }
  return ANY_EVENT;
}

function longestOf(conditions: readonly PatternCondition[]): PatternCondition | undefined {
  let longest: PatternCondition | undefined;
  for (const one of conditions) if (longest === undefined || print(one).length > print(longest).length) longest = one;
  return longest;
}
