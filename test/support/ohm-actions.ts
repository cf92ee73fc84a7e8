import type { Grammar, Node } from "ohm-js";

type Action = (source: string, start: number, end: number, ...children: never[]) => unknown;

/**
 * The same actions run by Ohm: `evaluate(text)` answers what the generated parser shall answer, or undefined where the
 * grammar does not accept the text. The rules for values are those of grammar/build/compile.ts.
 */
export function byOhm(grammar: Grammar, actions: Readonly<Record<string, Action>>, start: string) {
  const childValue = (node: Node): unknown => {
    if (node.isTerminal()) return undefined;
    if (!node.isIteration()) return node.value();
    return node.isOptional() ? node.children[0] && childValue(node.children[0]) : node.children.map(childValue);
  };
  const dictionary: Record<string, (this: Node, ...children: Node[]) => unknown> = {
    _nonterminal: (...children) => (children.length === 1 ? childValue(children[0]!) : undefined),
  };
  for (const [rule, action] of Object.entries(actions)) {
    const run = function (this: Node, ...children: Node[]) {
      const { sourceString, startIdx, endIdx } = this.source as unknown as Interval;
      const values = action.length > 3 ? children.map(childValue) : [];
      return action(sourceString, startIdx, endIdx, ...(values as never[]));
    };
    // Ohm compares the number of parameters with the rule's arity.
    const { body } = (grammar.rules as unknown as Record<string, { body: { getArity(): number } }>)[rule]!;
    Object.defineProperty(run, "length", { value: body.getArity() });
    dictionary[rule] = run;
  }
  const semantics = grammar.createSemantics().addOperation<unknown>("value", dictionary);
  return (text: string): { readonly value: unknown } | undefined => {
    const match = grammar.match(text, start);
    return match.failed() ? undefined : { value: semantics(match).value() };
  };
}

/** The whole text that the node is a part of, which Ohm's types do not show. */
interface Interval {
  readonly sourceString: string;
  readonly startIdx: number;
  readonly endIdx: number;
}
