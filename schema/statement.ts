// The statement of a service about a team's edition, signed: a JWS in compact form (RFC 7515) with Ed25519 (RFC 8037). Only the
// service has the private key; the command has the public one from its release.
import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

export type Edition = "pro" | "free";

/** The payload, as it is signed. */
export interface Statement {
  /** The form of the statement. Readers refuse a number that they do not know. */
  readonly statement: 1;
  /** The id of the team that it is about. */
  readonly team: string;
  /** The origin of the service that made it. */
  readonly service: string;
  readonly edition: Edition;
  /** The status of the subscription that decided the edition, such as `active` or `canceled`. */
  readonly reason: string;
  /** ISO 8601 with milliseconds, UTC. */
  readonly issued_at: string;
  readonly expires_at: string;
}

/** A command that cannot reach the service goes on for a week: longer than a weekend or a failure of the service. */
export const STATEMENT_LIFETIME_MS = 7 * 86_400_000;

/** How far the clock of a reader may be behind: an hour that was set for another time zone is less than this. */
const MAX_CLOCK_SKEW_MS = 86_400_000;

/** Far more than a statement has; what is longer is not decoded. */
const MAX_CHARACTERS = 8192;

export interface StatementFailure {
  readonly ok: false;
  readonly problems: readonly [StatementProblem];
}

/** `code` is stable; `message` is the end of a sentence about the statement, such as `is signed with another key`. */
export interface StatementProblem {
  readonly code:
    | "statement/malformed"
    | "statement/unknown-form"
    | "statement/other-key"
    | "statement/forged"
    | "statement/other-team"
    | "statement/other-service"
    | "statement/not-yet-valid"
    | "statement/expired";
  readonly message: string;
}

export type StatementResult = { readonly ok: true; readonly value: Statement } | StatementFailure;

/** The values that a reader compares a statement with. */
export interface StatementReader {
  /** The raw Ed25519 public key of the release, 32 bytes in base64. */
  readonly key: string;
  readonly team: string;
  readonly service: string;
  readonly nowMs: number;
}

/**
 * Verifies a statement and returns its payload. It is only good for the team and the service that are asked about, and
 * until it expires.
 */
export function verifyStatement(text: string, { key, team, service, nowMs }: StatementReader): StatementResult {
  const parts = text.length > MAX_CHARACTERS ? [] : text.split(".");
  const [header, payload, signature] = parts.map(decoded);
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    return refused("statement/malformed", "is not a JWS in compact form");
  }
  const publicKey = readStatementKey(key);
  const kid = keyIdOfHeader(header);
  if (kid === undefined) return refused("statement/malformed", "has another header than a statement signed with EdDSA");
  if (kid !== statementKeyId(publicKey)) return refused("statement/other-key", "is signed with another key");
  // The algorithm is that of our key, whatever the header says.
  if (!verify(null, Buffer.from(`${parts[0]}.${parts[1]}`), publicKey, signature)) {
    return refused("statement/forged", "has a signature that does not match");
  }
  const statement = jsonOf(payload);
  if (statement?.statement !== 1)
    return refused("statement/unknown-form", "has a form that this version does not know");
  if (!isStatement(statement)) return refused("statement/malformed", "lacks a member, or has one of another type");
  if (statement.team !== team) return refused("statement/other-team", `is about the team ${json(statement.team)}`);
  if (statement.service !== service) {
    return refused("statement/other-service", `is from the service ${json(statement.service)}`);
  }
  if (nowMs >= Date.parse(statement.expires_at)) {
    return refused("statement/expired", `expired at ${statement.expires_at}`);
  }
  // Else a clock that is set back would bring an old statement back to life.
  if (nowMs < Date.parse(statement.issued_at) - MAX_CLOCK_SKEW_MS) {
    return refused("statement/not-yet-valid", `was issued at ${statement.issued_at}, after the time of this machine`);
  }
  return { ok: true, value: statement };
}

export type StatementClaims = Pick<Statement, "team" | "service" | "edition" | "reason">;

/** Makes a statement that is good for a week. The key is a private Ed25519 key. */
export function makeStatement(claims: StatementClaims, privateKey: KeyObject, nowMs: number): string {
  const { team, service, edition, reason } = claims;
  const statement: Statement = {
    statement: 1,
    team,
    service,
    edition,
    reason,
    issued_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + STATEMENT_LIFETIME_MS).toISOString(),
  };
  const header = { alg: "EdDSA", typ: TYPE, kid: statementKeyId(createPublicKey(privateKey)) };
  const signed = `${encoded(json(header))}.${encoded(json(statement))}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}

const TYPE = "tool-statement";

/** Reads a raw Ed25519 public key in base64. Throws if it is not 32 bytes. */
export function readStatementKey(base64: string): KeyObject {
  const raw = Buffer.from(base64, "base64");
  if (raw.length !== 32 || raw.toString("base64") !== base64)
    throw new Error("a raw Ed25519 public key is 32 bytes in base64");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") }, format: "jwk" });
}

/** The raw public key in base64 of a public or private Ed25519 key: what a release carries. */
export function rawStatementKey(key: KeyObject): string {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url").toString("base64");
}

/** The id of a public key: the first 16 hex digits of SHA-256 of the raw key. */
export function statementKeyId(publicKey: KeyObject): string {
  return createHash("sha256")
    .update(Buffer.from(rawStatementKey(publicKey), "base64"))
    .digest("hex")
    .slice(0, 16);
}

/** The key id of a header that is exactly ours. A `crit` member, for one, would have to be understood (RFC 7515, 4.1.11). */
function keyIdOfHeader(text: Buffer): string | undefined {
  const { alg, typ, kid, ...others } = jsonOf(text) ?? {};
  const isOurs = alg === "EdDSA" && typ === TYPE && typeof kid === "string" && Object.keys(others).length === 0;
  return isOurs ? kid : undefined;
}

function isStatement(value: Record<string, unknown>): value is Record<string, unknown> & Statement {
  const { team, service, edition, reason, issued_at, expires_at } = value;
  return (
    [team, service, reason].every((text) => typeof text === "string") &&
    (edition === "pro" || edition === "free") &&
    [issued_at, expires_at].every(
      (time) => typeof time === "string" && TIME.test(time) && !Number.isNaN(Date.parse(time)),
    )
  );
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The bytes of base64url without padding. Other texts of the same bytes are refused, so that nothing in it can be changed. */
function decoded(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

const encoded = (text: string) => Buffer.from(text).toString("base64url");
const json = (value: unknown) => JSON.stringify(value);

function jsonOf(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const refused = (code: StatementProblem["code"], message: string): StatementFailure => ({
  ok: false,
  problems: [{ code, message }],
});
