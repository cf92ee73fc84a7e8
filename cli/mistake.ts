/**
 * Whether a thrown value shows a bug of the tool rather than a failure of the outside world: a full disk, a closed pipe,
 * no network, a damaged file. Such failures have a code of the system or of the network, a response's status, or a class
 * of their own, or are the cause of an error that wraps them.
 */
export function isMistake(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return true;
  if (thrown.name === "AssertionError") return true;
  // A class of its own: the error was expected.
  if (!BUILT_IN.includes(thrown.constructor) || isOfTheWorld(thrown)) return false;
  if (thrown.cause !== undefined) return isMistake(thrown.cause);
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return thrown.errors.some(isMistake);
  return true;
}

const BUILT_IN: readonly unknown[] = [
  Error,
  AggregateError,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
];

function isOfTheWorld(error: Error): boolean {
  const { code, $metadata } = error as { code?: unknown; $metadata?: unknown };
  if ($metadata !== undefined || WORLD_MESSAGE.test(error.message)) return true;
  return typeof code === "string" && (WORLD_CODES.has(code) || !/^ERR_[A-Z]/.test(code));
}

/** Codes of Node itself mean wrong arguments, except for these, which are about the other end. */
const WORLD_CODES: ReadonlySet<string> = new Set([
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_WRITE_AFTER_END",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_TLS_HANDSHAKE_TIMEOUT",
  "ERR_SSL_WRONG_VERSION_NUMBER",
]);

/** DuckDB's errors have no code and no class of their own. */
const WORLD_MESSAGE = /^(?:IO|Out of Memory|Serialization|Connection) Error: /;
