import { ALL, both, type Condition, either, print } from "./conditions.ts";

/** "Length Constraints: Minimum length of 0. Maximum length of 1024": FilterLogEvents, filterPattern. */
export const MAX_PATTERN_LENGTH = 1024;

/** Each pattern is a scan of its own. More than these cost longer than they save. */
const MAX_PATTERNS = 8;

/**
 * The condition as patterns that are short enough: an event that satisfies it is matched by at least one. A long `||` is
 * cut into several patterns; where that does not help, conditions are left out. Empty if only "every event" is left.
 */
export function fit(condition: Condition): { readonly patterns: readonly string[]; readonly isWhole: boolean } {
  let whole = condition;
  for (let isWhole = true; ; isWhole = false) {
    if (whole.kind === "all") return { patterns: [], isWhole };
    const parts = split(whole);
    if (parts !== undefined && parts.length <= MAX_PATTERNS) return { patterns: parts.map(pattern), isWhole };
    whole = weaken(whole);
  }
}

const pattern = (condition: Condition) => `{ ${print(condition)} }`;
const fits = (condition: Condition) => pattern(condition).length <= MAX_PATTERN_LENGTH;

/** Conditions that fit and of which one holds where the whole does; undefined if nothing can be cut. */
function split(condition: Condition): readonly Condition[] | undefined {
  if (fits(condition)) return [condition];
  if (condition.kind === "or") return splitOr(condition.terms);
  if (condition.kind !== "and") return undefined;
  // (a || b) && c is (a && c) || (b && c): the longest of the alternatives gains most.
  const longest = longestOf(condition.terms.filter(({ kind }) => kind === "or"));
  if (longest?.kind !== "or") return undefined;
  const rest = condition.terms.filter((term) => term !== longest);
  const parts: Condition[] = [];
  let group: Condition[] = [];
  for (const term of longest.terms) {
    if (group.length > 0 && !fits(both([either([...group, term]), ...rest]))) {
      parts.push(both([either(group), ...rest]));
      group = [];
    }
    group.push(term);
  }
  parts.push(both([either(group), ...rest]));
  if (parts.length > MAX_PATTERNS || parts.length === 1) return undefined;
  return all(parts.map(split));
}

function splitOr(terms: readonly Condition[]): readonly Condition[] | undefined {
  const parts: Condition[] = [];
  let group: Condition[] = [];
  const close = () => {
    if (group.length > 0) parts.push(either(group));
    group = [];
  };
  for (const term of terms) {
    if (fits(either([...group, term]))) {
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

function all(parts: readonly (readonly Condition[] | undefined)[]): readonly Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const part of parts) {
    if (part === undefined) return undefined;
    conditions.push(...part);
  }
  return conditions;
}

/** Something that more events satisfy and that is shorter. */
function weaken(condition: Condition): Condition {
  if (condition.kind === "and") {
    const longest = longestOf(condition.terms);
    const rest = condition.terms.filter((term) => term !== longest);
    return rest.length === 0 ? ALL : both(rest);
  }
  if (condition.kind === "or") {
    const longest = longestOf(condition.terms);
    return longest?.kind === "and"
      ? either(condition.terms.map((term) => (term === longest ? weaken(longest) : term)))
      : ALL;
  }
  return ALL;
}

function longestOf(conditions: readonly Condition[]): Condition | undefined {
  let longest: Condition | undefined;
  for (const one of conditions) if (longest === undefined || print(one).length > print(longest).length) longest = one;
  return longest;
}
