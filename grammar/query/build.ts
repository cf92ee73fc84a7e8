import type { Node, Semantics } from "ohm-js";
import type { Span } from "../problem.ts";
import type { ComparisonOperator, Expr, Field, Segment, StringValue, Value, WordValue } from "./ast.ts";
import { decodeString, readNumber } from "./literals.ts";
import { loadGrammar } from "./query.generated.ts";

/** The tree of a query that the grammar accepts, or the offset of the token where it does not. */
export type Built =
  | { readonly ok: true; readonly expr: Expr | undefined }
  | { readonly ok: false; readonly offset: number };

export function build(source: string): Built {
  const match = loadGrammar().match(source);
  if (match.failed()) return { ok: false, offset: match.getRightmostFailurePosition() };
  semantics ??= addActions(loadGrammar().createSemantics());
  return { ok: true, expr: (semantics(match) as Node).ast() as Expr | undefined };
}

let semantics: Semantics | undefined;

function addActions(target: Semantics): Semantics {
  return target.addOperation<unknown>("ast", {
    Query: (or) => or.children[0]?.ast(),

    Or: (first, operators, rest) => chain("or", first, rest.children, operators.children),
    And: (first, operators, rest) =>
      chain(
        "and",
        first,
        rest.children,
        operators.children.flatMap((optional) => optional.children),
      ),
    Unary: (nots, primary) =>
      nots.children.reduceRight<Expr>(
        (term, not) => ({
          kind: "not",
          term,
          operator: spanOf(not),
          span: { start: spanOf(not).start, end: spanOf(primary).end },
        }),
        primary.ast(),
      ),
    Primary_group: (_open, or, _close) => or.ast(),

    Exists: (operator, field) => ({
      kind: "exists",
      operator: spanOf(operator),
      field: field.ast(),
      span: between(operator, field),
    }),
    Condition_comparison: (field, op, value) => ({
      kind: "comparison",
      field: field.ast(),
      op: (op.sourceString === "==" ? "=" : op.sourceString) as ComparisonOperator,
      operator: spanOf(op),
      value: value.ast(),
      span: between(field, value),
    }),
    Condition_membership: (field, not, operator, _open, values, close) => {
      const span = between(field, close);
      const term: Expr = {
        kind: "in",
        field: field.ast(),
        operator: spanOf(operator),
        values: values.asIteration().children.map((value) => value.ast() as Value),
        span,
      };
      const negation = not.children[0];
      return negation === undefined ? term : { kind: "not", term, operator: spanOf(negation), span };
    },
    Condition_contains: (field, operator, text) => {
      const value = text.ast() as StringValue | WordValue;
      const raw = text.sourceString;
      const chunks = value.kind === "word" ? [raw] : decodeString(raw.slice(1, -1), false);
      return {
        kind: "contains",
        field: field.ast(),
        operator: spanOf(operator),
        text: { ...value, chunks },
        span: between(field, text),
      };
    },
    Condition_match: (field, operator, regex) => ({
      kind: "match",
      field: field.ast(),
      operator: spanOf(operator),
      regex: regex.ast(),
      span: between(field, regex),
    }),

    levelTerm: (word) => ({ kind: "level", word: word.sourceString, span: spanOf(word) }),
    stageTerm: (word) => ({ kind: "stage", word: word.sourceString, span: spanOf(word) }),
    messageTerm: (text) => ({ kind: "message", text: text.ast(), span: spanOf(text) }),
    truthyTerm: (field) => ({ kind: "truthy", field: field.ast(), span: spanOf(field) }),

    field: (first, rest): Field => ({
      path: [
        { kind: "key", key: first.sourceString, span: spanOf(first) },
        ...rest.children.map((segment) => segment.ast() as Segment),
      ],
      span: { start: spanOf(first).start, end: spanOf(rest.children.at(-1) ?? first).end },
    }),
    segment_name(_dot, name): Segment {
      return { kind: "key", key: name.sourceString, span: spanOf(this) };
    },
    segment_index(_open, digits, _close): Segment {
      return { kind: "index", index: Number(digits.sourceString), span: spanOf(this) };
    },
    segment_key(_open, quoted, _close): Segment {
      const [key = ""] = decodeString(quoted.sourceString.slice(1, -1), false);
      return { kind: "key", key, span: spanOf(this) };
    },

    string(quoted) {
      return { kind: "string", chunks: decodeString(quoted.sourceString.slice(1, -1), true), span: spanOf(this) };
    },
    number(_sign, _amount, _exponent, _unit) {
      return numberOf(this);
    },
    boolean(text) {
      return { kind: "boolean", value: text.sourceString.toLowerCase() === "true", span: spanOf(this) };
    },
    null(_text) {
      return { kind: "null", span: spanOf(this) };
    },
    word(_chars) {
      return wordOf(this);
    },
    regex(_open, chars, _close, flags) {
      return { source: chars.sourceString, flags: flags.sourceString, span: spanOf(this) };
    },
  });
}

function chain(kind: "and" | "or", first: Node, rest: readonly Node[], operators: readonly Node[]): Expr {
  const last = rest.at(-1);
  if (last === undefined) return first.ast();
  const own: Span[] = operators.map(spanOf);
  const terms: Expr[] = [];
  for (const term of [first, ...rest].map((node) => node.ast() as Expr)) {
    if (term.kind === kind) {
      terms.push(...term.terms);
      own.push(...term.operators);
    } else {
      terms.push(term);
    }
  }
  return { kind, terms, operators: own.sort((a, b) => a.start - b.start), span: between(first, last) };
}

function numberOf(node: Node): Value {
  const text = node.sourceString;
  const { value, unit } = readNumber(text);
  // No JSON number is as large: such digits (12e4567) are a name that happens to look like one.
  if (!Number.isFinite(value)) return wordOf(node);
  return { kind: "number", text, value, ...(unit && { unit }), span: spanOf(node) };
}

const wordOf = (node: Node): WordValue => ({ kind: "word", chunks: node.sourceString.split("*"), span: spanOf(node) });

const spanOf = (node: Node): Span => ({ start: node.source.startIdx, end: node.source.endIdx });
const between = (first: Node, last: Node): Span => ({ start: spanOf(first).start, end: spanOf(last).end });
