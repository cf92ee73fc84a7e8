import { begin, step, type Trie, type TrieNode } from "./trie.ts";

/** Nothing matches any more; always state 0. */
const DEAD = 0;
/** A cell of the table that no path has needed yet. */
const UNKNOWN = -1;
/** The state before the first character; #forget makes it right after the dead one. */
const START = 1;

// Integers that the states may take, 8 MiB. 1,000 ordinary rules need less than a fifth of it. Patterns with many stars
// could make exponentially many states, so beyond it all are forgotten, and made again for the paths that come.
const MAX_CELLS = 1 << 21;

// A shorter run is read as fast from the table.
const MIN_RUN = 3;

/**
 * A deterministic automaton over a trie, made state by state for the paths that come: a path costs one table look-up
 * for each character, however many rules there are. Where only one continuation is left, the characters that lead to
 * the next decision are compared as one piece (`runs`): that keeps the working set of a big table in the cache.
 */
export class Automaton {
  readonly #trie: Trie;
  readonly #maxCells: number;
  // Characters that no pattern names behave alike, and so do all that stand for the same column of the table.
  readonly #ascii = new Uint16Array(128);
  readonly #others = new Map<number, number>();
  /** The character of each column; column 0 is every character that no pattern names. */
  readonly #columns: (string | undefined)[] = [undefined];

  #table = new Int32Array(0);
  #states: State[] = [];
  #known = new Map<string, number>();
  #cells = 0;
  #epoch = 0;

  constructor(trie: Trie, maxCells = MAX_CELLS) {
    this.#trie = trie;
    this.#maxCells = maxCells;
    for (const character of new Set(["/", ...trie.nodes.flatMap(({ characters }) => [...characters.split("")])])) {
      const code = character.charCodeAt(0);
      if (code < 128) this.#ascii[code] = this.#columns.length;
      else this.#others.set(code, this.#columns.length);
      this.#columns.push(character);
    }
    this.#forget();
  }

  /**
   * The rules that match a whole text, ascending. With `raw`, a text that must be normalized first (it holds a percent
   * sign or a character outside ASCII) gives undefined, so that ordinary paths are read once only.
   */
  rules(text: string, raw: boolean): readonly number[] | undefined {
    const width = this.#columns.length;
    const ascii = this.#ascii;
    let table = this.#table;
    let states = this.#states;
    let state = START;
    for (let i = 0; i < text.length; ) {
      const { run } = states[state]!;
      let next: number;
      if (run !== "") {
        let same = 0;
        while (same < run.length && text.charCodeAt(i + same) === run.charCodeAt(same)) same++;
        if (same === run.length) i += same;
        else if (raw && needsNormalizing(text.charCodeAt(i + same))) return undefined;
        next = same === run.length ? states[state]!.ahead : states[state]!.aside;
        if (next === UNKNOWN) next = this.#leaveRun(state, same === run.length);
      } else {
        const code = text.charCodeAt(i++);
        if (raw && needsNormalizing(code)) return undefined;
        const column = code < 128 ? ascii[code]! : (this.#others.get(code) ?? 0);
        next = table[state * width + column]!;
        if (next === UNKNOWN) next = this.#advance(state, column);
      }
      if (next === DEAD) return NONE;
      state = next;
      table = this.#table;
      states = this.#states;
    }
    return states[state]!.rules;
  }

  /** How many integers the states take, for the test of the bound. */
  get cells(): number {
    return this.#cells;
  }

  #forget(): void {
    this.#table = new Int32Array(this.#columns.length * 16).fill(UNKNOWN);
    this.#states = [];
    this.#known = new Map();
    this.#cells = 0;
    this.#epoch++;
    this.#add([], "");
    const nodes = begin(this.#trie);
    this.#add(nodes, keyOf(nodes));
  }

  #advance(state: number, column: number): number {
    const epoch = this.#epoch;
    const next = this.#intern(step(this.#states[state]!.nodes, this.#columns[column]));
    if (epoch === this.#epoch) this.#table[state * this.#columns.length + column] = next;
    return next;
  }

  #leaveRun(state: number, ahead: boolean): number {
    const epoch = this.#epoch;
    const from = this.#states[state]!;
    let nodes = from.nodes;
    if (ahead) for (const character of from.run) nodes = step(nodes, character);
    // The run's characters leave the wildcards where they are, so beside it only they are left, and nothing is consumed.
    else nodes = nodes.filter(({ kind }) => kind === "wildcard");
    const next = this.#intern(nodes);
    if (epoch === this.#epoch) from[ahead ? "ahead" : "aside"] = next;
    return next;
  }

  #intern(nodes: readonly TrieNode[]): number {
    if (nodes.length === 0) return DEAD;
    const key = keyOf(nodes);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#cells > this.#maxCells) {
      this.#forget();
      // What is asked for may be the start itself.
      return this.#known.get(key) ?? this.#add(nodes, key);
    }
    return this.#add(nodes, key);
  }

  #add(nodes: readonly TrieNode[], key: string): number {
    const id = this.#states.length;
    const width = this.#columns.length;
    if ((id + 1) * width > this.#table.length) {
      const grown = new Int32Array(this.#table.length * 2).fill(UNKNOWN, this.#table.length);
      grown.set(this.#table);
      this.#table = grown;
    }
    const rules = [...new Set(nodes.flatMap((node) => node.rules))].sort((a, b) => a - b);
    this.#states.push({ nodes, rules, run: runFrom(nodes), ahead: UNKNOWN, aside: UNKNOWN });
    this.#known.set(key, id);
    this.#cells += width + nodes.length + rules.length + key.length;
    return id;
  }
}

interface State {
  /** Where in the trie a path can be. */
  readonly nodes: readonly TrieNode[];
  /** The rules that match a text that ends here, ascending. */
  readonly rules: readonly number[];
  /** The only text that leads anywhere new, or empty: see the table. */
  readonly run: string;
  /** The states after the run, and instead of it. */
  ahead: number;
  aside: number;
}

const NONE: readonly number[] = [];

function needsNormalizing(code: number): boolean {
  return code === 0x25 || code >= 128;
}

function keyOf(nodes: readonly TrieNode[]): string {
  return nodes.map(({ id }) => id.toString(36)).join();
}

/** The text that a path must go on with, where all other places it can be at are wildcards that this text leaves alone. */
function runFrom(nodes: readonly TrieNode[]): string {
  const wildcards = nodes.filter(({ kind }) => kind === "wildcard");
  let [node, ...more] = nodes.filter(({ kind }) => kind !== "wildcard");
  let run = "";
  while (node !== undefined && more.length === 0) {
    const { characters } = node;
    const leadsOneWay = characters.length === 1 && node.kind === "literal" && !node.param && !node.wildcard;
    // A rule that ends within the run would be missed, but one at its start is a rule of the state itself.
    const endsRule = run !== "" && node.rules.length > 0;
    if (!leadsOneWay || endsRule || needsNormalizing(characters.charCodeAt(0))) break;
    if (wildcards.some((wildcard) => wildcard.characters.includes(characters))) break;
    run += characters;
    node = node.children[0];
  }
  return run.length < MIN_RUN ? "" : run;
}
