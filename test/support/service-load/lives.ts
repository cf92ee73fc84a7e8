// A project that is added, filled and removed again and again under one id: nothing of an earlier life may come back.
import { type RpcClient, RpcFailure } from "../../../schema/rpc-client.ts";

const ID = "lives";
const EVENTS = 30;
const ALWAYS = { project_id: ID, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };

export class Lives {
  /** The next step; after a crash the step that was done last may be done or not. */
  #step: "add" | "fill" | "remove" = "add";
  #isUnderWay = false;
  #life = 0;

  /** Lives that ended. */
  get count(): number {
    return this.#life;
  }

  async change(client: RpcClient): Promise<void> {
    this.#isUnderWay = true;
    const life = this.#life;
    if (this.#step === "add") {
      await client.call("add_project", { project: { id: ID, name: "lives" } });
      this.#step = "fill";
    } else if (this.#step === "fill") {
      const events = Array.from({ length: EVENTS }, (_, i) => ({
        level: "info" as const,
        message: `${life}`,
        fields: { i },
      }));
      await client.call("add_events", { project_id: ID, events });
      this.#step = "remove";
    } else {
      await client.call("remove_project", { project_id: ID });
      this.#step = "add";
      this.#life++;
    }
    this.#isUnderWay = false;
  }

  async check(client: RpcClient): Promise<string[]> {
    const messages = await eventsOf(client);
    const allowed = { add: [undefined], fill: [0], remove: [EVENTS] }[this.#step] as (number | undefined)[];
    // A removal that ended half way has removed the events alone.
    const doubtful = { add: [0], fill: [EVENTS], remove: [0, undefined] }[this.#step] as (number | undefined)[];
    const isRight = [...allowed, ...(this.#isUnderWay ? doubtful : [])].includes(messages?.length);
    const isOfThisLife = (messages ?? []).every((message) => message === `${this.#life}`);
    const wrong =
      isRight && isOfThisLife
        ? []
        : [
            `life ${this.#life}, to ${this.#step}: found ${messages?.length} events of the lives ${[...new Set(messages)]}`,
          ];
    if (messages === undefined || (this.#step === "remove" && messages.length === 0)) this.#life++;
    this.#step = messages === undefined ? "add" : messages.length === 0 ? "fill" : "remove";
    this.#isUnderWay = false;
    return wrong;
  }
}

/** The messages of the events; undefined where there is no project. */
async function eventsOf(client: RpcClient): Promise<string[] | undefined> {
  try {
    return (await client.call("search", { ...ALWAYS, limit: 10_000 })).events.map(({ message }) => message);
  } catch (error) {
    if (error instanceof RpcFailure && error.status === 404) return undefined;
    throw error;
  }
}
