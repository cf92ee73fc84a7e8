import type { Parsed } from "../problem.ts";
import type { Query } from "./ast.ts";
import { type CompletionSources, completeWith, type QueryCompletion } from "./complete.ts";
import { Expectation } from "./expected.ts";
import { type Explanation, explainAt } from "./explain.ts";
import { parseQuery } from "./parse.ts";

/** A query while it is edited. Keeps what was parsed, so that the next key is answered without parsing everything again. */
export class QuerySession {
  #source: string;
  readonly #expectation = new Expectation();
  #parsed: Parsed<Query> | undefined;

  constructor(source = "") {
    this.#source = source;
  }

  get source(): string {
    return this.#source;
  }

  update(source: string): void {
    if (source !== this.#source) this.#parsed = undefined;
    this.#source = source;
  }

  /** As `parseQuery` gives it. */
  parse(): Parsed<Query> {
    this.#parsed ??= parseQuery(this.#source);
    return this.#parsed;
  }

  /** As `complete` gives it. */
  complete(offset: number, sources: CompletionSources = {}): QueryCompletion {
    return completeWith(this.#expectation, this.#source, offset, sources);
  }

  /** As `explainAt` gives it; undefined in a query that is wrong. */
  explainAt(offset: number): Explanation | undefined {
    const parsed = this.parse();
    return parsed.ok ? explainAt(parsed.value, offset) : undefined;
  }
}
