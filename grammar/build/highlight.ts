// The tables that say how a language is coloured, and what is made from them: a TextMate grammar (highlight-textmate.ts)
// and the tables of our own tokenizer (highlight-stream.ts). Both run the same machine, with a stack of contexts.
import type { TokenType } from "../highlight.ts";

/** How a language is coloured. What its tokens look like is defined by its Ohm grammar alone. */
export interface Highlighting {
  /** The name of the language in editors. */
  readonly name: string;
  /** The scope of the whole TextMate grammar. Its last part is added to each scope of the table. */
  readonly scopeName: string;
  readonly fileTypes: readonly string[];
  /** A text is one line: rules may match a line end, where the editor does not show them one. */
  readonly isOneLine?: boolean;
  /** Scope of the language that contains this one, if it is embedded. */
  readonly host?: string;
  /** Rules, in Ohm's notation, for what the grammar has no rule for: text that is wrong, and what begins a region. */
  readonly rules: string;
  /** The contexts that a text can start in. Others can include them: `<scopeName>#<context>`. */
  readonly starts: readonly string[];
  readonly contexts: Readonly<Record<string, HighlightContext>>;
}

/**
 * The tokens that may occur in a place. The first leaf that matches at the current position is a token (those that only
 * leave are tried first, or last if other text leaves the context too). Blanks that no leaf matches are skipped.
 */
export interface HighlightContext {
  readonly leaves: readonly Leaf[];
  /** Scope of everything in it, from what enters it to what leaves it. */
  readonly scope?: string;
  /** Type of text that no leaf matches. Without it, such text leaves the context. */
  readonly textType?: TokenType;
  /** Whether the end of the line leaves it. */
  readonly endsWithLine?: true;
}

export interface Leaf {
  /** A lexical rule. */
  readonly rule: string;
  readonly type: TokenType;
  /** Without it the token has the scope of its context. */
  readonly scope?: string;
  /** Rules within this one that look differently. */
  readonly parts?: Readonly<Record<string, { readonly type: TokenType; readonly scope: string }>>;
  /** Matches only directly after this text, or (`notAfter`) only elsewhere. */
  readonly after?: string;
  readonly notAfter?: string;
  /** Matches only where the text begins, or the region that includes the grammar. */
  readonly isFirst?: true;
  /** The context to read next, which returns here. */
  readonly enter?: string;
  /** Leaves this context; with `enter`, for that other one. */
  readonly leave?: true;
}
