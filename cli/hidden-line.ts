// A value typed or pasted on a terminal, which shows nothing of it. A pasted text may have several lines.
import type { Clock, Timer } from "../grammar/units/clock.ts";

/** The operations of the terminal that reading a hidden line needs. */
export interface HiddenTerminal {
  /** Echo and line editing are off from then on, and Ctrl-C is a character. */
  setRaw(isRaw: boolean): void;
  write(text: string): void;
  /** Calls back with what is typed until the returned function is called. */
  onInput(listener: (text: string) => void): () => void;
  onEnd(listener: () => void): () => void;
}

/** Lines that come faster than anybody types are pasted; a slow connection is as slow as this. */
const PASTE_MS = 250;

const BRACKETED_PASTE = { on: "\u001b[?2004h", off: "\u001b[?2004l", begin: "\u001b[200~", end: "\u001b[201~" };

export type Typed =
  | { readonly kind: "value"; readonly value: string }
  /** Ctrl-C, or the signal that was given. */
  | { readonly kind: "interrupted" }
  | { readonly kind: "ended" };

/**
 * Asks for a value. Enter ends it, unless more follows at once: then it is a line of what is pasted. So does an abort of `signal`,
 * as SIGTERM is not typed: the terminal is as it was before, and shows again what is typed.
 */
export function hiddenLine(
  terminal: HiddenTerminal,
  question: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Typed> {
  if (signal.aborted) return Promise.resolve({ kind: "interrupted" });
  return new Promise((resolve) => {
    // Before the question: what is typed as soon as it is there must not be shown.
    terminal.setRaw(true);
    terminal.write(`${BRACKETED_PASTE.on}${question}`);
    let value = "";
    let isPasted = false;
    let pending = "";
    let enter: Timer | undefined;
    const end = (typed: Typed) => {
      enter?.stop();
      signal.removeEventListener("abort", interrupted);
      stopInput();
      stopEnd();
      terminal.write(`${BRACKETED_PASTE.off}\r\n`);
      terminal.setRaw(false);
      resolve(typed);
    };
    const interrupted = () => end({ kind: "interrupted" });
    signal.addEventListener("abort", interrupted);
    const take = (text: string) => {
      // After Enter more has come: that was the end of a line only.
      if (enter !== undefined) {
        enter?.stop();
        enter = undefined;
        value += "\n";
      }
      value += text;
    };
    const key = (char: string) => {
      if (isPasted) return take(char === "\r" ? "\n" : char);
      switch (char) {
        case "\r":
        case "\n":
          if (enter !== undefined) take("");
          enter = clock.after(PASTE_MS, () => end({ kind: "value", value }));
          return;
        case "\u0003":
          return interrupted();
        case "\u0004":
          return value === "" ? end({ kind: "ended" }) : end({ kind: "value", value });
        case "\u0008":
        case "\u007f":
          value = [...value].slice(0, -1).join("");
          return;
        case "\u0015":
          value = "";
          return;
        default:
          // Tabs are text, other keys of control are none.
          if (char >= " " || char === "\t") take(char);
      }
    };
    const stopEnd = terminal.onEnd(() => end(value === "" ? { kind: "ended" } : { kind: "value", value }));
    const stopInput = terminal.onInput((text) => {
      let rest = pending + text;
      pending = "";
      while (rest !== "") {
        const [sequence] = /^\u001b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])/.exec(rest) ?? [];
        if (sequence !== undefined) {
          if (sequence === BRACKETED_PASTE.begin) isPasted = true;
          if (sequence === BRACKETED_PASTE.end) isPasted = false;
          rest = rest.slice(sequence.length);
          continue;
        }
        // The beginning of a sequence, whose rest comes with the next data.
        if (/^\u001b(?:\[[0-9;?]*|O)?$/.test(rest) && rest.length < 16) {
          pending = rest;
          return;
        }
        const char = String.fromCodePoint(rest.codePointAt(0)!);
        rest = rest.slice(char.length);
        key(char);
      }
    });
  });
}
