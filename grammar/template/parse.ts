import type { Parsed, Problem, Span } from "../problem.ts";
import type { Branch, Expr, Template, TemplateNode } from "./ast.ts";
import { checkExpr } from "./checks.ts";
import { diagnose } from "./diagnose.ts";
import { advance, type HtmlState, htmlContext, isSamePlace, join, PAGE_START } from "./html-context.ts";
import type { ActionPart, BrokenPart, TemplatePart } from "./parts.ts";
import * as problem from "./problems.ts";
import { scan, type TemplatePiece } from "./scan.ts";
import { NO_MATCH, parsers } from "./template-parser.generated.ts";

/** An error-page template. Problems: `template/...`, of every action and block, sorted by place. */
export function parseTemplate(source: string): Parsed<Template> {
  if (source.length > problem.MAX_TEMPLATE_LENGTH) return { ok: false, problems: [problem.tooLong(source.length)] };
  const builder = new Builder(source);
  let before: TemplatePiece | undefined;
  let here: TemplatePiece | undefined;
  for (const after of scan(source, problem.MAX_TEMPLATE_DEPTH)) {
    if (builder.hasEnough) break;
    if (here) builder.add(here, before, after);
    before = here;
    here = after;
  }
  if (here && !builder.hasEnough) builder.add(here, before, undefined);
  const { nodes, problems } = builder.finish();
  if (problems.length > 0) return { ok: false, problems: problems.sort((a, b) => a.span.start - b.span.start) };
  return { ok: true, value: { source, nodes } };
}

// `{{- ` takes the white space before the action, ` -}}` that after it; the dash alone would be a minus sign.
const TRIMS_BEFORE = /^\{\{-[ \t\r\n]/;
const TRIMS_AFTER = /[ \t\r\n]-\}\}$/;

// More problems than this would not be read.
const MAX_PROBLEMS = 1000;

// Blocks that are not supported, but have an {{end}} that is theirs.
const BLOCKS_OF_OTHERS = /^(?:range|define|block)$/;

interface Block {
  readonly keyword: string;
  /** The opening action. */
  readonly span: Span;
  /** The conditions of an `if`, one for each branch, or the value of a `with`; empty if they are not known. */
  readonly conditions: Expr[];
  readonly bodies: TemplateNode[][];
  hasElse: boolean;
  /** Whether `.` is the error page inside, and was before. */
  readonly dotWasRoot: boolean;
  /** Where in the page the block starts, and where the branches end that are complete. */
  readonly start: HtmlState;
  readonly ends: HtmlState[];
}

/** Puts the parts into a tree, keeping the blocks that are open. */
class Builder {
  readonly #source: string;
  readonly #problems: Problem[] = [];
  readonly #nodes: TemplateNode[] = [];
  readonly #open: Block[] = [];
  #dotIsRoot = true;
  #html: HtmlState = PAGE_START;

  constructor(source: string) {
    this.#source = source;
  }

  add(piece: TemplatePiece, before: TemplatePiece | undefined, after: TemplatePiece | undefined): void {
    const { kind, span } = piece;
    if (kind === "text") this.#text(span, before, after);
    if (kind === "badComment") this.#badComment(span);
    if (kind !== "action") return;
    if (piece.tooDeep) {
      this.#problems.push(problem.tooDeep("parentheses", piece.tooDeep));
    } else if (span.end - span.start > problem.MAX_ACTION_LENGTH) {
      this.#problems.push(problem.longAction(span.end - span.start, span));
    } else {
      const part = readAction(this.#source, span);
      if (part.kind === "action") this.#action(part);
      else this.#broken(part);
    }
  }

  /** A file with this many problems is probably not a template; no more are looked for. */
  get hasEnough(): boolean {
    return this.#problems.length >= MAX_PROBLEMS;
  }

  finish(): { nodes: TemplateNode[]; problems: Problem[] } {
    if (this.hasEnough) return { nodes: [], problems: this.#problems };
    for (const { keyword, span } of this.#open) this.#problems.push(problem.unclosedBlock(keyword, span));
    return { nodes: this.#nodes, problems: this.#problems };
  }

  get #body(): TemplateNode[] {
    return this.#open.at(-1)?.bodies.at(-1) ?? this.#nodes;
  }

  #text(span: Span, before: TemplatePiece | undefined, after: TemplatePiece | undefined): void {
    let { start, end } = span;
    const text = this.#source.slice(start, end);
    if (before && TRIMS_AFTER.test(this.#source.slice(before.span.end - 4, before.span.end))) {
      start += text.length - text.replace(/^[ \t\r\n]+/, "").length;
    }
    if (after && TRIMS_BEFORE.test(this.#source.slice(after.span.start, after.span.start + 4))) {
      end -= text.length - text.replace(/[ \t\r\n]+$/, "").length;
    }
    if (start >= end) return;
    this.#html = advance(this.#html, this.#source.slice(start, end));
    const body = this.#body;
    const last = body.at(-1);
    if (last?.kind === "text") {
      const joined = last.text + this.#source.slice(start, end);
      body[body.length - 1] = { kind: "text", text: joined, span: { start: last.span.start, end } };
    } else {
      body.push({ kind: "text", text: this.#source.slice(start, end), span: { start, end } });
    }
  }

  #badComment(span: Span): void {
    const text = this.#source.slice(span.start, span.end);
    const open = { start: span.start, end: span.start + text.indexOf("/*") + 2 };
    if (!text.includes("*/", open.end - span.start)) this.#problems.push(problem.unclosedComment(open));
    else if (!text.endsWith("}}"))
      this.#problems.push(problem.unclosedAction({ start: span.start, end: span.start + 2 }));
    else this.#problems.push(problem.commentInAction(span));
  }

  #broken(part: BrokenPart): void {
    this.#problems.push(diagnose(part));
    // The first word tells what was meant, so that the {{end}} of a broken {{if}} is not reported too.
    const word = part.tokens[0]?.text ?? "";
    if (word === "if" || word === "with" || BLOCKS_OF_OTHERS.test(word)) this.#begin(word, undefined, part.span);
    else if (word === "else") this.#branch(part.span, undefined);
    else if (word === "end") this.#end(part.span);
  }

  #action({ statement, expr, span }: ActionPart): void {
    if (statement === "end") {
      this.#end(span);
      return;
    }
    if (statement === "else" || statement === "elseIf") {
      this.#branch(span, expr, statement);
      return;
    }
    this.#problems.push(...checkExpr(expr!, this.#dotIsRoot));
    if (statement !== "output") {
      this.#begin(statement, expr, span);
    } else if (expr!.kind === "call" && BLOCKS_OF_OTHERS.test(expr!.name.text)) {
      this.#begin(expr!.name.text, undefined, span);
    } else {
      this.#body.push({ kind: "output", expr: expr!, context: htmlContext(this.#html), span });
    }
  }

  #begin(keyword: string, expr: Expr | undefined, span: Span): void {
    if (this.#open.length === problem.MAX_TEMPLATE_DEPTH) this.#problems.push(problem.tooDeep("blocks", span));
    this.#open.push({
      keyword,
      span,
      conditions: expr ? [expr] : [],
      bodies: [[]],
      hasElse: false,
      dotWasRoot: this.#dotIsRoot,
      start: this.#html,
      ends: [],
    });
    if (keyword !== "if") this.#dotIsRoot = false;
  }

  #branch(span: Span, condition: Expr | undefined, statement: "else" | "elseIf" | undefined = undefined): void {
    const block = this.#open.at(-1);
    const text = statement === "elseIf" ? "{{else if}}" : "{{else}}";
    if (block === undefined) {
      this.#problems.push(problem.unexpectedElse(text, span));
    } else if (block.hasElse) {
      this.#problems.push(problem.secondElse(text, block.keyword, span));
    } else if (statement === "elseIf" && block.keyword === "with") {
      this.#problems.push(problem.elseIfInWith(span));
    }
    this.#dotIsRoot = block?.dotWasRoot ?? this.#dotIsRoot;
    if (condition) this.#problems.push(...checkExpr(condition, this.#dotIsRoot));
    if (block === undefined) return;
    block.ends.push(this.#html);
    this.#html = block.start;
    block.bodies.push([]);
    if (condition) block.conditions.push(condition);
    if (statement === "else") block.hasElse = true;
  }

  #end(span: Span): void {
    const block = this.#open.pop();
    if (block === undefined) {
      this.#problems.push(problem.unexpectedEnd(span));
      return;
    }
    this.#dotIsRoot = block.dotWasRoot;
    const ends = [...block.ends, this.#html];
    if (!block.hasElse) ends.push(block.start);
    if (!ends.every((end) => isSamePlace(end, ends[0]!))) {
      this.#problems.push(problem.differentPlaces(block.keyword, block.span));
    }
    this.#html = ends.reduce(join);

    const { keyword, conditions, bodies, hasElse } = block;
    const otherwise = hasElse ? bodies.pop()! : [];
    if (keyword === "if") {
      const branches = conditions.map((condition, i): Branch => ({ condition, body: bodies[i]! }));
      this.#body.push({ kind: "if", branches, otherwise, span: block.span });
    } else if (keyword === "with" && conditions[0]) {
      this.#body.push({ kind: "with", expr: conditions[0], body: bodies[0]!, otherwise, span: block.span });
    }
  }
}

/** Reads an action, from its opening braces at `start`. The grammar refuses none. */
function readAction(source: string, { start, end }: Span): TemplatePart {
  const part = parsers.part(source, start, end);
  if (part === NO_MATCH)
    throw new Error(`the grammar of templates refuses ${JSON.stringify(source.slice(start, end))}`);
  return part as TemplatePart;
}
