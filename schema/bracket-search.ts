import { applyEdits, type Fix, type Problem, type TextEdit } from "../grammar/problem.ts";
import { SYNTAX_CODES } from "./json.ts";

// Every candidate is read as JSON, and what can be read is checked: in a longer text that takes too long.
const MAX_LENGTH = 20_000;
const MAX_CANDIDATES = 6000;
const MAX_CHECKS = 24;

/** What brackets that do not pair make of a text; other codes have fixes of their own. */
const SUSPECT: ReadonlySet<string> = new Set([
  "config/unclosed",
  "config/unopened",
  "config/wrong-bracket",
  "config/trailing-text",
  "config/key-expected",
  "config/unexpected",
]);

/**
 * Where one bracket is missing, surplus or of the other kind, the parser sees it late, often in another place. Tried out
 * here: the changes of one bracket after which the text is JSON and nothing is wrong that was not wrong before. The
 * first problem of brackets gets them as its fixes.
 */
export function withBracketFix(
  text: string,
  problems: readonly Problem[],
  check: (text: string) => readonly Problem[],
  wanted: (problem: Problem) => boolean = () => true,
): readonly Problem[] {
  const first = problems.find((problem) => SUSPECT.has(problem.code) && wanted(problem));
  if (first === undefined || text.length > MAX_LENGTH) return problems;
  const found: Fix[] = [];
  let checks = 0;
  const before = problems.map(({ code }) => code).filter((code) => !SYNTAX_CODES.has(code));
  for (const { edit, title } of candidates(text)) {
    const fixed = applyEdits(text, [edit]);
    if (!isJson(fixed)) continue;
    if (++checks > MAX_CHECKS || found.length > 2) break;
    const left = [...before];
    const isBetter = check(fixed).every(({ code }) => {
      const at = left.indexOf(code);
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    });
    if (isBetter) found.push({ title, edits: [edit] });
  }
  if (found.length === 0) return problems;
  const isCertain = found.length === 1;
  const { fix: _fix, alternatives: _alternatives, ...rest } = first;
  const [best, ...others] = found.map((fix): Fix => (isCertain ? fix : { ...fix, isSuggestion: true }));
  const fixed: Problem = { ...rest, fix: best!, ...(others.length > 0 && { alternatives: others }) };
  return problems.map((problem) => (problem === first ? fixed : problem));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Candidate {
  readonly edit: TextEdit;
  readonly title: string;
}

/** Changes of one bracket after which as many close as open. */
function* candidates(text: string): Generator<Candidate> {
  const tokens = [...text.matchAll(/"(?:[^"\\\r\n]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g)];
  const count = (bracket: string) => tokens.filter(([token]) => token === bracket).length;
  const braces = count("{") - count("}");
  const brackets = count("[") - count("]");
  let made = 0;
  const replace = (index: number, length: number, by: string, title: string): Candidate => ({
    edit: { span: { start: index, end: index + length }, text: by },
    title,
  });
  const [open, close] = braces !== 0 ? ["{", "}"] : ["[", "]"];
  const lacking = Math.abs(braces) + Math.abs(brackets) === 1 ? Math.sign(braces + brackets) : undefined;
  // One of the other kind: one too many here, one too few there.
  const isSwapped = Math.abs(braces) === 1 && brackets === -braces;
  for (const [i, { 0: token, index }] of tokens.entries()) {
    if (++made > MAX_CANDIDATES) return;
    const next = tokens[i + 1]?.[0];
    const end = index + token.length;
    if (lacking === 1) {
      const endsValue = !"{[,:".includes(token) || token.length > 1;
      const canEnd = next === undefined || next === "," || next === "}" || next === "]";
      if (endsValue && canEnd) yield replace(end, 0, close, `Add ${close}`);
      if (token === open) yield replace(index, 1, "", `Remove ${open}`);
    } else if (lacking === -1) {
      const beginsValue = token === ":" || token === "," || token === "[" || token === "{";
      if (beginsValue) yield replace(end, 0, token === ":" ? ` ${open}` : open, `Add ${open}`);
      if (token === close) yield replace(index, 1, "", `Remove ${close}`);
    } else if (isSwapped) {
      if (braces === 1 && token === "]") yield replace(index, 1, "}", "Replace by }");
      if (braces === -1 && token === "}") yield replace(index, 1, "]", "Replace by ]");
      if (braces === 1 && token === "{") yield replace(index, 1, "[", "Replace by [");
      if (braces === -1 && token === "[") yield replace(index, 1, "{", "Replace by {");
    }
  }
}
