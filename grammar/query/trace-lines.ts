/** A frame, or what is shown of the source: `    at main (app.js:1:2)`, `  File "app.py", line 1`. */
const INDENTED = /^[ \t]+\S/;
/** As loggers write them: an entry of its own, however it is indented. */
const JSON_OBJECT = /^\s*\{.*\}\s*$/;
/** A frame whose indentation is lost. */
const FRAME = /^at \S/;
/** Python ends a trace with the error itself, which is not indented. */
const PYTHON = /^Traceback \(most recent call last\):/;
const ERROR = /^[A-Za-z_][\w.]*(?::|$)/;

/** The first and the last line that an entry has so far: all of them would be read again for each further one. */
export interface TraceSoFar {
  readonly first: string;
  readonly last: string;
}

/**
 * Whether a line of plain text belongs to the entry before it, which the same source wrote just before: a trace of a stack
 * is one entry.
 */
export function continuesTrace(line: string, { first, last }: TraceSoFar): boolean {
  if (JSON_OBJECT.test(line)) return false;
  if (INDENTED.test(line) || FRAME.test(line)) return true;
  return PYTHON.test(first) && ERROR.test(line) && INDENTED.test(last);
}
