import type { IncomingMessage } from "node:http";
import type { Scope } from "../schema/rpc.generated.ts";
import { ANY_SCOPE, isScopeOfPeople, PERSON_SCOPE, PUBLIC_SCOPE } from "../schema/rpc-schema.ts";
import { type Grant, NOBODY } from "./access/grant.ts";
import type { OpenExchange } from "./access/open-exchanges.ts";
import { ROLE_SCOPES, type TeamScope } from "./access/roles.ts";
import { sessionGrantOf } from "./access/session-grant.ts";
import { isTokenText, tokenHash } from "./access/token.ts";
import { grantOf, isExpired } from "./access/tokens.ts";
import { secretHash } from "./account/sign-in.ts";
import { RpcError } from "./error.ts";
import type { Service } from "./rpc/call.ts";

/** The scope that a request needs. */
export type Needed = Scope | TeamScope | typeof ANY_SCOPE | typeof PERSON_SCOPE | typeof PUBLIC_SCOPE;

export interface Admission {
  readonly service: Service;
  readonly request: IncomingMessage;
  readonly needed: Needed;
  /** The team that the request names. */
  readonly team: string | undefined;
  /** Registers the exchange before its credential is looked up. */
  register(hash: string): OpenExchange;
  /** Called with the grant as soon as it is known. */
  granted(grant: Grant): void;
}

/** Finds out who sends a request. What that may do is looked at next, after the rate of its requests. */
export async function authenticate({ service, request, needed, team, register, granted }: Admission): Promise<Grant> {
  const { address } = service.account;
  if (needed === PUBLIC_SCOPE) {
    address.requireHost(request, { isProgram: true });
    address.refuseOtherPages(request);
    return NOBODY;
  }
  const credential = credentialOf(service, request);
  const exchange = register(credential.hash);
  const grant = await service.exchanges.grant(exchange, async () => {
    const latest = await lookUp(service, credential, team);
    if (latest !== undefined) granted(latest);
    return latest;
  });
  if (grant === undefined) throw await refusalOf(service, credential);
  return grant;
}

/** Throws unless a grant is enough for what is needed, in the team that the request names. */
export function requireGranted(grant: Grant, { needed, team }: Pick<Admission, "needed" | "team">): void {
  if (needed === PUBLIC_SCOPE) return;
  requireTeam(grant, team, needed);
  allow(grant, needed);
}

interface Credential {
  readonly kind: "token" | "session";
  readonly hash: string;
}

/** A bearer token, whatever cookies there are, or the cookie of a session that our own page sent. */
function credentialOf({ account: { address } }: Service, request: IncomingMessage): Credential {
  const { authorization } = request.headers;
  const cookie = authorization === undefined ? address.cookieOf(request, "session") : undefined;
  if (cookie !== undefined) {
    address.requireHost(request);
    address.requireOrigin(request);
    return { kind: "session", hash: secretHash(cookie) };
  }
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) {
    throw new RpcError("unauthorized", "a token is needed: send the header Authorization: Bearer <token>");
  }
  if (!isTokenText(token)) throw UNKNOWN_TOKEN;
  return { kind: "token", hash: tokenHash(token) };
}

const UNKNOWN_TOKEN = new RpcError("unauthorized", "this token is not known: it may have been removed");
const SESSION_ENDED = new RpcError("unauthorized", "the session has ended: sign in again");

const EXPIRED_TOKEN = new RpcError(
  "unauthorized",
  "this token has expired: its time was set when it was made; make another one",
);

async function refusalOf({ records, nowMs }: Service, { kind, hash }: Credential): Promise<RpcError> {
  if (kind === "session") return SESSION_ENDED;
  return (await isExpired(records.db, hash, nowMs())) ? EXPIRED_TOKEN : UNKNOWN_TOKEN;
}

function lookUp(service: Service, { kind, hash }: Credential, team: string | undefined): Promise<Grant | undefined> {
  const { db } = service.records;
  const nowMs = service.nowMs();
  return kind === "token" ? grantOf(db, hash, nowMs) : sessionGrantOf(db, hash, { team, nowMs });
}

/** Throws unless the grant is for the team that is named, and names one if something of a team is asked for. */
function requireTeam({ kind, team, person }: Grant, teamId: string | undefined, needed: Needed): void {
  if (teamId !== undefined && teamId !== team) {
    // The same whether there is such a team: nobody learns of the teams of others.
    const whose = kind === "session" ? "you are not in the team" : "this token is not of the team";
    throw new RpcError("forbidden", `${whose} ${JSON.stringify(teamId)}`);
  }
  if (team !== "" || needed === ANY_SCOPE || needed === PERSON_SCOPE || person === undefined) return;
  throw new RpcError("invalid", "X-Team: is required: you are in several teams or in none; get_teams lists them");
}

function allow({ person, scopes }: Grant, needed: Needed): void {
  if (needed === ANY_SCOPE) return;
  if (needed === PERSON_SCOPE || isScopeOfPeople(needed)) {
    if (person === undefined) throw new RpcError("forbidden", "this is for people only: sign in (tool team login)");
    if (needed === PERSON_SCOPE) return;
  }
  if (scopes.has(needed as Scope)) return;
  if (person === undefined) throw new RpcError("forbidden", `this token lacks the scope ${needed}`);
  const who = ROLE_SCOPES.admin.has(needed as Scope) ? "an owner or admin" : "an owner";
  throw new RpcError("forbidden", `your role in this team is ${person.role}, which lacks ${needed}: ask ${who}`);
}
