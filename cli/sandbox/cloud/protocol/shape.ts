// The shapes of a service's values: a table that cli/build/sandbox-model.mjs makes, read when it is asked, as shapes may
// contain themselves.

/** `stream` is a blob that may come in parts; the kinds of times but `time` say how one is written. */
export type ShapeKind =
  | "unit"
  | "string"
  | "number"
  | "boolean"
  | "time"
  | "date-time"
  | "http-date"
  | "epoch-seconds"
  | "blob"
  | "stream"
  | "list"
  | "map"
  | "struct";

/** Where a value is in a request or an answer, and what it is called there. */
export interface Traits {
  readonly eventPayload?: 1;
  readonly httpHeader?: string;
  readonly httpLabel?: 1;
  readonly httpPayload?: 1;
  readonly httpPrefixHeaders?: string;
  readonly httpQuery?: string;
  readonly httpQueryParams?: 1;
  readonly httpResponseCode?: 1;
  readonly jsonName?: string;
  readonly streaming?: 1;
  readonly xmlAttribute?: 1;
  readonly xmlFlattened?: 1;
  readonly xmlName?: string;
}

/** The index of a shape in the table, with the traits that it has where it is named. */
export type ShapeReference = number | readonly [index: number, traits: Traits];

/** A simple kind, or the kind with what it consists of; a struct's name is followed by names and references of members. */
export type ShapeRow =
  | ShapeKind
  | readonly ["list", ShapeReference]
  | readonly ["map", ShapeReference, ShapeReference]
  | readonly ["struct", string, ...(string | ShapeReference)[]];

const NO_TRAITS: Traits = {};

export class Shape {
  readonly traits: Traits;
  readonly #table: readonly ShapeRow[];
  readonly #row: ShapeRow;
  #members: ReadonlyMap<string, Shape> | undefined;
  #item: Shape | undefined;
  #key: Shape | undefined;

  constructor(table: readonly ShapeRow[], reference: ShapeReference) {
    const [index, traits] = typeof reference === "number" ? [reference, NO_TRAITS] : reference;
    this.traits = traits;
    this.#table = table;
    this.#row = table[index]!;
  }

  get kind(): ShapeKind {
    return typeof this.#row === "string" ? this.#row : this.#row[0];
  }

  get isTime(): boolean {
    return ["time", "date-time", "http-date", "epoch-seconds"].includes(this.kind);
  }

  get isBlob(): boolean {
    return this.kind === "blob" || this.kind === "stream";
  }

  /** A struct's name. */
  get name(): string | undefined {
    return this.#row[0] === "struct" ? (this.#row[1] as string) : undefined;
  }

  /** A struct's members by name; those of other kinds are none. */
  get members(): ReadonlyMap<string, Shape> {
    this.#members ??= this.#readMembers();
    return this.#members;
  }

  /** The shape of the items of a list or of the values of a map. */
  get item(): Shape {
    this.#item ??= this.#part(this.#row[0] === "map" ? 2 : 1);
    return this.#item;
  }

  /** The shape of the keys of a map. */
  get key(): Shape {
    this.#key ??= this.#part(1);
    return this.#key;
  }

  /** The member in which an operation answers one event after the other. */
  get events(): readonly [name: string, union: Shape] | undefined {
    return [...this.members].find(([, { traits, kind }]) => traits.streaming && kind === "struct");
  }

  #part(at: 1 | 2): Shape {
    return new Shape(this.#table, this.#row[at] as ShapeReference);
  }

  #readMembers(): Map<string, Shape> {
    const members = new Map<string, Shape>();
    if (this.#row[0] !== "struct") return members;
    for (let at = 2; at < this.#row.length; at += 2) {
      members.set(this.#row[at] as string, new Shape(this.#table, this.#row[at + 1] as ShapeReference));
    }
    return members;
  }
}

/** A time as it is written in a place in which `usual` is what is written if the shape does not say. */
export function timeOf({ kind }: Shape, time: Date, usual: ShapeKind): string | number {
  switch (kind === "time" ? usual : kind) {
    case "date-time":
      return time.toISOString();
    case "http-date":
      return time.toUTCString();
    default:
      return time.getTime() / 1000;
  }
}
