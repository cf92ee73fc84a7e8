import { nextNodes, startNodes, type Trie, type TrieNode } from "./trie.ts";

/** Nothing matches any more. */
const DEAD = 0;
/** A transition that no path has needed yet. */
const UNKNOWN = -1;

// Integers that the states may take, 8 MiB. 1,000 ordinary rules need less than a fifth of it. Patterns with many stars
// could make exponentially many states, so beyond this limit all are dropped, and made again for the paths that come.
const MAX_CELLS = 1 << 21;

// A shorter run is read as fast character by character.
const MIN_RUN = 3;

/**
 * A deterministic automaton over a trie, made state by state for the paths that come: a path costs about one look-up
 * for each character, however many rules there are. Where only one continuation is possible, the characters up to the
 * next decision are one state, a run.
 *
 * States are records in one array, so that a look-up touches few cache lines even if the table is big. A state is named by
 * the index of its record, times two, plus one for a run:
 *
 *     table: info, next state for each column
 *     run:   info, state after the run, state where the path goes another way, length, characters
 */
export class Automaton {
  readonly #trie: Trie;
  readonly #maxCells: number;
  // Characters that no pattern names behave alike, and share column 0.
  readonly #ascii = new Uint16Array(128);
  readonly #others = new Map<number, number>();
  readonly #columns: (string | undefined)[] = [undefined];

  #records = new Int32Array(1024);
  /** Where the next record goes. */
  #end = 0;
  #infos: StateInfo[] = [];
  #states = new Map<string, number>();
  #start = DEAD;
  /** The size of the sets of places and rules beside the records, in integers. */
  #infoCells = 0;
  #epoch = 0;

  constructor(trie: Trie, maxCells = MAX_CELLS) {
    this.#trie = trie;
    this.#maxCells = maxCells;
    for (const character of new Set(["/", ...trie.characters])) {
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
    const ascii = this.#ascii;
    let records = this.#records;
    let state = this.#start;
    for (let i = 0; i < text.length; ) {
      const record = state >> 1;
      let next: number;
      if (state & 1) {
        const characters = record + RUN_CHARACTERS;
        const length = records[record + RUN_LENGTH]!;
        let same = 0;
        while (same < length && text.charCodeAt(i + same) === records[characters + same]) same++;
        if (same === length) i += length;
        else if (raw && needsNormalizing(text.charCodeAt(i + same))) return undefined;
        next = records[record + (same === length ? RUN_AHEAD : RUN_ASIDE)]!;
        if (next === UNKNOWN) next = this.#leaveRun(record, same === length);
      } else {
        const code = text.charCodeAt(i++);
        if (raw && needsNormalizing(code)) return undefined;
        const column = code < 128 ? ascii[code]! : (this.#others.get(code) ?? 0);
        next = records[record + TABLE + column]!;
        if (next === UNKNOWN) next = this.#advance(record, column);
      }
      if (next === DEAD) return NONE;
      state = next;
      records = this.#records;
    }
    return this.#infos[records[state >> 1]!]!.rules;
  }

  /** How many integers the states take, for the test of the bound. */
  get cells(): number {
    return this.#end + this.#infoCells;
  }

  #forget(): void {
    this.#records = new Int32Array(1024);
    this.#infos = [];
    this.#states = new Map();
    // Place 0 is the dead state's.
    this.#end = 1;
    this.#infoCells = 0;
    this.#epoch++;
    const nodes = startNodes(this.#trie);
    this.#start = this.#add(nodes, keyOf(nodes));
  }

  #advance(record: number, column: number): number {
    const epoch = this.#epoch;
    const { nodes } = this.#infos[this.#records[record]!]!;
    const next = this.#intern(nextNodes(nodes, this.#columns[column]));
    if (epoch === this.#epoch) this.#records[record + TABLE + column] = next;
    return next;
  }

  #leaveRun(record: number, ahead: boolean): number {
    const epoch = this.#epoch;
    const from = this.#infos[this.#records[record]!]!;
    let { nodes } = from;
    if (ahead) for (const character of from.run) nodes = nextNodes(nodes, character);
    // A run's characters leave the wildcards where they are, so beside it only those are left, and nothing is consumed.
    else nodes = nodes.filter(({ kind }) => kind === "wildcard");
    const next = this.#intern(nodes);
    if (epoch === this.#epoch) this.#records[record + (ahead ? RUN_AHEAD : RUN_ASIDE)] = next;
    return next;
  }

  #intern(nodes: readonly TrieNode[]): number {
    if (nodes.length === 0) return DEAD;
    const key = keyOf(nodes);
    const state = this.#states.get(key);
    if (state !== undefined) return state;
    if (this.cells > this.#maxCells) {
      this.#forget();
      // The requested state may be the start itself.
      return this.#states.get(key) ?? this.#add(nodes, key);
    }
    return this.#add(nodes, key);
  }

  #add(nodes: readonly TrieNode[], key: string): number {
    const run = runFrom(nodes);
    const record = this.#end;
    this.#end += run === "" ? TABLE + this.#columns.length : RUN_CHARACTERS + run.length;
    if (this.#end > this.#records.length) {
      const grown = new Int32Array(Math.max(this.#records.length * 2, this.#end));
      grown.set(this.#records);
      this.#records = grown;
    }
    this.#records.fill(UNKNOWN, record, this.#end);
    this.#records[record] = this.#infos.length;
    if (run !== "") {
      this.#records[record + RUN_LENGTH] = run.length;
      for (let i = 0; i < run.length; i++) this.#records[record + RUN_CHARACTERS + i] = run.charCodeAt(i);
    }

    const rules = [...new Set(nodes.flatMap((node) => node.rules))].sort((a, b) => a - b);
    this.#infos.push({ nodes, rules, run });
    this.#infoCells += nodes.length + rules.length + key.length;
    const state = record * 2 + (run === "" ? 0 : 1);
    this.#states.set(key, state);
    return state;
  }
}

// Places in a record.
const TABLE = 1;
const RUN_AHEAD = 1;
const RUN_ASIDE = 2;
const RUN_LENGTH = 3;
const RUN_CHARACTERS = 4;

interface StateInfo {
  /** Where in the trie a path can be. */
  readonly nodes: readonly TrieNode[];
  /** The rules that match a text that ends here, ascending. */
  readonly rules: readonly number[];
  readonly run: string;
}

const NONE: readonly number[] = [];

function needsNormalizing(code: number): boolean {
  return code === 0x25 || code >= 128;
}

function keyOf(nodes: readonly TrieNode[]): string {
  return nodes.map(({ id }) => id.toString(36)).join();
}

/**
 * The only text with which a path can continue, if all other nodes that it has reached are wildcards, which stay reached: a
 * path that goes another way is read again from the start of the run, and must not meet the same run on the way.
 */
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
