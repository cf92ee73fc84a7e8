// The calls to the stand-in, in their order.

export interface JournalEntry {
  readonly service: string;
  operation: string;
  readonly region: string;
  /** Without bytes: a blob is written as its length. */
  input: unknown;
  readonly at: number;
  /** "ok", the code of an error, or "dropped" if the connection was cut. */
  outcome: string;
  /** Size of the request's body. */
  readonly bytes: number;
}

export class Journal {
  readonly entries: JournalEntry[] = [];

  add(entry: JournalEntry): JournalEntry {
    this.entries.push(entry);
    return entry;
  }

  /** `service.Operation` of every call, in order; of one service where it is named. */
  calls(service?: string): string[] {
    const own = this.entries.filter((entry) => service === undefined || entry.service === service);
    return own.map((entry) => `${entry.service}.${entry.operation}`);
  }

  count(service: string, operation: string): number {
    return this.calls(service).filter((call) => call === `${service}.${operation}`).length;
  }

  clear(): void {
    this.entries.length = 0;
  }
}

export function withoutBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(withoutBytes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutBytes(one)]));
}
