/** The database of the records cannot be reached, or broke off. It may be failing over. */
export class RecordsAway extends Error {
  override readonly name = "RecordsAway";
  /** Whether the transaction is certain to have been taken back: then it may be run again. */
  readonly isTakenBack: boolean;
  /** Whether it may have made a change nevertheless. */
  readonly isInDoubt: boolean;
  /** For who asked. */
  readonly advice: string;

  constructor(message: string, options: AwayOptions = {}) {
    super(message, options);
    this.isTakenBack = options.isTakenBack ?? false;
    this.isInDoubt = options.isInDoubt ?? false;
    this.advice = this.isInDoubt ? "look whether it was made before you try again" : "try again";
  }

  /** For operators: the words of the server or the network, which may name hosts and users. */
  get reason(): string {
    let { cause } = this;
    while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
    if (!(cause instanceof Error)) return "";
    // Several addresses of a host that all refuse are one error without a message.
    return cause.message || String((cause as NodeJS.ErrnoException).code ?? "");
  }
}

interface AwayOptions extends ErrorOptions {
  readonly isTakenBack?: boolean;
  readonly isInDoubt?: boolean;
}

/**
 * Whether a change of the records failed for want of the disk or the database: no reason to refuse a request that reads, and
 * reported by what else fails.
 */
export function isOfStorage(error: unknown): boolean {
  if (error instanceof RecordsAway) return true;
  // The second ones are PostgreSQL's: without room, taking back too often, not waiting any longer.
  return /^(SQLITE_(FULL|BUSY|IOERR).*|53100|40001|40P01|57014)$/.test(
    String((error as { code?: unknown } | undefined)?.code),
  );
}
