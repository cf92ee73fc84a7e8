import { visibleParts } from "./visible.ts";

/** A text from anybody, in which nothing hides. */
export function Text({ text, keepsLines = false }: { readonly text: string; readonly keepsLines?: boolean }) {
  const parts = visibleParts(text, { keepsLines });
  if (parts.length === 1 && !parts[0]!.isOdd) return <span class="text">{parts[0]!.text}</span>;
  return (
    <span class="text">
      {parts.map(({ text, isOdd }, i) =>
        isOdd ? (
          <span class="odd" key={i}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </span>
  );
}
