import { lineAt, readPattern } from "./line.ts";
import {
  compilePattern,
  matchesPath,
  meansEverything,
  namesDotfile,
  type PathPattern,
  reachesBelow,
} from "./pattern.ts";

/** A line of .toolignore. */
export interface IgnoreRule extends PathPattern {
  /** From 1. */
  readonly line: number;
  /** As written, the exclamation mark included. */
  readonly text: string;
}

/** The rules of a .toolignore, in its order. Every text is one: what is no pattern is a comment or empty. */
export function parseIgnore(source: string): IgnoreRule[] {
  const text = source.replace(/^\ufeff/, "");
  const rules: IgnoreRule[] = [];
  for (let at = 0, line = 1; at <= text.length; line++) {
    const found = lineAt(text, at);
    const pattern = readPattern(found);
    if (pattern !== undefined) {
      const written = `${pattern.isNegated ? "!" : ""}${pattern.text}`;
      rules.push({ ...compilePattern(pattern), line, text: written });
    }
    at = found.end + (text.startsWith("\r\n", found.end) ? 2 : 1);
  }
  return rules;
}

/** Why a path is left out. */
export type Reason =
  | { readonly kind: "rule"; readonly rule: IgnoreRule }
  /** Its name begins with a dot, and no line names it. */
  | { readonly kind: "dotfile"; readonly name: string };

/** What is decided about a path. What lies below a folder follows from what is decided about the folder. */
export interface Decision {
  readonly names: readonly string[];
  /** Undefined: it goes along. */
  readonly reason: Reason | undefined;
  /** The last rule that means the path or a folder around it, as an index; -1 where none does. */
  readonly last: number;
  /** The names, those let in though they begin with a dot made such that wildcards mean them. */
  readonly shown: readonly string[];
}

export const ROOT: Decision = { names: [], reason: undefined, last: -1, shown: [] };

export interface IgnoreOptions {
  readonly rules: readonly IgnoreRule[];
  /** Paths that begin with a dot and go along all the same, and that a pattern for everything leaves alone. */
  readonly isNeeded?: (names: readonly string[]) => boolean;
}

/**
 * Decides about a path below a folder that was decided about. The last rule that means the path, or a folder around it,
 * decides; other than in a .gitignore it may bring back what lies in a folder that is left out, so that `*` with lines
 * that negate behind it selects. Names that begin with a dot are left out unless a line names them, or a folder around.
 */
export function decide(parent: Decision, name: string, isFolder: boolean, options: IgnoreOptions): Decision {
  const { rules } = options;
  const names = [...parent.names, name];
  const isNeeded = options.isNeeded?.(names) ?? false;
  const isHidden = name.startsWith(".") && !isNeeded;
  const shown = isNeeded ? [...parent.shown, shownName(name)] : [...parent.shown, name];
  let last = rules.length - 1;
  for (; last > parent.last; last--) {
    const rule = rules[last]!;
    if (isNeeded && !rule.isNegated && meansEverything(rule)) continue;
    if (matchesPath(rule, names, isFolder) || matchesPath(rule, shown, isFolder)) break;
  }
  last = Math.max(last, parent.last);
  const rule = rules[last];
  if (last > parent.last && rule?.isNegated) return { names, reason: undefined, last, shown: shown.map(shownName) };
  const opened = rules[parent.last];
  const isOpened = opened?.isNegated === true && namesDotfile(opened.segments);
  if (isHidden && parent.reason === undefined && !isOpened) {
    return { names, reason: { kind: "dotfile", name }, last, shown };
  }
  if (last > parent.last) return { names, reason: { kind: "rule", rule: rule! }, last, shown };
  return { names, reason: parent.reason, last, shown };
}

/** Whether something below a folder that is left out may go along. */
export function mayHold(folder: Decision, { rules }: IgnoreOptions): boolean {
  return rules.some(
    (rule, i) =>
      i > folder.last && rule.isNegated && (reachesBelow(rule, folder.names) || reachesBelow(rule, folder.shown)),
  );
}

/** A character that no file name has takes the dot's place. */
function shownName(name: string): string {
  return name.replace(/^\./, "\0");
}
