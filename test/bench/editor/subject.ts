// A server that is measured: started, typed into, asked, and looked at from outside.
import { readFileSync } from "node:fs";
import { type LspClient, startLsp } from "../../support/lsp-client.ts";

/** The clock that Linux counts a process's time by (USER_HZ); 100 everywhere. */
const TICK_MS = 10;

export const URI = "file:///nonexistent/app/tool.json";

export class Subject {
  readonly name: string;
  readonly client: LspClient;
  #text = "";
  #version = 1;
  #places: readonly Place[] = [];
  #keystrokes = 0;

  constructor(name: string, argv?: readonly string[]) {
    this.name = name;
    this.client = startLsp({ ...(argv && { argv: [...argv] }), keepsAnswers: false });
  }

  async open(text: string, capabilities: object = PULLS): Promise<void> {
    await this.client.initialize({ capabilities });
    this.#text = text;
    this.#places = placesIn(text);
    this.client.open(URI, text);
  }

  /** One letter, at each of the places in turn; the next time there it is taken back. */
  type(): void {
    const { line, character } = this.#places[this.#keystrokes % this.#places.length]!;
    const isTyped = Math.floor(this.#keystrokes / this.#places.length) % 2 === 1;
    this.#keystrokes++;
    const end = { line, character: character + (isTyped ? 1 : 0) };
    this.client.notify("textDocument/didChange", {
      textDocument: { uri: URI, version: ++this.#version },
      contentChanges: [{ range: { start: { line, character }, end }, text: isTyped ? "" : "x" }],
    });
  }

  /** The time until an answer; an error is no answer. */
  async ask(method: string, params: object = {}): Promise<Time> {
    const begin = performance.now();
    const busyBefore = this.#busyMs();
    const { error } = await this.client.request(method, { textDocument: { uri: URI }, ...params });
    if (error !== undefined && error.code !== REFUSED) throw new Error(`${this.name}: ${method}: ${error.message}`);
    return { ms: performance.now() - begin, busyMs: this.#busyMs() - busyBefore };
  }

  /** The same right after a keystroke, whose work is a part of it. */
  async typeAndAsk(method: string, params: object = {}): Promise<Time> {
    const begin = performance.now();
    const busyBefore = this.#busyMs();
    this.type();
    await this.ask(method, params);
    return { ms: performance.now() - begin, busyMs: this.#busyMs() - busyBefore };
  }

  /** Milliseconds until the answer to a request that is taken back soon after it was made. */
  async cancel(method: string): Promise<number> {
    const { id, answer } = this.client.send(method, { textDocument: { uri: URI } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const begin = performance.now();
    this.client.notify("$/cancelRequest", { id });
    await answer;
    return performance.now() - begin;
  }

  /** The offset of a word's letter. */
  place(word: string): Place {
    return placeOf(this.#text, this.#text.indexOf(word));
  }

  get end(): Place {
    return placeOf(this.#text, this.#text.length);
  }

  /** Processor time so far, of all threads. */
  cpuMs(): number {
    const fields = readFileSync(`/proc/${this.client.child.pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }

  /** How long its main thread has been at work, to the nanosecond. */
  #busyMs(): number {
    const { pid } = this.client.child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  }

  residentMiB(): number {
    const status = readFileSync(`/proc/${this.client.child.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  }
}

export interface Time {
  /** By the clock: how long a user waits. */
  readonly ms: number;
  /** Time of the server's main thread: what a person waits whose machine does nothing else, less the round trip. */
  readonly busyMs: number;
}

export const PULLS = { textDocument: { diagnostic: {} } };

/** A rename that would make things worse is refused, which takes as long. */
const REFUSED = -32803;

export interface Place {
  readonly line: number;
  readonly character: number;
}

/** A key of the file, a pattern, a location, a header and a query, far apart from one another. */
function placesIn(text: string): readonly Place[] {
  const behind = (word: string, from: number) => text.indexOf(word, text.length * from) + word.length;
  const offsets = [
    text.indexOf('"name"') + 5,
    behind('"/section-', 0.2),
    behind('"/new/section-', 0.5),
    behind("max-age=", 0.8),
    behind("and path = /", 0.9),
  ];
  return offsets.map((offset) => placeOf(text, offset));
}

function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length - 1, character: offset - (before.lastIndexOf("\n") + 1) };
}
