// Statements about a team's edition: what a reader believes, and what it refuses.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import t from "tap";
import {
  makeStatement,
  rawStatementKey,
  readStatementKey,
  STATEMENT_LIFETIME_MS,
  type StatementReader,
  statementKeyId,
  verifyStatement,
} from "../../schema/statement.ts";

/** The key of RFC 8037, appendix A.1. */
const KEY = createPrivateKey({
  key: {
    kty: "OKP",
    crv: "Ed25519",
    d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  },
  format: "jwk",
});
const NOW = Date.parse("2026-11-28T12:00:00.000Z");
const DAY = 86_400_000;
const CLAIMS = { team: "acme", service: "https://logs.example.com", edition: "pro", reason: "active" } as const;
const READER = { key: rawStatementKey(KEY), team: CLAIMS.team, service: CLAIMS.service, nowMs: NOW };
const GOOD = makeStatement(CLAIMS, KEY, NOW);

function read(text: string, reader: Partial<StatementReader> = {}): string {
  const result = verifyStatement(text, { ...READER, ...reader });
  return result.ok ? result.value.edition : `${result.problems[0].code}: ${result.problems[0].message}`;
}

/** A JWS of any header and payload, with a signature that matches. */
function signed(header: unknown, payload: unknown, key: KeyObject = KEY): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
}

const HEADER = { alg: "EdDSA", typ: "tool-statement", kid: statementKeyId(readStatementKey(READER.key)) };
const PAYLOAD = {
  statement: 1,
  ...CLAIMS,
  issued_at: "2026-11-28T12:00:00.000Z",
  expires_at: "2026-12-05T12:00:00.000Z",
};

t.test("a statement has the bytes of the contract", (t) => {
  t.equal(GOOD, signed(HEADER, PAYLOAD));
  t.same(verifyStatement(GOOD, READER), { ok: true, value: PAYLOAD });
  t.equal(READER.key, "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "the raw key");
  t.equal(HEADER.kid, "21fe31dfa154a261", "the first digits of the raw key's SHA-256");
  t.end();
});

t.test("when and for whom it is good", (t) => {
  const rows: [about: string, reader: Partial<StatementReader>, expected: string][] = [
    ["at once", {}, "pro"],
    ["a moment before it expires", { nowMs: NOW + STATEMENT_LIFETIME_MS - 1 }, "pro"],
    ["then", { nowMs: NOW + STATEMENT_LIFETIME_MS }, "statement/expired: expired at 2026-12-05T12:00:00.000Z"],
    ["on a machine whose clock is a day behind", { nowMs: NOW - DAY }, "pro"],
    [
      "on one that is further behind",
      { nowMs: NOW - DAY - 1 },
      "statement/not-yet-valid: was issued at 2026-11-28T12:00:00.000Z, after the time of this machine",
    ],
    ["another team", { team: "shop" }, 'statement/other-team: is about the team "acme"'],
    ["a team whose id begins so", { team: "acm" }, 'statement/other-team: is about the team "acme"'],
    [
      "another service",
      { service: "https://logs.example.org" },
      'statement/other-service: is from the service "https://logs.example.com"',
    ],
    [
      "the service without TLS",
      { service: "http://logs.example.com" },
      'statement/other-service: is from the service "https://logs.example.com"',
    ],
    [
      "a release with another key",
      { key: rawStatementKey(generateKeyPairSync("ed25519").publicKey) },
      "statement/other-key: is signed with another key",
    ],
  ];
  for (const [about, reader, expected] of rows) t.equal(read(GOOD, reader), expected, about);
  t.equal(read(makeStatement({ ...CLAIMS, edition: "free", reason: "canceled" }, KEY, NOW)), "free", "a signed no");
  t.end();
});

t.test("statements that are refused", (t) => {
  const other = generateKeyPairSync("ed25519").privateKey;
  const [header, payload, signature] = GOOD.split(".") as [string, string, string];
  const form = /^statement\/unknown-form: /;
  const malformed = /^statement\/malformed: /;
  const forged = /^statement\/forged: /;
  const rows: [about: string, text: string, expected: RegExp][] = [
    ["signed with another key under our id", signed(HEADER, PAYLOAD, other), forged],
    ["made by another key", makeStatement(CLAIMS, other, NOW), /^statement\/other-key: /],
    [
      "the signature of another statement",
      `${GOOD.slice(0, GOOD.lastIndexOf("."))}.${makeStatement({ ...CLAIMS, edition: "free" }, KEY, NOW).split(".")[2]}`,
      forged,
    ],
    ["no signature", `${header}.${payload}.`, forged],
    [
      "alg none",
      `${signed({ ...HEADER, alg: "none" }, PAYLOAD)
        .split(".")
        .slice(0, 2)
        .join(".")}.`,
      malformed,
    ],
    ["alg none, signed", signed({ ...HEADER, alg: "none" }, PAYLOAD), malformed],
    ["alg HS256", signed({ ...HEADER, alg: "HS256" }, PAYLOAD), malformed],
    ["alg in other case", signed({ ...HEADER, alg: "eddsa" }, PAYLOAD), malformed],
    ["another type of token", signed({ ...HEADER, typ: "JWT" }, PAYLOAD), malformed],
    ["no key id", signed({ alg: "EdDSA", typ: "tool-statement" }, PAYLOAD), malformed],
    ["a critical extension", signed({ ...HEADER, crit: ["b64"], b64: false }, PAYLOAD), malformed],
    ["a key of its own", signed({ ...HEADER, jwk: {} }, PAYLOAD), malformed],
    ["another form", signed(HEADER, { ...PAYLOAD, statement: 2 }), form],
    ["the form as text", signed(HEADER, { ...PAYLOAD, statement: "1" }), form],
    ["a list", signed(HEADER, [PAYLOAD]), form],
    ["null", signed(HEADER, null), form],
    ["another edition", signed(HEADER, { ...PAYLOAD, edition: "Pro" }), malformed],
    ["no team", signed(HEADER, { ...PAYLOAD, team: undefined }), malformed],
    ["no end", signed(HEADER, { ...PAYLOAD, expires_at: undefined }), malformed],
    ["an end that is no time", signed(HEADER, { ...PAYLOAD, expires_at: "never" }), malformed],
    ["an end that is no day", signed(HEADER, { ...PAYLOAD, expires_at: "2026-99-99T12:00:00.000Z" }), malformed],
    ["an end as a number", signed(HEADER, { ...PAYLOAD, expires_at: 4e12 }), malformed],
    ["no text", "", malformed],
    ["two parts", `${header}.${payload}`, malformed],
    ["four parts", `${GOOD}.${signature}`, malformed],
    ["padded", `${GOOD}==`, malformed],
    ["a line end", `${GOOD}\n`, malformed],
    ["a header that is no JSON", `${Buffer.from("{").toString("base64url")}.${payload}.${signature}`, malformed],
    ["a very long one", `${header}.${"A".repeat(100_000)}.${signature}`, malformed],
  ];
  for (const [about, text, expected] of rows) t.match(read(text), expected, about);
  t.end();
});

t.test("no character can be changed, left out or added", (t) => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  const believed: string[] = [];
  for (let at = 0; at <= GOOD.length; at += 1) {
    const [before, after] = [GOOD.slice(0, at), GOOD.slice(at)];
    // The next characters of the alphabet differ in the lowest bits, which base64 may leave unused.
    const next = alphabet[(alphabet.indexOf(GOOD[at] ?? "A") + 1) % alphabet.length]!;
    for (const text of [
      `${before}${next}${after.slice(1)}`,
      `${before}${after.slice(1)}`,
      `${before}${next}${after}`,
    ]) {
      if (text !== GOOD && verifyStatement(text, READER).ok) believed.push(text);
    }
  }
  t.same(believed, []);
  t.end();
});

t.test("a key that is not 32 bytes is an error of the release", (t) => {
  for (const key of ["", "AAAA", `${READER.key}AAAA`]) t.throws(() => verifyStatement(GOOD, { ...READER, key }), key);
  t.end();
});
