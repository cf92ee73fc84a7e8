import type { ShapePart } from "./order.ts";

/**
 * The patterns of a table merged by their common beginnings: a nondeterministic automaton whose nodes are places in
 * patterns. It is read by automaton.ts, which keeps the set of nodes that a path can be at.
 */
export class Trie {
  readonly root: TrieNode;
  /** Every character that leads on from some place. */
  readonly characters = new Set<string>();
  #size = 0;

  constructor() {
    this.root = this.#add("literal");
  }

  /** Adds a rule; `optionalSlash` lets a path have one more slash at its end than the pattern. */
  insert(shape: readonly ShapePart[], rule: number, optionalSlash: boolean): void {
    let node = this.root;
    for (const part of shape) {
      if (part.kind === "literal") {
        for (let i = 0; i < part.text.length; i++) node = this.#child(node, part.text[i]!);
      } else if (part.kind === "param") {
        node = node.param ??= this.#add("param");
      } else {
        node = node.wildcard ??= this.#add("wildcard");
      }
    }
    node.rules.push(rule);
    if (optionalSlash) this.#child(node, "/").rules.push(rule);
  }

  #child(node: TrieNode, character: string): TrieNode {
    const child = node.children[node.characters.indexOf(character)];
    if (child) return child;
    const made = this.#add("literal");
    this.characters.add(character);
    node.characters += character;
    node.children.push(made);
    return made;
  }

  #add(kind: TrieNode["kind"]): TrieNode {
    const node: TrieNode = {
      id: this.#size++,
      kind,
      characters: "",
      children: [],
      param: undefined,
      wildcard: undefined,
      rules: [],
    };
    return node;
  }
}

export interface TrieNode {
  readonly id: number;
  /** The step that led here. A path stays at a `param` while no slash comes, at a `wildcard` whatever comes. */
  readonly kind: "literal" | "param" | "wildcard";
  /** The characters that lead on, one for each of `children`. */
  characters: string;
  readonly children: TrieNode[];
  param: TrieNode | undefined;
  wildcard: TrieNode | undefined;
  /** The rules that match a path that ends here. */
  readonly rules: number[];
}

/** Where a path that is at one of `nodes` can be after `character`; undefined is a character that no pattern names. */
export function nextNodes(nodes: readonly TrieNode[], character: string | undefined): TrieNode[] {
  const reached = new Set<TrieNode>();
  for (const node of nodes) {
    const child = character === undefined ? undefined : node.children[node.characters.indexOf(character)];
    if (child) enter(child, reached);
    if (node.kind === "wildcard") reached.add(node);
    if (character === "/") continue;
    if (node.kind === "param") enter(node, reached);
    if (node.param) enter(node.param, reached);
  }
  return [...reached].sort((a, b) => a.id - b.id);
}

/** Where a path is before its first character. */
export function startNodes(trie: Trie): TrieNode[] {
  const reached = new Set<TrieNode>();
  enter(trie.root, reached);
  return [...reached];
}

/** A wildcard may match nothing, so a path that reaches the node before it has reached the wildcard too. */
function enter(node: TrieNode, reached: Set<TrieNode>): void {
  reached.add(node);
  if (node.wildcard) reached.add(node.wildcard);
}
