import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { keep, readKept } from "../data/preferences.ts";

/** The choices of a person about the fields of a project, kept in this browser. */
export interface FieldChoices {
  /** Undefined if the person has neither opened nor closed it. */
  isOpen(field: string): boolean | undefined;
  isPinned(field: string): boolean;
  open(field: string, isOpen: boolean): void;
  /** Pins a field above the others, or no longer. */
  pin(field: string): void;
}

export function useFieldChoices(projectId: string): FieldChoices {
  const openName = `facets.${projectId}`;
  const pinName = `pins.${projectId}`;
  const opened = useSignal(useMemo(() => readChoices(openName), [openName]));
  const pinned = useSignal(useMemo(() => readChoices(pinName), [pinName]));
  return {
    isOpen: (field) => opened.value.get(field),
    isPinned: (field) => pinned.value.get(field) === true,
    open(field, isOpen) {
      opened.value = new Map(opened.value).set(field, isOpen);
      keep(openName, JSON.stringify([...opened.value]));
    },
    pin(field) {
      const next = new Map(pinned.value);
      if (!next.delete(field)) next.set(field, true);
      pinned.value = next;
      keep(pinName, JSON.stringify([...next]));
    },
  };
}

function readChoices(name: string): ReadonlyMap<string, boolean> {
  try {
    const kept: unknown = JSON.parse(readKept(name) ?? "[]");
    const pairs = Array.isArray(kept) ? kept.filter((one) => Array.isArray(one) && typeof one[0] === "string") : [];
    return new Map(pairs.map(([field, choice]) => [field as string, choice === true]));
  } catch {
    return new Map();
  }
}
