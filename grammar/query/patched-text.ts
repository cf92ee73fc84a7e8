import type { Fix, Span, TextEdit } from "../problem.ts";

/**
 * A text that was changed so that parsing could continue, and where each of its characters comes from. Problems found in
 * the changed text are reported at their places in the original.
 */
export class PatchedText {
  readonly text: string;
  /** For each character, the span of the original that it comes from; -1 if it was put in. */
  readonly #from: readonly number[];
  readonly #to: readonly number[];
  readonly #originalLength: number;

  private constructor(text: string, from: readonly number[], to: readonly number[], originalLength: number) {
    this.text = text;
    this.#from = from;
    this.#to = to;
    this.#originalLength = originalLength;
  }

  static of(text: string): PatchedText {
    const from = Array.from({ length: text.length }, (_, at) => at);
    return new PatchedText(
      text,
      from,
      from.map((at) => at + 1),
      text.length,
    );
  }

  /** Inserted text stands for nothing, a replacement for what it replaces. The edits do not overlap. */
  apply(edits: readonly TextEdit[]): PatchedText {
    const sorted = [...edits].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
    let text = "";
    const from: number[] = [];
    const to: number[] = [];
    let at = 0;
    const keep = (end: number) => {
      text += this.text.slice(at, end);
      for (; at < end; at++) {
        from.push(this.#from[at]!);
        to.push(this.#to[at]!);
      }
    };
    for (const { span, text: added } of sorted) {
      if (span.start < at) continue;
      keep(span.start);
      const origin = span.start === span.end ? undefined : this.#cover(span);
      text += added;
      for (let count = added.length; count > 0; count--) {
        from.push(origin?.start ?? -1);
        to.push(origin?.end ?? -1);
      }
      at = span.end;
    }
    keep(this.text.length);
    return new PatchedText(text, from, to, this.#originalLength);
  }

  /** The span in the original. Undefined if it touches text that was put in. */
  original(span: Span): Span | undefined {
    if (span.start === span.end) {
      const at = this.#offset(span.start);
      return at === undefined ? undefined : { start: at, end: at };
    }
    for (let at = span.start; at < span.end; at++) if (this.#from[at] === -1) return undefined;
    return this.#cover(span);
  }

  /** The same change for the original. Undefined if it would touch what was changed already. */
  originalFix(fix: Fix): Fix | undefined {
    const edits: TextEdit[] = [];
    for (const { span, text } of fix.edits) {
      for (let at = span.start; at < span.end; at++) if (!this.#isOriginal(at)) return undefined;
      const mapped = this.original(span);
      if (mapped === undefined || mapped.end - mapped.start !== span.end - span.start) return undefined;
      edits.push({ span: mapped, text });
    }
    return { ...fix, edits };
  }

  #cover({ start, end }: Span): Span | undefined {
    let first = Number.POSITIVE_INFINITY;
    let last = -1;
    for (let at = start; at < end; at++) {
      if (this.#from[at] === -1) continue;
      first = Math.min(first, this.#from[at]!);
      last = Math.max(last, this.#to[at]!);
    }
    return last < 0 ? undefined : { start: first, end: last };
  }

  #offset(at: number): number | undefined {
    if (at < this.text.length && this.#isOriginal(at)) return this.#from[at];
    if (at > 0 && this.#isOriginal(at - 1)) return this.#to[at - 1];
    return this.text.length === 0 ? this.#originalLength : undefined;
  }

  #isOriginal(at: number): boolean {
    return this.#from[at] !== -1 && this.#to[at] === this.#from[at]! + 1;
  }
}
