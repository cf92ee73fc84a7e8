// The operations that a test needs of a browser, in as few words as two libraries can both say.
import type { Faults } from "./faults.ts";

export interface BrowserDriver {
  readonly name: "Chromium" | "Firefox";
  /** A window of a person who shares nothing with others: no cookie, no storage. */
  newPerson(faults: Faults, options?: PersonOptions): Promise<PageDriver>;
  close(): Promise<void>;
}

export interface PersonOptions {
  readonly width?: number;
  readonly height?: number;
  /** Pixels of the screen for each one of the page. Chromium only. */
  readonly scale?: number;
}

/** An element that was found. */
export interface PageElement {
  press(modifier?: "Alt"): Promise<void>;
  focus(): Promise<void>;
  /** Chooses one of a list of options by its value. */
  choose(value: string): Promise<void>;
}

export interface PageDriver {
  open(url: string): Promise<void>;
  url(): string;
  /** The value of an expression in the page, which must be JSON. */
  evaluate<T>(expression: string): Promise<T>;
  /** Returns the elements of the accessibility tree with this role and exactly this name, below a selected element. */
  byRole(role: string, name: string, within?: string): Promise<readonly PageElement[]>;
  bySelector(selector: string): Promise<readonly PageElement[]>;
  /** Presses a key, such as `Enter` or `Control+k`. */
  key(key: string): Promise<void>;
  /** Types a text. */
  write(text: string): Promise<void>;
  /** Presses the mouse at one place of the window, moves it, and lets it go at another one. */
  drag(from: Point, to: Point): Promise<void>;
  /** Turns the wheel over a place. */
  wheel(at: Point, pixels: number): Promise<void>;
  back(): Promise<void>;
  forward(): Promise<void>;
  reload(): Promise<void>;
  size(width: number, height: number): Promise<void>;
  screenshot(path: string): Promise<void>;
  /** The file that is downloaded by what is done. */
  downloaded(act: () => Promise<void>): Promise<Download>;
  /** Another window of the same person. */
  another(): Promise<PageDriver>;
  close(): Promise<void>;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Download {
  readonly name: string;
  readonly text: string;
}
