import type { ShapePart } from "./order.ts";

/** Where the captures of a matched text are: start and end of each, in the order of the pattern. */
export type CaptureSpans = number[];

/**
 * Makes the function that finds what a pattern's params and trailing `*` hold in a normal text that it matches.
 *
 * Where a text can be read in several ways, every capture, and every `*` between, takes as little as it can, from the
 * left: `/:a-:b` reads x-y-z as x and y-z. Time is linear in the text for ordinary patterns, and at most its length
 * times the number of parts for all others.
 */
export function compileCaptures(shape: readonly ShapePart[], optionalSlash: boolean): (text: string) => CaptureSpans {
  const last = shape.findLastIndex((_, i) => isCapture(shape, i));
  if (last < 0) return () => [];
  return shape.slice(0, last + 1).every((_, i) => isForced(shape, i))
    ? readForced(shape.slice(0, last + 1))
    : (text) => readShortest(shape, optionalSlash, text);
}

function isCapture(shape: readonly ShapePart[], i: number): boolean {
  const { kind } = shape[i]!;
  return kind === "param" || (kind === "wildcard" && i === shape.length - 1);
}

/** Whether there is one way only to read this part: a param ends at a slash or at the end, a wildcard at the end. */
function isForced(shape: readonly ShapePart[], i: number): boolean {
  const part = shape[i]!;
  const next = shape[i + 1];
  if (part.kind === "literal" || next === undefined) return true;
  return part.kind === "param" && next.kind === "literal" && next.text[0] === "/";
}

/** Only lengths count: the text is known to match. */
function readForced(shape: readonly ShapePart[]): (text: string) => CaptureSpans {
  const steps = shape.map((part) =>
    part.kind === "literal" ? part.text.length : part.kind === "param" ? PARAM : SPLAT,
  );
  return (text) => {
    const spans: CaptureSpans = [];
    let at = 0;
    for (const step of steps) {
      if (step >= 0) {
        at += step;
        continue;
      }
      const slash = step === PARAM ? text.indexOf("/", at) : -1;
      const end = slash < 0 ? text.length : slash;
      spans.push(at, end);
      at = end;
    }
    return spans;
  };
}

const PARAM = -1;
const SPLAT = -2;

/** Finds from the right which rests match which parts, and then walks from the left, leaving each part early. */
function readShortest(shape: readonly ShapePart[], optionalSlash: boolean, text: string): CaptureSpans {
  const width = text.length + 1;
  // matches[part * width + at]: the text from `at` matches the pattern from `part`.
  const matches = new Uint8Array((shape.length + 1) * width);
  const end = shape.length * width;
  matches[end + text.length] = 1;
  if (optionalSlash && text.endsWith("/")) matches[end + text.length - 1] = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    const part = shape[i]!;
    const row = i * width;
    // Whether the rest matches where this param or wildcard has begun before.
    let goesOn = 0;
    for (let at = text.length; at >= 0; at--) {
      const rest = matches[row + width + at]!;
      if (part.kind === "literal") {
        const after = at + part.text.length;
        matches[row + at] =
          after <= text.length && matches[row + width + after] && text.startsWith(part.text, at) ? 1 : 0;
      } else if (part.kind === "wildcard") {
        goesOn |= rest;
        matches[row + at] = goesOn;
      } else {
        const takes = at < text.length && text[at] !== "/";
        matches[row + at] = takes ? goesOn : 0;
        goesOn = rest | (takes ? goesOn : 0);
      }
    }
  }

  const spans: CaptureSpans = [];
  let at = 0;
  for (const [i, part] of shape.entries()) {
    if (part.kind === "literal") {
      at += part.text.length;
      continue;
    }
    const start = at;
    if (part.kind === "param") at++;
    while (matches[(i + 1) * width + at] === 0) at++;
    if (isCapture(shape, i)) spans.push(start, at);
  }
  return spans;
}
