/** A half-open range of UTF-16 offsets into the text it was parsed from. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A replacement of `span` by `text`; an empty span inserts. */
export interface TextEdit {
  readonly span: Span;
  readonly text: string;
}

/** A way to solve a problem: in words, and as a change if that is certain. */
export interface Remedy {
  readonly hint?: string | undefined;
  readonly fix?: Fix | undefined;
}

/** A change that removes the problem it is attached to. The edits do not overlap. */
export interface Fix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  /**
   * Set when only the user can know whether it is right: it writes a placeholder, or one of several possible values, or
   * removes something that they wrote. Offered for its problem, never applied together with others.
   */
  readonly isSuggestion?: true;
}

export type Severity = "error" | "warning";

/**
 * Expected wrong input, as a value. `code` is stable (`area/kebab`) and may be matched by programs;
 * `message` says what is wrong and quotes the user's text; `hint` says what to do.
 */
export interface Problem {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string;
  readonly span: Span;
  /** The likeliest change. */
  readonly fix?: Fix;
  /** The same in another file, which `message` names and where it really is; `span` is what refers to that file. */
  readonly elsewhere?: Elsewhere;
  /** Other changes that remove the problem; all of them suggestions. */
  readonly alternatives?: readonly Fix[];
}

export interface Elsewhere {
  /** Relative to the folder of the file that was checked. */
  readonly path: string;
  readonly text: string;
  readonly problem: Problem;
}

/** The result of every parser: the value, or all problems of the text (at least one). */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The problem and its remedy as one sentence, for places without room for a second line. */
export function describe(problem: Problem): string {
  return problem.hint === undefined ? problem.message : `${problem.message}: ${problem.hint}`;
}

/** A place in a text: 1-based line and 1-based column, the column in UTF-16 units as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Answers positions for many offsets of one text without rescanning it. A line ends at LF, CRLF or CR. */
export class LineIndex {
  readonly #starts: number[] = [0];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
    for (let i = 0; i < source.length; i++) {
      const code = source.charCodeAt(i);
      if (code === 10 || (code === 13 && source.charCodeAt(i + 1) !== 10)) this.#starts.push(i + 1);
    }
  }

  /** The position of `offset`; an offset past the end is the end. */
  position(offset: number): Position {
    const at = Math.max(0, Math.min(offset, this.#source.length));
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: at - this.#starts[low]! + 1 };
  }

  /** The text of a 1-based line without its line ending, and the offset where it starts. */
  line(number: number): { text: string; start: number } {
    const start = this.#starts[number - 1] ?? this.#source.length;
    const next = this.#starts[number] ?? this.#source.length;
    // By its last characters: a line may be long, and is asked for again for each of its problems.
    const hasLf = next > start && this.#source[next - 1] === "\n";
    const end = next - (hasLf ? 1 : 0);
    return { text: this.#source.slice(start, end > start && this.#source[end - 1] === "\r" ? end - 1 : end), start };
  }
}

/** Applies edits to a text. They may come in any order and must not overlap. */
export function applyEdits(source: string, edits: readonly TextEdit[]): string {
  const sorted = [...edits].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  let result = "";
  let at = 0;
  for (const edit of sorted) {
    if (edit.span.start < at) throw new Error(`edits overlap at offset ${edit.span.start}`);
    result += source.slice(at, edit.span.start) + edit.text;
    at = edit.span.end;
  }
  return result + source.slice(at);
}

/** All changes that are offered for a problem, the likeliest first. */
export function fixesOf({ fix, alternatives = [] }: Problem): readonly Fix[] {
  return fix === undefined ? alternatives : [fix, ...alternatives];
}

/**
 * The edits of all fixes that can be made at once: no suggestions, and one that touches an earlier one is left for the
 * next round.
 */
export function editsTogether(problems: readonly Problem[]): TextEdit[] {
  const edits: TextEdit[] = [];
  for (const { fix } of problems) {
    const isFree = fix?.edits.every(({ span }) =>
      edits.every((edit) => edit.span.end < span.start || span.end < edit.span.start),
    );
    if (isFree && !fix!.isSuggestion) edits.push(...fix!.edits);
  }
  return edits;
}

export interface RenderOptions {
  /** The text that the problem's span points into. */
  readonly source: string;
  /** Named before the position; without it (a query typed on the command line) no position is shown. */
  readonly file?: string;
  /** ANSI colours. */
  readonly color?: boolean;
  /** Terminal columns; a longer source line is cropped around the span. */
  readonly columns?: number;
  /** Reused where many problems of one text are rendered. */
  readonly lines?: LineIndex;
}

/**
 * The problem as people read it:
 *
 *     tool.json:4:5: error: unknown key "memroy" [config/unknown-key]
 *       4 |     "memroy": 512
 *         |     ^^^^^^^^
 *         = did you mean "memory"?
 *
 * No newline at the end.
 */
export function renderProblem(problem: Problem, options: RenderOptions): string {
  const lines = options.lines ?? new LineIndex(options.source);
  const paint = options.color ? colored : plain;
  const { line, column } = lines.position(problem.span.start);
  const { text, start } = lines.line(line);
  const tone = problem.severity === "error" ? "red" : "yellow";

  const where = options.file === undefined ? "" : `${onOneLine(options.file)}:${line}:${column}: `;
  const head =
    paint("bold", where) +
    paint(tone, problem.severity) +
    paint("bold", `: ${printable(problem.message)}`) +
    paint("dim", ` [${problem.code}]`);

  const number = options.file === undefined ? "" : String(line);
  const gutter = `  ${" ".repeat(number.length)}${number ? " " : ""}`;
  // An empty span, or one at the end of a line, still gets one caret.
  const from = Math.min(problem.span.start - start, text.length);
  const to = Math.min(Math.max(problem.span.end - start, from), text.length);
  const excerpt = crop(text, from, to, (options.columns ?? 100) - gutter.length - 2);
  const carets = "^".repeat(Math.max(1, excerpt.width));
  const rows = [
    head,
    `${paint("dim", number ? `  ${number} |` : "  |")} ${excerpt.text}`.trimEnd(),
    `${paint("dim", `${gutter}|`)} ${" ".repeat(excerpt.indent)}${paint(tone, carets)}`,
  ];
  if (problem.hint !== undefined) rows.push(`${paint("dim", `${gutter}=`)} ${printable(problem.hint)}`);
  return rows.join("\n");
}

/** Quotes the user's text for a message: control characters made visible, cut at 60 characters. */
export function quote(text: string): string {
  const short = [...text].length > 60 ? `${[...text].slice(0, 57).join("")}...` : text;
  return `"${onOneLine(short)}"`;
}

/** As `printable`, without tab and LF: the name of a file must not look like two lines. */
const onOneLine = (text: string) => printable(text).replace(/[\t\n]/g, (c) => (c === "\t" ? "\u2409" : "\u240a"));

/**
 * Control characters made visible, reading order left alone: what others wrote must not steer the terminal. Keeps tab and
 * LF.
 */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** Cuts a line to `columns` around [from, to) and measures where the carets go, in terminal cells. */
function crop(text: string, from: number, to: number, columns: number) {
  const limit = Math.max(columns, 20);
  // No more of a long line is looked at than can be shown: a minified file is one line, with a problem at each end.
  const before = cellsOf(text, boundary(text, from - limit * REACH), from).reverse();
  const inside = cellsOf(text, from, boundary(text, Math.min(to, from + limit * REACH)));
  const after = cellsOf(text, to, boundary(text, to + limit * REACH));
  const [widthBefore, widthInside, widthAfter] = [before, inside, after].map(widthOf) as [number, number, number];
  const isWhole = from <= limit * REACH && to - from <= limit * REACH && text.length - to <= limit * REACH;
  if (isWhole && widthBefore + widthInside + widthAfter <= limit) {
    return {
      text: printed(before.reverse()) + printed(inside) + printed(after),
      indent: widthBefore,
      width: widthInside,
    };
  }
  if (widthInside > limit - 2) {
    const lead = from > 0 ? "\u2026" : "";
    const kept = fitting(inside, limit - 3);
    return { text: `${lead}${printed(kept)}\u2026`, indent: lead.length, width: widthOf(kept) };
  }
  // A third of the free room before the mark, the rest after it: what follows explains more than what precedes.
  const room = limit - widthInside - 2;
  const kept = fitting(before, Math.max(Math.floor(room / 3), room - widthAfter));
  const rest = fitting(after, room - widthOf(kept));
  const lead = kept.length < before.length || from > limit * REACH ? "\u2026" : "";
  const tail = rest.length < after.length || text.length - to > limit * REACH ? "\u2026" : "";
  return {
    text: lead + printed(kept.reverse()) + printed(inside) + printed(rest) + tail,
    indent: lead.length + widthOf(kept),
    width: widthInside,
  };
}

/** UTF-16 units that are looked at for each column: accents, which take none, are many at most in a few scripts. */
const REACH = 8;

interface Cell {
  readonly text: string;
  readonly width: number;
}

/** An offset within the text that does not part a surrogate pair. */
function boundary(text: string, offset: number): number {
  const at = Math.max(0, Math.min(offset, text.length));
  const isPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
  return at > 0 && isPair ? at - 1 : at;
}

function cellsOf(text: string, start: number, end: number): Cell[] {
  return Array.from(text.slice(start, end), (char) =>
    char === "\t" ? { text: "  ", width: 2 } : { text: printable(char), width: cellWidth(char) },
  );
}

const widthOf = (cells: readonly Cell[]) => cells.reduce((sum, { width }) => sum + width, 0);
const printed = (cells: readonly Cell[]) => cells.map(({ text }) => text).join("");

/** The first cells that fit. */
function fitting(cells: readonly Cell[], columns: number): Cell[] {
  let width = 0;
  const end = cells.findIndex((cell) => {
    width += cell.width;
    return width > columns;
  });
  return cells.slice(0, end < 0 ? cells.length : end);
}

/** Columns that a character takes on a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji. */
function cellWidth(char: string): number {
  const code = char.codePointAt(0)!;
  if (code < 0x300) return 1;
  if (/^[\p{Mn}\p{Me}\p{Cf}]$/u.test(char)) return 0;
  if (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  ) {
    return 2;
  }
  return 1;
}

const SGR = { bold: "1", dim: "2", red: "1;31", yellow: "1;33" } as const;
const colored = (style: keyof typeof SGR, text: string) => (text ? `\u001b[${SGR[style]}m${text}\u001b[0m` : "");
const plain = (_style: keyof typeof SGR, text: string) => text;
