/** A text as one word of a POSIX shell, quoted if it has to be. */
export function shellWord(text: string): string {
  return /^[\w./:@+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
