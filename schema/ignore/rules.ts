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
  /** Its name begins with a dot, and no line that negates names it. */
  | { readonly kind: "dotfile"; readonly name: string };

/** What is decided about a path. What is below a folder that is left out follows from that, unless it `mayHold`. */
export interface Decision {
  readonly names: readonly string[];
  /** Undefined: it goes along. */
  readonly reason: Reason | undefined;
  /** The line that brought it back, where it would have been left out else. */
  readonly broughtBack: IgnoreRule | undefined;
  readonly path: readonly PathName[];
}

export const ROOT: Decision = { names: [], reason: undefined, broughtBack: undefined, path: [] };

export interface IgnoreOptions {
  readonly rules: readonly IgnoreRule[];
  /** Paths that begin with a dot and go along all the same, and that a pattern for everything leaves alone. */
  readonly isNeeded?: (names: readonly string[]) => boolean;
}

/**
 * Decides about a path below a folder that was decided about, as git does: the last rule that means the path decides, and
 * nothing is brought back below a folder that is left out. Other than in a .gitignore a lone `*` leaves folders open for
 * what later lines bring back, so that it selects; and names that begin with a dot are left out unless a line that
 * negates names them.
 */
export function decide(parent: Decision, name: string, isFolder: boolean, options: IgnoreOptions): Decision {
  const names = [...parent.names, name];
  const isNeeded = options.isNeeded?.(names) ?? false;
  const isHidden = name.startsWith(".") && !isNeeded;
  const path = [...parent.path, { name, isPlain: !isHidden, isOpen: !isHidden }];
  const decided = (reason: Reason | undefined, broughtBack?: IgnoreRule): Decision => ({
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
 * Whether something below a folder that is left out may go along: below one that a lone `*` leaves out what later lines
 * bring back, and in one whose name begins with a dot what a line names.
 */
export function mayHold({ reason, path }: Decision, { rules }: IgnoreOptions): boolean {
  if (reason === undefined) return true;
  if (reason.kind === "rule" && reason.rule.text !== "*") return false;
  const first = reason.kind === "rule" ? rules.indexOf(reason.rule) + 1 : 0;
  return rules.some((rule, i) => i >= first && rule.isNegated && reachesBelow(rule, path));
}

/** A line that would bring back something below a folder that stays left out, and names that folder. */
export function vainRule(folder: Decision, options: IgnoreOptions): IgnoreRule | undefined {
  if (folder.reason === undefined || mayHold(folder, options)) return undefined;
  const name = folder.names.at(-1)!;
  return options.rules.find((rule) => rule.isNegated && namesFolder(rule, name) && reachesBelow(rule, folder.path));
}
