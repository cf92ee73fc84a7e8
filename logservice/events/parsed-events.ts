/** Keeps parsed events, until it is told to forget them. */
interface Keeper {
  forgetParsed(): void;
}

/** More memory than this is not for events that were parsed, of all memtables together. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Objects and texts take several times the bytes of their JSON, and an event some more than that. */
const BYTES_OF_LINE_BYTE = 4;
const EVENT_BYTES = 400;

/** The share of memory that parsed events have: those that were read last. What is forgotten is parsed again. */
export class ParsedEvents {
  readonly mostBytes: number;
  /** An estimate. */
  bytes = 0;
  /** By their keepers; those that were read last come last. */
  readonly #bytes = new Map<Keeper, number>();
  #last: Keeper | undefined;

  constructor(mostBytes = MOST_BYTES) {
    this.mostBytes = mostBytes;
  }

  /** Notes that a keeper's events were read. */
  use(keeper: Keeper): void {
    if (this.#last === keeper) return;
    const bytes = this.#bytes.get(keeper);
    if (bytes === undefined) return;
    this.#bytes.delete(keeper);
    this.#bytes.set(keeper, bytes);
    this.#last = keeper;
  }

  /** Counts an event that is kept from now on, whose line has so many bytes. Others are forgotten as far as is needed. */
  add(keeper: Keeper, lineBytes: number): void {
    this.use(keeper);
    const bytes = EVENT_BYTES + BYTES_OF_LINE_BYTE * lineBytes;
    this.bytes += bytes;
    this.#bytes.set(keeper, (this.#bytes.get(keeper) ?? 0) + bytes);
    for (const oldest of this.#bytes.keys()) {
      if (this.bytes <= this.mostBytes) break;
      this.forget(oldest);
    }
  }

  forget(keeper: Keeper): void {
    const bytes = this.#bytes.get(keeper);
    if (bytes === undefined) return;
    this.#bytes.delete(keeper);
    if (this.#last === keeper) this.#last = undefined;
    this.bytes -= bytes;
    keeper.forgetParsed();
  }
}
