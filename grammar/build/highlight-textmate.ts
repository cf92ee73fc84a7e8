import type { HighlightMachine, MachineContext, MachineLeaf } from "./highlight-machine.ts";
import { forOniguruma } from "./highlight-regex.ts";

/**
 * The TextMate grammar of a table, as JSON text. A context that a leaf enters is a begin/end rule; its `end` is what leaves
 * it, so a context that reads one value ends with that value.
 */
export function textMateGrammar({ highlighting, contexts }: HighlightMachine, madeFrom: string): string {
  const { name, scopeName, fileTypes, host, starts } = highlighting;
  const suffix = scopeName.split(".").at(-1)!;
  const main = starts.map((start) => ({ include: `#${start}` }));
  const regions = [...contexts.values()].flatMap(({ scope }) => (scope === undefined ? [] : [scoped(scope)]));
  const repository = Object.fromEntries(
    [...contexts].map(([name, context]) => [
      name,
      { patterns: context.leaves.filter((leaf) => !endsWith(leaf)).map((leaf) => pattern(leaf)) },
    ]),
  );
  const grammar = {
    information_for_contributors: [`Made from ${madeFrom} by grammar/build. Do not edit.`],
    name,
    scopeName,
    fileTypes,
    patterns: host === undefined ? main.slice(0, 1) : [{ include: host }],
    // Everywhere in the host's text, its strings and scripts too, but not in what is ours already.
    ...(host !== undefined && { injections: { [`L:${scopeName} - (${regions.join(" | ")})`]: { patterns: main } } }),
    repository,
  };
  return `${JSON.stringify(grammar, null, 2)}\n`;

  function scoped(scope: string): string {
    return scope
      .split(" ")
      .map((it) => `${it}.${suffix}`)
      .join(" ");
  }

  function pattern(leaf: MachineLeaf): object {
    const { source, captures } = leafRegex(leaf, 0);
    if (leaf.enter === undefined) {
      return { match: source, ...(captures["0"] && { name: captures["0"].name }), ...partsOf(captures, "captures") };
    }
    const context = contexts.get(leaf.enter)!;
    const end = endOf(leaf.enter, context);
    return {
      ...(context.scope && { name: scoped(context.scope) }),
      begin: source,
      ...(Object.keys(captures).length > 0 && { beginCaptures: captures }),
      end: end.source,
      ...(context.isLeftByOthers && { applyEndPatternLast: 1 }),
      ...(Object.keys(end.captures).length > 0 && { endCaptures: end.captures }),
      patterns: [{ include: `#${leaf.enter}` }],
    };
  }

  function endOf(name: string, context: MachineContext): { source: string; captures: Captures } {
    const branches: string[] = [];
    const captures: Captures = {};
    let groups = 0;
    // Who leaves for another context comes back to where that one ended, which is the end of this one as well. Asked first:
    // a leaf that ends this context would take the text that follows for its own.
    for (const leaf of context.leaves) if (leaf.leave && leaf.enter) branches.push(`(?<=${closingText(leaf.enter)})`);
    for (const leaf of context.leaves.filter(endsWith)) {
      const regex = leafRegex(leaf, groups + 1);
      branches.push(`(${regex.source})`);
      groups += 1 + regex.groupCount;
      const { "0": whole, ...parts } = regex.captures;
      if (whole) captures[groups - regex.groupCount] = whole;
      Object.assign(captures, parts);
    }
    // Asked last, so this is where no leaf matches. (Looking for that in the expression would read words again and again.)
    if (context.isLeftByOthers) branches.push("(?=[^ \\t\\r\\n])");
    if (context.endsWithLine) branches.push("$");
    if (branches.length === 0) throw new Error(`${highlighting.name}: nothing leaves "${name}"`);
    return { source: branches.join("|"), captures };
  }

  /** The text that leaves a context, where only one does. */
  function closingText(name: string): string {
    const leaving = contexts.get(name)!.leaves.filter(endsWith);
    const [only] = leaving;
    if (leaving.length !== 1 || only!.pattern.kind !== "text") {
      throw new Error(`${highlighting.name}: one text must leave "${name}", so that it can be entered in exchange`);
    }
    return forOniguruma(only!.pattern).source;
  }

  function leafRegex(leaf: MachineLeaf, groupsBefore: number) {
    const { source, groups } = forOniguruma(leaf.pattern);
    const precededBy = leaf.after === undefined ? "" : `(?<=${literal(leaf.after)})`;
    const notPrecededBy = leaf.notAfter === undefined ? "" : `(?<!${literal(leaf.notAfter)})`;
    const captures: Captures = leaf.scope === undefined ? {} : { "0": { name: scoped(leaf.scope) } };
    for (const [index, rule] of groups.entries()) {
      captures[groupsBefore + index + 1] = { name: scoped(leaf.parts![rule]!.scope) };
    }
    // It comes back to its context, which is about to end: what follows is not for it.
    const once = leaf.leave && leaf.enter !== undefined ? `(?<!${closingText(leaf.enter)})` : "";
    return {
      source: `${once}${leaf.isFirst ? "(?:\\A|\\G)" : ""}${precededBy}${notPrecededBy}${source}`,
      captures,
      groupCount: groups.length,
    };
  }
}

type Captures = Record<string, { name: string }>;

const endsWith = (leaf: MachineLeaf) => leaf.leave === true && leaf.enter === undefined;

const literal = (text: string) => forOniguruma({ kind: "text", text }).source;

function partsOf(captures: Captures, key: string): object {
  const { "0": _whole, ...parts } = captures;
  return Object.keys(parts).length > 0 ? { [key]: parts } : {};
}
