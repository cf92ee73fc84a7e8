/** Something that can be found and opened. */
export interface Destination {
  readonly text: string;
  /** The kind of thing: a page, a project, a saved search. */
  readonly kind: string;
  readonly href: string;
}

/** The destinations that have each typed word in their text or kind; those whose text begins with the typed text come first. */
export function matchingDestinations(destinations: readonly Destination[], typed: string): readonly Destination[] {
  const whole = folded(typed.trim());
  const words = whole.split(/\s+/);
  const matches = destinations.filter(({ text, kind }) => {
    const of = folded(`${text} ${kind}`);
    return words.every((word) => of.includes(word));
  });
  const rank = ({ text }: Destination): number => {
    const of = folded(text);
    if (of.startsWith(whole)) return 0;
    return words.every((word) => of.includes(word)) ? 1 : 2;
  };
  return matches.toSorted((a, b) => rank(a) - rank(b));
}

/** Without accents and case, so that `cafe` finds Café. */
const folded = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
