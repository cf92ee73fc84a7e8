import type { ProxyRequest } from "./exchange.ts";

/**
 * The value of X-Context for an app: the gateway's request context. On the platform the gateway fills it; here the same
 * fields hold local values. In ASCII (`inAscii`): header values are read as Latin-1 by some and as UTF-8 by others.
 */
export function localContext(request: ProxyRequest, stage: string): string {
  const context = {
    apiId: "local",
    resourceId: "local",
    requestId: request.id,
    accountId: "local",
    stage,
    identity: { sourceIp: request.ip, userAgent: request.headers["user-agent"] ?? null },
    authorizer: null,
  };
  return inAscii(context);
}

/** JSON in ASCII, as a header can carry it. */
export function inAscii(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
