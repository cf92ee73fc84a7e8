import { useState } from "preact/hooks";
import {
  CLASHED,
  clashesOf,
  type Edits,
  edited,
  keepingMine,
  withEdits,
  withoutEdit,
  withoutSent,
} from "../data/edits.ts";
import type { Clash } from "./clash-note.tsx";

/** A record that is edited here while others may change it. */
export interface Editing<T> {
  /** The saved record, with what was typed here. Members that were not typed follow what others save. */
  readonly draft: T;
  readonly isChanged: boolean;
  set(part: Partial<T>): void;
  /** Drops what was typed of a member. */
  drop(name: keyof T): void;
  /** The draft over what is saved now. Throws if somebody else changed what was changed here. */
  over(fresh: T): T;
  /** Ends the edits that `over` sent, once it is known what is stored now. What was typed since then stays. */
  sent(stored: T): void;
  /** The choice that its field shows if somebody else changed a member that was changed here. `words` says a value. */
  clashAt<K extends keyof T>(name: K, words?: (value: T[K]) => string): Clash | undefined;
}

export function useEdits<T extends object>(saved: T): Editing<T> {
  const [edits, setEdits] = useState<Edits<T>>({});
  const draft = withEdits(saved, edits);
  const clashes = clashesOf(edits, saved);
  return {
    draft,
    isChanged: JSON.stringify(draft) !== JSON.stringify(saved),
    set: (part) => setEdits((before) => edited(before, saved, part)),
    drop: (name) => setEdits((before) => withoutEdit(before, name)),
    over(fresh) {
      if (clashesOf(edits, fresh).length > 0) throw new Error(CLASHED);
      return withEdits(fresh, edits);
    },
    sent: (stored) => setEdits((before) => withoutSent(before, edits, stored)),
    clashAt: (name, words = String) =>
      clashes.includes(name)
        ? {
            theirs: words(saved[name]),
            onMine: () => setEdits((before) => keepingMine(before, saved, name)),
            onTheirs: () => setEdits((before) => withoutEdit(before, name)),
          }
        : undefined,
  };
}
