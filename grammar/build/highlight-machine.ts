import type { Grammar } from "ohm-js";
import type { OhmGrammar } from "./compile.ts";
import type { HighlightContext, Highlighting, Leaf } from "./highlight.ts";
import { canMatchLineEnd, type Item, type Pattern, patternOf } from "./highlight-regex.ts";

/** A table with the patterns of its rules, checked. Both generators start from it. */
export interface HighlightMachine {
  readonly highlighting: Highlighting;
  readonly contexts: ReadonlyMap<string, MachineContext>;
}

export interface MachineContext extends HighlightContext {
  /** In the order in which they are asked. TextMate knows two: those that only leave come first or last. */
  readonly leaves: readonly MachineLeaf[];
  /** Whether text that no leaf matches leaves the context. Those that only leave come last then, else first. */
  readonly isLeftByOthers: boolean;
}

export interface MachineLeaf extends Leaf {
  readonly pattern: Pattern;
}

/**
 * `extend` makes a grammar of Ohm's notation: the table's own rules are added to `grammar`. Throws at a table that names
 * what there is not, and at rules that an editor could not follow.
 */
export function createMachine(
  grammar: Grammar,
  highlighting: Highlighting,
  extend: (source: string, namespace: Record<string, Grammar>) => Grammar,
): HighlightMachine {
  const name = grammar.name;
  const extended = extend(`Highlighting <: ${name} {\n${highlighting.rules}\n}`, { [name]: grammar });
  const contexts = new Map(
    Object.entries(highlighting.contexts).map(([name, context]) => {
      const leaves = context.leaves.map((leaf) => machineLeaf(name, leaf));
      const leaving = leaves.filter((leaf) => leaf.leave && leaf.enter === undefined);
      const others = leaves.filter((leaf) => !leaving.includes(leaf));
      const isLeftByOthers = context.textType === undefined && !leaves.some(matchesAll);
      return [
        name,
        { ...context, leaves: isLeftByOthers ? [...others, ...leaving] : [...leaving, ...others], isLeftByOthers },
      ];
    }),
  );
  refuseUnused();
  return { highlighting, contexts };

  function machineLeaf(context: string, leaf: Leaf): MachineLeaf {
    const refuse = (why: string): never => {
      throw new Error(`${highlighting.name}: "${leaf.rule}" in "${context}" ${why}`);
    };
    const parts = Object.keys(leaf.parts ?? {});
    const pattern = patternOf(extended as unknown as OhmGrammar, leaf.rule, parts);
    if (!highlighting.isOneLine && canMatchLineEnd(pattern)) refuse("can match a line end: enter a context");
    if (canBeEmpty(pattern) && !(leaf.leave && leaf.enter === undefined)) refuse("can match no text");
    if (leaf.enter !== undefined && !highlighting.contexts[leaf.enter]) refuse(`enters "${leaf.enter}", which is none`);
    return { ...leaf, pattern };
  }

  function refuseUnused(): void {
    const used = new Set(highlighting.starts);
    for (const name of used) {
      for (const { enter } of highlighting.contexts[name]?.leaves ?? []) if (enter !== undefined) used.add(enter);
    }
    const unused = [...contexts.keys()].find((name) => !used.has(name));
    if (unused !== undefined) throw new Error(`${highlighting.name}: nothing enters "${unused}"`);
  }
}

/** Whether the leaf takes whatever character comes, but blanks. */
function matchesAll({ pattern, ...leaf }: MachineLeaf): boolean {
  if (pattern.kind !== "set" || leaf.after !== undefined || leaf.notAfter !== undefined || leaf.isFirst) return false;
  const isBlank = (it: Item) => typeof it !== "string" && it[0] === it[1] && [9, 10, 13, 32].includes(it[0]);
  return pattern.items.some(([from, to]) => from === 0 && to === 0x10ffff) && pattern.without.every(isBlank);
}

function canBeEmpty(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "set":
      return false;
    case "text":
      return pattern.text === "";
    case "seq":
      return pattern.parts.every(canBeEmpty);
    case "alt":
      return pattern.branches.some(canBeEmpty);
    case "look":
      return true;
    case "repeat":
      return pattern.sign !== "+" || canBeEmpty(pattern.body);
    case "capture":
      return canBeEmpty(pattern.body);
  }
}
