import { Readable } from "node:stream";

/** How much of a body is kept to send it again: enough for forms and API calls. A client repeats an upload itself. */
const MAX_KEPT_BYTES = 256 * 1024;

/** A request's body that can be sent again, as long as no more of it was read than is kept. */
export class RequestBody {
  readonly #source: Readable;
  readonly #onRead: () => void;
  readonly #maxKeptBytes: number;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #sink: Readable | undefined;
  #isReading = false;
  #ended = false;
  #error: Error | undefined;

  /** `onRead` is called for each part that the client sent. */
  constructor(source: Readable, onRead: () => void, maxKeptBytes = MAX_KEPT_BYTES) {
    this.#source = source;
    this.#onRead = onRead;
    this.#maxKeptBytes = maxKeptBytes;
  }

  /** All that was read is kept: `open` may be called once more. */
  get isReplayable(): boolean {
    return this.#keptBytes <= this.#maxKeptBytes;
  }

  /** The body from its first byte. A stream that was opened before gets no more of it. */
  open(): Readable {
    const sink = new Readable({ read: () => void this.#source.resume() });
    this.#sink = sink;
    for (const part of this.#kept) sink.push(part);
    if (this.#ended) sink.push(null);
    if (this.#error !== undefined) sink.destroy(this.#error);
    if (!this.#isReading) this.#read();
    return sink;
  }

  #read(): void {
    this.#isReading = true;
    this.#source.on("data", (part: Buffer) => {
      this.#onRead();
      this.#keptBytes += part.length;
      if (this.isReplayable) this.#kept.push(part);
      else this.#kept = [];
      if (this.#sink?.push(part) === false) this.#source.pause();
    });
    this.#source.on("end", () => {
      this.#ended = true;
      this.#sink?.push(null);
    });
    this.#source.on("error", (error) => {
      this.#error = error;
      this.#sink?.destroy(error);
    });
  }
}
