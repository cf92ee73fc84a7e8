/**
 * A regular expression of a query as filter patterns take it: letters, digits, a few symbols, classes, anchors, quantifiers
 * and `|`, no groups. Undefined if it needs more, or where the two languages may differ.
 */
export function toPatternRegex(source: string, flags: string): string | undefined {
  if (flags !== "") return undefined;
  let text = "";
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at);
    const [piece, translated] = readPiece(rest) ?? [];
    if (piece === undefined || translated === undefined) return undefined;
    text += translated;
    at += piece.length;
  }
  // An empty alternative, or one of anchors alone, finds everything.
  return text.split("|").every((branch) => /[^^$]/.test(branch)) ? text : undefined;
}

function readPiece(rest: string): readonly [piece: string, translated: string] | undefined {
  const plain = /^[A-Za-z0-9_#=@/;, -]/.exec(rest)?.[0];
  if (plain !== undefined) return [plain, plain];
  // Quantifiers need something before them, which parsing the query has made sure of; a second one would be another thing.
  const operator = /^[\^$|]|^[+*?](?![+*?])/.exec(rest)?.[0];
  if (operator !== undefined) return [operator, operator];
  const digits = /^\\[dw]/.exec(rest)?.[0];
  if (digits !== undefined) return [digits, digits];
  // A class of plain characters and ranges of them.
  const characters = /^\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_])+\]/.exec(rest)?.[0];
  if (characters !== undefined) return [characters, characters];
  const symbol = /^(?:\\([!-/:-@[-`{-~])|([!"%&'<>`~:]))/.exec(rest);
  if (symbol !== null) {
    const char = symbol[1] ?? symbol[2]!;
    return [symbol[0], `\\x${char.charCodeAt(0).toString(16)}`];
  }
  return undefined;
}
