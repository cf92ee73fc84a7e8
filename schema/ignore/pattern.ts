import type { IgnorePattern } from "./line.ts";

/** A pattern of .toolignore, ready to be matched against paths. */
export interface PathPattern {
  readonly isNegated: boolean;
  /** Ends in `/`: matches folders only. */
  readonly isForFolders: boolean;
  /** Leads from the project's own folder; others begin at any depth, which `segments` say by a leading `**`. */
  readonly isAnchored: boolean;
  readonly segments: readonly Segment[];
}

/** `**`: any number of names, none included. A text: that name. Else what a name's characters are, one after another. */
type Segment = typeof ANY_DEPTH | string | readonly Token[];

const ANY_DEPTH = Symbol("**");
const ANY_TEXT = Symbol("*");

/** One character, any number of them, or one of those that a test accepts. */
type Token = string | typeof ANY_TEXT | ((char: string) => boolean);

/** Compiles a pattern: `*`, `?`, `[a-z]`, `[!a]`, `\` before a character that is meant as it is, `**` as a whole name. */
export function compilePattern({ text, isNegated }: Pick<IgnorePattern, "text" | "isNegated">): PathPattern {
  const isAnchored = /^\.?\//.test(text);
  const path = text.replace(/^\.?\//, "");
  const isForFolders = path.endsWith("/");
  // An empty name, as in `a//b`, means nothing.
  const segments = path.replace(/\/$/, "").split("/").map(compileName).filter(isNoRepeat);
  // A pattern that ends so matches the contents of a folder, not the folder.
  if (segments.at(-1) === ANY_DEPTH) segments.push([ANY_TEXT]);
  // Other than in a .gitignore with a slash in the middle too: any path that contains it.
  if (!isAnchored && segments[0] !== ANY_DEPTH) segments.unshift(ANY_DEPTH);
  return { isNegated, isForFolders, isAnchored, segments };
}

/** Whether the pattern matches every name: a lone `*`, `**` or `./*`. */
export function meansEverything({ segments }: PathPattern): boolean {
  return segments.every((segment) => segment === ANY_DEPTH || isAnyName(segment));
}

/** A name of a path. A line that re-includes matches a name that begins with a dot only if it spells out the dot. */
export interface PathName {
  readonly name: string;
  /** Whether wildcards in names may mean it. */
  readonly isPlain: boolean;
  /** Whether `**` may lead through it. */
  readonly isOpen: boolean;
}

/** Whether the pattern matches this path itself; the caller concludes what that means for the paths below it. */
export function matchesPath(pattern: PathPattern, path: readonly PathName[], isFolder: boolean): boolean {
  if (pattern.isForFolders && !isFolder) return false;
  const { segments, isNegated } = pattern;
  const last = segments.at(-1);
  if (last === undefined || last === ANY_DEPTH || !isName(last, path.at(-1)!, isNegated)) return false;
  // Which beginnings of the pattern match the names so far.
  let reached = new Set([0]);
  for (const name of path) {
    const next = new Set<number>();
    for (const at of behindDepths(reached, segments)) {
      const segment = segments[at];
      if (segment === undefined) continue;
      if (segment !== ANY_DEPTH) {
        if (isName(segment, name, isNegated)) next.add(at + 1);
      } else if (!isNegated || name.isOpen) next.add(at);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(segments.length);
}

/** Whether the pattern may match a path below this folder. */
export function reachesBelow({ segments, isNegated }: PathPattern, folder: readonly PathName[]): boolean {
  for (const [i, name] of folder.entries()) {
    const segment = segments[i];
    if (segment === undefined) return false;
    if (segment === ANY_DEPTH) {
      // A dot that is not named further on stays closed.
      return !isNegated || folder.slice(i).every(({ isOpen }) => isOpen) || namesDotfile(segments.slice(i));
    }
    if (!isName(segment, name, isNegated)) return false;
  }
  return segments.length > folder.length;
}

/** Whether the pattern names this folder itself, and something below it. */
export function namesFolder({ segments }: PathPattern, name: string): boolean {
  const at = segments.indexOf(name);
  return at >= 0 && at < segments.length - 1;
}

/** Whether the pattern spells out a name that begins with a dot. */
function namesDotfile(segments: PathPattern["segments"]): boolean {
  return segments.some((segment) => segment !== ANY_DEPTH && segment[0] === ".");
}

/** `**` after `**` adds nothing. */
function isNoRepeat(segment: Segment, at: number, all: readonly Segment[]): boolean {
  return segment !== ANY_DEPTH || all[at - 1] !== ANY_DEPTH;
}

function behindDepths(reached: ReadonlySet<number>, segments: readonly Segment[]): Set<number> {
  const all = new Set(reached);
  // Elements that are added while a set is walked are walked too.
  for (const at of all) if (segments[at] === ANY_DEPTH) all.add(at + 1);
  return all;
}

function isAnyName(segment: Segment): boolean {
  return Array.isArray(segment) && segment.every((token) => token === ANY_TEXT);
}

function isName(segment: Exclude<Segment, typeof ANY_DEPTH>, { name, isPlain }: PathName, isNegated: boolean): boolean {
  if (typeof segment === "string") return segment === name;
  if (isNegated && !isPlain && segment[0] !== ".") return false;
  // The last star: where it is and how much it has taken. A later star makes the ones before it final.
  let star = -1;
  let taken = 0;
  let at = 0;
  const chars = [...name];
  for (let i = 0; i < chars.length; ) {
    const token = segment[at];
    if (token === ANY_TEXT) {
      star = at++;
      taken = i;
    } else if (token !== undefined && (typeof token === "function" ? token(chars[i]!) : token === chars[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++taken;
    } else return false;
  }
  while (segment[at] === ANY_TEXT) at++;
  return at === segment.length;
}

/** A backslash with nothing after it, a set that is never closed: the pattern matches nothing, as in a .gitignore. */
const NEVER = () => false;

function compileName(text: string): Segment {
  if (text === "**") return ANY_DEPTH;
  const tokens: Token[] = [];
  const chars = [...text];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === "*") {
      if (tokens.at(-1) !== ANY_TEXT) tokens.push(ANY_TEXT);
    } else if (char === "?") tokens.push(() => true);
    else if (char === "\\") tokens.push(chars[++i] ?? NEVER);
    else if (char === "[") {
      const set = readSet(chars, i);
      tokens.push(set?.accepts ?? NEVER);
      i = set?.end ?? i;
    } else tokens.push(char);
  }
  return tokens.every((token) => typeof token === "string") ? tokens.join("") : tokens;
}

/** POSIX names of sets of characters, as `[[:digit:]]` has them. */
const CLASSES: Record<string, RegExp> = {
  alnum: /[\p{L}\p{N}]/u,
  alpha: /\p{L}/u,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /\p{Ll}/u,
  punct: /[\p{P}\p{S}]/u,
  space: /\s/,
  upper: /\p{Lu}/u,
  xdigit: /[0-9a-fA-F]/,
};

/** `[abc]`, `[a-c]`, `[!abc]`, `[^abc]`; a `]` in first place is one of them. Undefined if it is never closed. */
function readSet(chars: readonly string[], start: number): { accepts(char: string): boolean; end: number } | undefined {
  let i = start + 1;
  const isInverse = chars[i] === "!" || chars[i] === "^";
  if (isInverse) i++;
  const accepts: ((char: string) => boolean)[] = [];
  for (const first = i; i < chars.length; i++) {
    let char = chars[i]!;
    if (char === "]" && i > first) {
      return { accepts: (one) => accepts.some((test) => test(one)) !== isInverse, end: i };
    }
    const named = char === "[" ? /^\[:(\w+):\]/.exec(chars.slice(i).join("")) : null;
    const characterClass = named && CLASSES[named[1]!];
    if (characterClass) {
      accepts.push((one) => characterClass.test(one));
      i += named[0].length - 1;
      continue;
    }
    if (char === "\\" && i + 1 < chars.length) char = chars[++i]!;
    const end = chars[i + 2];
    if (chars[i + 1] === "-" && end !== undefined && end !== "]") {
      const begin = char;
      accepts.push((one) => one === begin || (begin <= one && one <= end));
      i += 2;
    } else accepts.push((one) => one === char);
  }
  return undefined;
}
