// The generated parsers against Ohm, on the same grammars with the same actions: what is accepted, and the tree.
import * as ohm from "ohm-js";
import t from "tap";
import { compileGrammar } from "../grammar/build/compile.ts";
import { compare, subjects } from "./support/parser-fuzz.ts";

const COUNT = 1500;

for (const subject of subjects()) {
  t.test(`${subject.name}: ${subject.seeds.length} seeds and ${COUNT} texts near them`, (t) => {
    for (const seed of subject.seeds) t.same(subject.generated(seed), subject.ohm(seed), JSON.stringify(seed));
    const { accepted, differ } = compare(subject, COUNT, 1);
    t.same(differ, []);
    t.ok(accepted > COUNT / 50, `${accepted} of them are accepted`);
    t.end();
  });
}

t.test("what the compiler refuses", (t) => {
  const compile = (source: string, actions: Record<string, number> = {}) => {
    const grammar = ohm.grammar(source);
    const starts = [Object.keys(grammar.rules)[0]!];
    return () => compileGrammar({ grammar, actions, starts, actionsPath: "./actions.ts", grammarPath: "g.ohm" });
  };
  t.throws(compile('G { Sum = Sum "+" digit -- more\n | digit }'), /"Sum_more" is left-recursive: write it as a list/);
  t.throws(compile('G { a = b?  "x"  b = a "y" }'), /left-recursive/);
  t.throws(compile('G { a = "x" "y" }', { a: 4 }), /the action of "a" takes 1 children, the rule has 2/);
  t.throws(compile('G { a = "x" }', { b: 3 }), /there is an action for "b", but no such rule/);
  t.doesNotThrow(compile('G { a = "x" a?  }'));
  t.end();
});
