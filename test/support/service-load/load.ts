// Clients that use a log service all at once, until it is killed, and what each of them was told.
import type { Event } from "../../../schema/rpc.generated.ts";
import { type RpcClient, RpcFailure } from "../../../schema/rpc-client.ts";
import type { Random } from "../random.ts";
import { type Batch, eventsOf, type Kind, keyOf, numberOf, rangeOf } from "./batches.ts";

export const PROJECT = "app";
const KINDS: readonly Kind[] = ["ids", "key", "lines", "plain"];
const MOST_EVENTS = 40;

/** One period of use, from a start of the service to its end. */
export class Load {
  readonly #client: RpcClient;
  readonly #random: Random;
  readonly #from: number;
  readonly batches = new Map<number, Batch>();
  /** The answers and events that the service should not have given or shown. */
  readonly wrong: string[] = [];
  /** The batches that a search or a tail showed before the end. */
  readonly visibleBatches = new Set<number>();
  #isEnding = false;
  #acknowledged = 0;
  #wanted: { readonly count: number; readonly resolve: () => void } | undefined;

  constructor(client: RpcClient, random: Random, from: number) {
    this.#client = client;
    this.#random = random;
    this.#from = from;
  }

  /** The number after the last batch. */
  get next(): number {
    return this.#from + this.batches.size;
  }

  /** Resolves when `count` batches were acknowledged. */
  acknowledged(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (count === 0) resolve();
      else this.#wanted = { count, resolve };
    });
  }

  /** The service is about to be killed: from here on requests may fail. */
  expectEnd(): void {
    this.#isEnding = true;
  }

  /** Does one thing after the other until the service is gone. */
  async repeat(what: string, step: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await step();
      } catch (error) {
        const isRefusal = error instanceof RpcFailure;
        if (isRefusal || !this.#isEnding) this.wrong.push(`${what}: ${(error as Error).stack}`);
        return;
      }
    }
  }

  async ingest(): Promise<void> {
    const number = this.next;
    const size = 1 + this.#random.below(MOST_EVENTS);
    const batch: Batch = { number, kind: this.#random.pick(KINDS), size, state: "unknown" };
    this.batches.set(number, batch);
    // An impatient client sends a batch again before it has the answer.
    const isTwice = batch.kind !== "plain" && this.#random.chance(0.1);
    await Promise.all([send(this.#client, batch), isTwice && send(this.#client, batch)]);
    this.#acknowledged++;
    if (this.#wanted !== undefined && this.#acknowledged >= this.#wanted.count) this.#wanted.resolve();
  }

  /** The count has all that was acknowledged before, and nothing that was not yet sent. */
  async count(): Promise<void> {
    const begun = this.next;
    const acknowledged = sizeOf([...this.batches.values()].filter(({ state }) => state === "there"));
    const range = rangeOf(this.#from, this.#from + 1_000_000);
    const { count } = await this.#client.call("get_count", { project_id: PROJECT, ...range });
    const sent = sizeOf([...this.batches.values()]);
    if (count < acknowledged || count > sent) {
      this.wrong.push(`counted ${count} events, ${acknowledged} acknowledged, ${sent} sent; from ${begun}`);
    }
  }

  async search(): Promise<void> {
    const range = rangeOf(this.#from, this.#from + 1_000_000);
    const request = { project_id: PROJECT, ...range, query: "message ~ /batch/", limit: 100 };
    const { events } = await this.#client.call("search", request);
    for (const event of events) this.#see(event);
    const ids = new Set(events.map(({ id }) => id));
    if (ids.size !== events.length) this.wrong.push(`a search found events twice: ${events.map(({ id }) => id)}`);
  }

  /** One stream, which shows each event once. */
  async tail(): Promise<void> {
    const response = await this.#client.get(`/tail?project_id=${PROJECT}`, { accept: "text/event-stream" });
    const ids = new Set<string>();
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop()!;
      for (const line of lines) {
        if (!line.startsWith("data: ")) continue;
        const event = JSON.parse(line.slice("data: ".length)) as Event & { count?: number };
        if (event.count !== undefined) continue;
        this.#see(event);
        if (ids.has(event.id)) this.wrong.push(`a tail showed ${event.id} twice`);
        ids.add(event.id);
      }
    }
    throw new Error("the tail ended");
  }

  #see(event: Event): void {
    const number = numberOf(event, this.batches);
    // A retry of an earlier period is shown when it is new; its own check counts it.
    if (typeof number === "number") this.visibleBatches.add(number);
    else this.wrong.push(number);
  }
}

/** Resolves when the batch was acknowledged. */
export async function send(client: RpcClient, batch: Batch): Promise<void> {
  const idempotencyKey = keyOf(batch);
  const options = idempotencyKey === undefined ? {} : { idempotencyKey };
  const events = eventsOf(batch);
  if (batch.kind === "lines") {
    await client.ingest(PROJECT, events.map((event) => JSON.stringify(event)).join("\n"), options);
  } else await client.call("add_events", { project_id: PROJECT, events }, options);
  batch.state = "there";
}

export function sizeOf(batches: readonly Batch[]): number {
  return batches.reduce((sum, { size }) => sum + size, 0);
}
