/** The limits that clients can run into. Each is tested on both sides. */
export const LIMITS = {
  /** Body of a request as it is sent. A thousand events of the usual size take a tenth of it. */
  bodyBytes: 5 * 1024 * 1024,
  /** Body when decompressed: it is held in memory. */
  inflatedBytes: 20 * 1024 * 1024,
  /** Body of a request that needs no credential, and of a form. */
  publicBodyBytes: 16 * 1024,
  eventsPerBatch: 10_000,
  eventBytes: 256 * 1024,
  messageBytes: 64 * 1024,
  /** Keys at all levels of an event's fields. */
  fieldsPerEvent: 250,
  /** Nested objects and lists; `fields` itself is the first. */
  fieldsDepth: 10,
  /** Objects and lists of a JSON body, or of a line. The 10,000 events of a batch may have fifty each. */
  objectsPerBody: 500_000,
  idempotencyKeyLength: 255,
  /** Time that a query may take before it is stopped. */
  queryMs: 30_000,
  /** Queries of one token that run at once; others wait. */
  queriesPerToken: 4,
  queriesWaitingPerToken: 100,
  /** SQL statements of all tokens that run at once: each has a process of up to 1 GiB with two threads. One of several teams has at most half. */
  sqlAtOnce: 4,
  /** Requests of one token. Lets a burst of ingest after an outage pass, but not a loop without a pause. */
  requestsPerSecond: 1_000,
  requestBurst: 2_000,
  /** Some clients never retry, so a request is held this long before it is refused with Retry-After. */
  holdMs: 3_000,
  /** Requests of all tokens held at once: more than one token can have waiting (3,000), since each costs a socket. */
  requestsHeld: 5_000,
  /** All bodies that are being read or processed, together. */
  bodyBytesInFlight: 256 * 1024 * 1024,
  tailsPerToken: 16,
  /** Exports that are sent at once to one person, by any session or token of theirs, or to one token of nobody. */
  exportsPerPerson: 2,
  /** Exports of one team at once: other teams find a place, too. */
  exportsPerTeam: 4,
  /** Exports of all teams at once: each holds a page of up to 16 MiB. */
  exportsAtOnce: 8,
  /** Records of a team. Whoever runs the service sets others by TOOL_TEAM_LIMITS. */
  projectsPerTeam: 200,
  alertsPerTeam: 1_000,
  searchesPerTeam: 5_000,
  /** Tokens of the API and of CI. */
  tokensPerTeam: 1_000,
  notificationsPerTeam: 1_000,
  /**
   * Connections of one network address, or its open requests if it comes by a trusted proxy: one client cannot take all sockets of
   * the process. A network of many senders has one address.
   */
  connectionsPerAddress: 1_000,
  /** Time to receive the head of a request, then all of it. */
  headersMs: 15_000,
  requestMs: 60_000,
  /** A connection without any traffic for this long is closed: its reader is gone. */
  stalledMs: 60_000,
} as const;

export type Limits = { readonly [Name in keyof typeof LIMITS]: number };
