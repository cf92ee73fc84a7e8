/** Things by runs of bytes, looked up without making a string of them. */
export class ByteTable<Item> {
  #slots: (Entry<Item> | undefined)[] = new Array(8).fill(undefined);
  #size = 0;

  /** Returns the item of the bytes from `begin` to below `end`, whose `hashOf` is `hash`. */
  find(bytes: Uint8Array, begin: number, end: number, hash: number): Item | undefined {
    const slots = this.#slots;
    const length = end - begin;
    for (let at = hash & (slots.length - 1); ; at = (at + 1) & (slots.length - 1)) {
      const entry = slots[at];
      if (entry === undefined) return undefined;
      if (entry.hash !== hash || entry.bytes.length !== length) continue;
      let i = 0;
      while (i < length && entry.bytes[i] === bytes[begin + i]) i++;
      if (i === length) return entry.item;
    }
  }

  /** For bytes that are not there yet. */
  // biome-ignore lint/complexity/useMaxParams: called for each new key in the loop over bytes, where an object would be garbage.
  add(bytes: Uint8Array, begin: number, end: number, hash: number, item: Item): void {
    if (++this.#size * 2 > this.#slots.length) this.#grow();
    put(this.#slots, { bytes: Uint8Array.prototype.slice.call(bytes, begin, end), hash, item });
  }

  #grow(): void {
    const slots: (Entry<Item> | undefined)[] = new Array(this.#slots.length * 2).fill(undefined);
    for (const entry of this.#slots) if (entry !== undefined) put(slots, entry);
    this.#slots = slots;
  }
}

interface Entry<Item> {
  readonly bytes: Uint8Array;
  readonly hash: number;
  readonly item: Item;
}

function put<Item>(slots: (Entry<Item> | undefined)[], entry: Entry<Item>): void {
  let at = entry.hash & (slots.length - 1);
  while (slots[at] !== undefined) at = (at + 1) & (slots.length - 1);
  slots[at] = entry;
}

/** Where a hash begins; another one in each process, so that nobody can send keys that all collide. */
export const HASH_SEED = (Math.random() * 2 ** 32) | 0;

/** FNV-1a, a byte at a time. */
export const nextHash = (hash: number, byte: number) => Math.imul(hash ^ byte, 0x01000193);

export function hashOf(bytes: Uint8Array): number {
  let hash = HASH_SEED;
  for (const byte of bytes) hash = nextHash(hash, byte);
  return hash;
}
