import { isLoopback } from "../../grammar/address/loopback.ts";

export interface ConnectionFailure {
  readonly reason: string;
  /** Advice about it, if there is any. */
  readonly hint: string | undefined;
}

/** Why nobody answered a request that was sent to an address. `fetch` only says that it failed; the cause says why. */
export function connectionFailure(error: unknown, address: string): ConnectionFailure {
  if (!(error instanceof Error)) return { reason: String(error), hint: undefined };
  const { cause } = error;
  if (!(cause instanceof Error)) return { reason: error.message, hint: undefined };
  // The word of `fetch` for the ports that browsers refuse, too, such as those of mail and of ssh.
  if (cause.message === "bad port") {
    const port = new URL(address).port;
    return {
      reason: `HTTP clients and browsers refuse to use port ${port}`,
      hint: "let the service listen on another port",
    };
  }
  const { code = "", reason } = cause as NodeJS.ErrnoException & { readonly reason?: string };
  if (SPEAKS_NO_TLS.has(code)) {
    const { hostname, host } = new URL(address);
    const hint = isLoopback(hostname)
      ? `try http://${host}`
      : "name the port that speaks TLS, or that of a proxy that does";
    return { reason: "this port speaks HTTP without TLS", hint };
  }
  // OpenSSL's message is a line of its own with the place in its sources; its reason is the end of that.
  return { reason: plain(reason || cause.message || code), hint: CERTIFICATES[code] };
}

/**
 * Why the certificate of a TLS connection is not accepted, with advice unless it is enough to trust it. Undefined if the connection
 * failed for something else.
 */
export function certificateFailure({ code = "", message }: NodeJS.ErrnoException): ConnectionFailure | undefined {
  if (!Object.hasOwn(CERTIFICATES, code)) return undefined;
  const hint = CERTIFICATES[code];
  return { reason: plain(message), hint: hint === TRUST ? undefined : hint };
}

/** Without how to start Node, which Node 24 says and people do not do, as the hint is for them, and without a list of nothing. */
const plain = (reason: string) => reason.replace(NODE_ADVICE, "").replace(/( is not in the cert's list): *$/, "$1");

const NODE_ADVICE = /; if the root CA is installed locally, try running Node\.js with --use-system-ca$/;

/** OpenSSL takes the letters of an answer in plain HTTP for the version or the length of a record. */
const SPEAKS_NO_TLS = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"]);

const TRUST = "if you trust its certificate, set NODE_EXTRA_CA_CERTS to a file with that, or with its issuer's (PEM)";

const CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: TRUST,
  SELF_SIGNED_CERT_IN_CHAIN: TRUST,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TRUST,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TRUST,
  CERT_HAS_EXPIRED: "whoever runs the service has to renew its certificate",
  CERT_NOT_YET_VALID: "it begins later: see whether the clocks here and there are right",
  ERR_TLS_CERT_ALTNAME_INVALID: "use a name that its certificate is for",
};
