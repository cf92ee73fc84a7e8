import type { CompletionItem } from "../../../grammar/query/index.ts";

/** Where text goes that an item of completion brings, and where the cursor is after it. */
export interface Completed {
  readonly text: string;
  readonly cursor: number;
}

/**
 * A text with an item of completion put in. A value to fill in, which only editors can mark, is left empty. A word that
 * something has to follow has a blank after it.
 */
export function completed(text: string, { insertText, snippet, span, kind }: CompletionItem): Completed {
  const hole = snippet === undefined ? -1 : snippet.search(/\$\{?\d/);
  const isFollowed = (kind === "keyword" || kind === "operator") && !/^\s/.test(text.slice(span.end));
  const inserted = hole < 0 ? `${insertText}${isFollowed && !/\s$/.test(insertText) ? " " : ""}` : plain(snippet!);
  const at = hole < 0 ? inserted.length : plain(snippet!.slice(0, hole)).length;
  return { text: text.slice(0, span.start) + inserted + text.slice(span.end), cursor: span.start + at };
}

/** A snippet of the Language Server Protocol without its holes. */
const plain = (snippet: string) =>
  snippet.replace(/\\([$}\\])|\$\{\d+(?::[^}]*)?\}|\$\d+/g, (_, escaped: string | undefined) => escaped ?? "");
