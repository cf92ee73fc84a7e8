/** A redirect that a client was answered with. */
export interface AnsweredRedirect {
  /** The client's address. */
  readonly ip: string;
  /** The Host header. */
  readonly host: string | undefined;
  readonly path: string;
  readonly location: string;
  readonly atMs: number;
}

/** One step of a client: where it came from, and whether it went round there before. */
interface Step {
  readonly from: string;
  readonly atMs: number;
  readonly isRound: boolean;
}

/** Browsers follow at most 20 redirects. */
const MAX_STEPS = 20;
/** A client follows a redirect at once; whoever comes back later types or clicks. */
const STEP_MS = 10_000;
/** The newest steps of all clients together: about 200 bytes each. */
const MAX_KEPT = 1_000;

/**
 * Finds clients that redirects lead round in a circle. It sees the redirects of this process alone, of rules and of the app:
 * those of a function's other instances, of another host and of what is in front of it are not known here.
 */
export class RedirectTrail {
  /** By the client and the URL that it was sent to; the oldest first. */
  readonly #steps = new Map<string, Step>();

  /**
   * Takes a redirect. True if redirects, each within ten seconds, led this client from this path back to it; only the first time
   * of a loop, not for each of its rounds.
   */
  add({ ip, host, path, location, atMs }: AnsweredRedirect): boolean {
    const base = `http://${host ?? "localhost"}`;
    const from = placeOf(base + path);
    const to = placeOf(location, base + path);
    if (from === undefined || to === undefined) return false;
    const before = this.#roundTo(ip, from, atMs);
    const key = `${ip} ${to}`;
    this.#steps.delete(key);
    this.#steps.set(key, { from, atMs, isRound: before !== undefined });
    if (this.#steps.size > MAX_KEPT) this.#steps.delete(this.#steps.keys().next().value!);
    return before !== undefined && !before.isRound;
  }

  /** The step by which the client left a place before redirects led it back there. */
  #roundTo(ip: string, place: string, nowMs: number): Step | undefined {
    let at = place;
    for (let count = 0; count < MAX_STEPS; count++) {
      const step = this.#steps.get(`${ip} ${at}`);
      if (step === undefined || nowMs - step.atMs > STEP_MS) return undefined;
      if (step.from === place) return step;
      at = step.from;
    }
    return undefined;
  }
}

/** Host and path. The query and the protocol do not count: rules match paths alone. */
function placeOf(url: string, base?: string): string | undefined {
  if (!URL.canParse(url, base)) return undefined;
  const { host, pathname } = new URL(url, base);
  return host + pathname;
}
