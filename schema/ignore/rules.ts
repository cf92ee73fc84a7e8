import { lineAt, readPattern } from "./line.ts";
import {
  compilePattern,
  matchesPath,
  meansEverything,
  namesFolder,
  type PathName,
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

/** The rules of a .toolignore, in its order. Every text is one: what is not a pattern is a comment or empty. */
export function parseIgnore(source: string): IgnoreRule[] {
  const text = source.replace(/^\ufeff/, "");
  const rules: IgnoreRule[] = [];
  for (let at = 0, line = 1; at <= text.length; line++) {
    const content = lineAt(text, at);
    const pattern = readPattern(content);
    if (pattern !== undefined) {
      const written = `${pattern.isNegated ? "!" : ""}${pattern.text}`;
      rules.push({ ...compilePattern(pattern), line, text: written });
    }
    at = content.end + (text.startsWith("\r\n", content.end) ? 2 : 1);
  }
  return rules;
}

/** Why a path is excluded. */
export type Reason =
  | { readonly kind: "rule"; readonly rule: IgnoreRule }
  /** Its name begins with a dot, and no line that negates names it. */
  | { readonly kind: "dotfile"; readonly name: string };

/** The decision about a path. Paths below an excluded folder are excluded too, unless it `mayHold` others. */
export interface IgnoreDecision {
  readonly names: readonly string[];
  /** Undefined: it is included. */
  readonly reason: Reason | undefined;
  /** The line that re-included it, if it would have been excluded otherwise. */
  readonly broughtBack: IgnoreRule | undefined;
  readonly path: readonly PathName[];
}

export const ROOT: IgnoreDecision = { names: [], reason: undefined, broughtBack: undefined, path: [] };

export interface IgnoreOptions {
  readonly rules: readonly IgnoreRule[];
  /** Paths that are included although their names begin with a dot, and even if a pattern matches everything. */
  readonly isNeeded?: (names: readonly string[]) => boolean;
}

/**
 * Decides about a path in a folder that was decided before, as git does: the last rule that matches the path decides, and
 * nothing is re-included below an excluded folder. Unlike in a .gitignore, a lone `*` leaves folders open, so that later
 * lines can re-include files in them; and names that begin with a dot are excluded unless a line that negates names them.
 */
export function decide(
  parent: IgnoreDecision,
  name: string,
  isFolder: boolean,
  options: IgnoreOptions,
): IgnoreDecision {
  const names = [...parent.names, name];
  const isNeeded = options.isNeeded?.(names) ?? false;
  const isHidden = name.startsWith(".") && !isNeeded;
  const path = [...parent.path, { name, isPlain: !isHidden, isOpen: !isHidden }];
  const decided = (reason: Reason | undefined, broughtBack?: IgnoreRule): IgnoreDecision => ({
    names,
    reason,
    broughtBack,
    path: broughtBack === undefined ? path : path.map((one) => ({ ...one, isOpen: true })),
  });
  if (parent.reason !== undefined && !mayHold(parent, options)) return decided(parent.reason);
  const rule = options.rules.findLast(
    (one) => !(isNeeded && !one.isNegated && meansEverything(one)) && matchesPath(one, path, isFolder),
  );
  if (rule?.isNegated) return decided(undefined, rule);
  if (rule !== undefined) return decided({ kind: "rule", rule });
  return decided(parent.reason ?? (isHidden ? { kind: "dotfile", name } : undefined));
}

/**
 * Whether something below an excluded folder may be included: below one that a lone `*` excludes, files that later lines
 * re-include; in one whose name begins with a dot, files that a line names.
 */
export function mayHold({ reason, path }: IgnoreDecision, { rules }: IgnoreOptions): boolean {
  if (reason === undefined) return true;
  if (reason.kind === "rule" && reason.rule.text !== "*") return false;
  const first = reason.kind === "rule" ? rules.indexOf(reason.rule) + 1 : 0;
  return rules.some((rule, i) => i >= first && rule.isNegated && reachesBelow(rule, path));
}

/** A line that would re-include something below a folder that stays excluded, and names that folder. */
export function vainRule(folder: IgnoreDecision, options: IgnoreOptions): IgnoreRule | undefined {
  if (folder.reason === undefined || mayHold(folder, options)) return undefined;
  const name = folder.names.at(-1)!;
  return options.rules.find((rule) => rule.isNegated && namesFolder(rule, name) && reachesBelow(rule, folder.path));
}
