import { isIP } from "node:net";
import { connect, rootCertificates } from "node:tls";
import type { Clock } from "../../grammar/units/clock.ts";
import { type ConnectionFailure, certificateFailure } from "../team/connection-failure.ts";
import { withinTime } from "../within-time.ts";

/**
 * Why a deployed app does not accept the certificate of an origin: it trusts the authorities that Node brings, and none that this
 * machine trusts beside them. Undefined if it does, and if the certificate is not seen from here within the time.
 */
export async function certificateForApp(
  origin: string,
  limits: { readonly limitMs: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<ConnectionFailure | undefined> {
  const { protocol, hostname, port } = new URL(origin);
  if (protocol !== "https:") return undefined;
  const host = hostname.replace(/^\[|\]$/g, "");
  // An address is no name that a client may ask for (RFC 6066, section 3).
  const name = isIP(host) === 0 ? { servername: host } : {};
  const shake = (stop: AbortSignal) =>
    new Promise<ConnectionFailure | undefined>((resolve) => {
      // Said, as NODE_TLS_REJECT_UNAUTHORIZED of this machine is none of the app's.
      const trust = { ca: [...rootCertificates], rejectUnauthorized: true };
      const socket = connect({ host, port: Number(port || 443), ...trust, ...name });
      const end = (failure: ConnectionFailure | undefined) => {
        resolve(failure);
        socket.destroy();
      };
      socket.once("secureConnect", () => end(undefined));
      socket.on("error", (error) => end(certificateFailure(error)));
      socket.once("close", () => end(undefined));
      stop.addEventListener("abort", () => end(undefined));
    });
  try {
    return await withinTime(shake, limits);
  } catch (error) {
    // Nobody answers: that is not about the certificate.
    if (limits.signal.aborted) throw error;
    return undefined;
  }
}
