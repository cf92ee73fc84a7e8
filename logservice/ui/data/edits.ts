/** The edits of the members of a record: the value of each when the typing began, and the value that it is to have. */
export type Edits<T> = { readonly [K in keyof T]?: { readonly from: T[K]; readonly to: T[K] } };

/** The error of a save while something has two values. */
export const CLASHED =
  "Somebody else changed what you changed here. Choose above which of the two stays, then save again.";

/**
 * Adds what was typed to the edits of a record. A member that is again as it was is no edit, and follows what others
 * save: unless they have saved another value already, which must not take the place of what was just typed.
 */
export function edited<T extends object>(edits: Edits<T>, saved: T, part: Partial<T>): Edits<T> {
  const all: { [K in keyof T]?: { readonly from: T[K]; readonly to: T[K] } } = { ...edits };
  for (const name of namesOf(part)) {
    const from = name in edits ? edits[name]!.from : saved[name];
    const to = part[name]!;
    delete all[name];
    if (JSON.stringify(to) !== JSON.stringify(from) || !isSame(saved[name], from)) all[name] = { from, to };
  }
  return all;
}

/** The record as it is shown: what is saved, with the edits. */
export function withEdits<T extends object>(saved: T, edits: Edits<T>): T {
  return { ...saved, ...Object.fromEntries(namesOf(edits).map((name) => [name, edits[name]!.to])) };
}

/** The members that were edited here, and since then got another value elsewhere. */
export function clashesOf<T extends object>(edits: Edits<T>, saved: T): readonly (keyof T)[] {
  return namesOf(edits).filter((name) => {
    const { from, to } = edits[name]!;
    return !isSame(saved[name], from) && !isSame(saved[name], to);
  });
}

/** Ends a clash: what was typed here stays, and is over what is saved now. */
export function keepingMine<T extends object>(edits: Edits<T>, saved: T, name: keyof T): Edits<T> {
  return { ...edits, [name]: { from: saved[name], to: edits[name]!.to } };
}

/** Ends a clash, or an edit: what is saved is shown. */
export function withoutEdit<T extends object>(edits: Edits<T>, name: keyof T): Edits<T> {
  const { [name]: _, ...others } = edits;
  return others as Edits<T>;
}

/** The edits after those of `sent` were saved: what was typed meanwhile is over what is stored now. */
export function withoutSent<T extends object>(edits: Edits<T>, sent: Edits<T>, stored: T): Edits<T> {
  const left = namesOf({ ...sent, ...edits }).flatMap((name) => {
    if (!(name in sent)) return [[name, edits[name]]];
    // A member that was typed back is no edit any more, and is to be as it was before.
    const to = name in edits ? edits[name]!.to : sent[name]!.from;
    return JSON.stringify(to) === JSON.stringify(sent[name]!.to) ? [] : [[name, { from: stored[name], to }]];
  });
  return Object.fromEntries(left);
}

/** Blanks around a text are not saved. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === "string" && typeof other === "string") return one.trim() === other.trim();
  return JSON.stringify(one) === JSON.stringify(other);
}

const namesOf = <T extends object>(of: T) => Object.keys(of) as (keyof T)[];
