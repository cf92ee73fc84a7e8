/** The words of a command line that is being typed, without quotes. After a space the last one is empty. */
export function splitLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    if (quote === "'" || quote === '"') {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && /["\\$`]/.test(line[i + 1] ?? "")) word += line[++i]!;
      else word += char;
    } else if (char === " " || char === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === "\\") {
      word = (word ?? "") + (line[++i] ?? "");
    } else if (/[;|&]/.test(char)) {
      // Another command begins.
      words.length = 0;
      word = undefined;
    } else word = (word ?? "") + char;
  }
  return [...words, word ?? ""];
}

/** bash replaces only the text after the last `=` or `:` of a word. */
export function afterBreak(typed: string, value: string): string {
  const begun = /^.*[=:]/.exec(typed)?.[0] ?? "";
  return value.startsWith(begun) ? value.slice(begun.length) : value;
}
