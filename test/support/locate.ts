/** Where the text of a step is in a text: `from` and `to` of the text without its `|`, and the offset of the `|`. */
export function locate(text: string, marked: string): { from: number; to: number; cursor: number } {
  const plain = marked.replace("|", "");
  const from = text.indexOf(plain);
  if (from < 0) throw new Error(`not in the text: ${plain}`);
  if (text.indexOf(plain, from + 1) >= 0) throw new Error(`more than once in the text: ${plain}`);
  return { from, to: from + plain.length, cursor: from + Math.max(0, marked.indexOf("|")) };
}
