// Bodies that nobody would send, in every coding: each gets an answer of ours, none an `internal`, and the service keeps
// running. FUZZ_COUNT says how many (2,000; `npm run fuzz:service` makes 50,000), FUZZ_SEED which.
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import t from "tap";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { randomOf } from "../support/random.ts";
import { startTestService } from "../support/service.ts";

const count = Number(process.env.FUZZ_COUNT ?? 2_000);
const random = randomOf(Number(process.env.FUZZ_SEED ?? 7));
const names = [...Object.keys(rpcSchema.operations), "ingest/p", "ingest/__proto__"];

const ODD = [
  "",
  "0",
  "p",
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "😀",
  "x".repeat(300),
  "../..",
  "'; drop table tokens; --",
  "%00",
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  null,
  true,
  [],
  {},
  [[]],
  "0001-01-01T00:00:00Z",
  "2026-01-01T00:00:00Z",
  "9999-12-31T23:59:60Z",
  "error",
  "status >= 500 and (",
  "events:read",
  ">",
  "info",
] as const;

function oddValue(depth: number): unknown {
  if (depth > 0 && random.chance(0.3)) return Array.from({ length: random.below(4) }, () => oddValue(depth - 1));
  if (depth > 0 && random.chance(0.3)) return oddObject(depth - 1);
  return random.pick<unknown>(ODD);
}

function oddObject(depth: number): object {
  const keys = [
    "project_id",
    "events",
    "level",
    "message",
    "fields",
    "__proto__",
    "toString",
    "",
    "id",
    "timestamp",
    "name",
  ];
  return Object.fromEntries(Array.from({ length: random.below(5) }, () => [random.pick(keys), oddValue(depth)]));
}

/** The members that the operation asks for, with odd values, so that it is not the first of them alone that is refused. */
function bodyFor(name: string): unknown {
  if (random.chance(0.1)) return oddValue(4);
  const result: Record<string, unknown> = {};
  const fill = (schema: (typeof rpcSchema.definitions)[string], target: Record<string, unknown>, depth: number) => {
    for (const [key, part] of Object.entries(schema.properties ?? {})) {
      const own = part.$ref === undefined ? part : rpcSchema.definitions[part.$ref.slice("#/definitions/".length)]!;
      if (random.chance(0.15)) continue;
      if (own.properties !== undefined && depth > 0 && random.chance(0.9)) {
        const inner: Record<string, unknown> = {};
        fill(own, inner, depth - 1);
        target[key] = inner;
      } else if (own.enum !== undefined && random.chance(0.7)) target[key] = random.pick(own.enum);
      else if (key === "project_id" && random.chance(0.8)) target[key] = "p";
      else if (own.format === "date-time" && random.chance(0.8)) target[key] = "2026-01-01T00:00:00Z";
      else target[key] = oddValue(3);
    }
  };
  const operation = rpcSchema.operations[name];
  if (operation !== undefined) fill(operation.input, result, 2);
  return result;
}

function mutated(bytes: Buffer): Buffer {
  if (bytes.length === 0 || random.chance(0.6)) return bytes;
  const copy = Buffer.from(bytes);
  for (let i = random.below(4); i >= 0; i--) copy[random.below(copy.length)] = random.below(256);
  return random.chance(0.3) ? copy.subarray(0, random.below(copy.length)) : copy;
}

const CODINGS = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes: Buffer) => deflateSync(bytes, { level: 1 }),
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { 1: 1 } }),
};

t.test(`${count} bodies`, async (t) => {
  const service = await startTestService(t, { limits: { requestsPerSecond: 1e6, requestBurst: 1e6 } });
  await service.call("add_project", { project: { id: "p", name: "p" } });
  const seen = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const name = random.pick(names);
    const coding = random.pick(Object.keys(CODINGS) as (keyof typeof CODINGS)[]);
    const body = mutated(CODINGS[coding](mutated(Buffer.from(JSON.stringify(bodyFor(name))))));
    const headers = {
      authorization: `Bearer ${service.owner}`,
      "content-type": random.chance(0.95) ? "application/json" : "text/plain",
      "content-encoding": coding,
    };
    const answer = await service.send({ path: `/${name}`, headers, body });
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
    const isOurs = answer.status === 204 || answer.headers["content-type"] === "application/json";
    const isKnown = [200, 204, 400, 403, 404, 409, 413, 415].includes(answer.status);
    if (!isOurs || !isKnown) {
      t.fail(`${name} ${coding} ${body.toString("base64")}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  }
  t.same(service.logged, []);
  t.ok((seen.get(200) ?? 0) + (seen.get(204) ?? 0) > count / 100, `some were taken: ${JSON.stringify([...seen])}`);
  t.equal((await service.call("get_projects")).status, 200);
  t.equal(({} as Record<string, unknown>).level, undefined, "nothing was inherited");
});
