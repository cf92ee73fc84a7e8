// The faults of a page that do not show: errors on its console, refused requests, breaches of its policy.

/** A fault that a page may have without failing the test. */
export type Expected = RegExp;

/** Gathers what went wrong in the pages of a person. */
export class Faults {
  readonly #expected: Expected[] = [];
  #faults: string[] = [];
  readonly #origin: string;

  /** Requests to other origins than this one are faults. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** From now on a fault that matches is none. */
  expect(pattern: Expected): void {
    this.#expected.push(pattern);
  }

  add(text: string): void {
    if (!this.#expected.some((pattern) => pattern.test(text))) this.#faults.push(text);
  }

  /** A message on the console. */
  console(type: string, text: string): void {
    // Chromium tells of each refused answer here as well; `answered` knows its address.
    if (type === "error" && !/^Failed to load resource: /.test(text)) this.add(`console: ${text}`);
  }

  requested(url: string): void {
    if (new URL(url).origin !== this.#origin && !/^(?:about|data|blob|chrome-error):/.test(url))
      this.add(`a request to another origin: ${url}`);
  }

  answered(status: number, method: string, url: string): void {
    // Browsers ask for it on pages that name no icon, as those for signing in.
    if (status >= 400 && !url.endsWith("/favicon.ico")) this.add(`${status} ${method} ${url}`);
  }

  /** A request without an answer. Pages give up requests that nobody waits for any more. */
  failed(reason: string, url: string): void {
    if (!/aborted|ERR_ABORTED|NS_BINDING_ABORTED|NS_ERROR_ABORT/i.test(reason))
      this.add(`no answer (${reason}): ${url}`);
  }

  /** Returns the faults since the last time. */
  take(): readonly string[] {
    const faults = this.#faults;
    this.#faults = [];
    return faults;
  }
}

/**
 * Runs in each page before its own scripts: tells on the console what only events tell. Hostile texts that are run call
 * `__ran`.
 */
export const WATCH = `
addEventListener("securitypolicyviolation", (event) =>
  console.error("the policy was breached: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));
addEventListener("unhandledrejection", (event) => console.error("nobody handles: " + (event.reason?.stack ?? event.reason)));
globalThis.__ran = (what) => console.error("a text was run: " + what);
`;
