/** What the service takes of its clients. Each is tested on both sides. */
export const LIMITS = {
  /** A request's body as it is sent. A thousand events of the usual size take a tenth of it. */
  bodyBytes: 5 * 1024 * 1024,
  /** The body when it is unpacked: it is held in memory. */
  inflatedBytes: 20 * 1024 * 1024,
  eventsPerBatch: 10_000,
  eventBytes: 256 * 1024,
  messageBytes: 64 * 1024,
  /** Keys at all levels of an event's fields. */
  fieldsPerEvent: 250,
  /** Objects and lists within each other, `fields` itself the first. */
  fieldsDepth: 10,
  idempotencyKeyLength: 255,
  /** What a query may take before it is stopped. */
  queryMs: 30_000,
  /** Queries of one token that run at once; more wait. */
  queriesPerToken: 4,
  queriesWaitingPerToken: 100,
  /** SQL statements that run at once, of all tokens: each has a process of up to 1 GiB with two threads. */
  sqlAtOnce: 4,
  /** Requests of one token. A burst of ingest after an outage passes; a loop without a pause does not. */
  requestsPerSecond: 1_000,
  requestBurst: 2_000,
  /** Some clients never retry: a request is held so long before it is told to come back. */
  holdMs: 3_000,
  /** All that one token may still have answered within that time, and some that are told to come back: each costs a socket. */
  requestsHeld: 5_000,
  /** Bodies that are being read or worked on, all together. */
  bodyBytesInFlight: 256 * 1024 * 1024,
  tailsPerToken: 16,
  /** For the head of a request, then for all of it. */
  headersMs: 15_000,
  requestMs: 60_000,
  /** A reader of answers that takes no byte for so long is gone. */
  stalledMs: 60_000,
} as const;

export type Limits = { readonly [Name in keyof typeof LIMITS]: number };
