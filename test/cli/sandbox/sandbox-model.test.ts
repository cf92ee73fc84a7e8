// The model of the sandbox's services: it has every operation that a service has, and says the same as the SDK's clients,
// which write requests of random inputs for it and read its answers of random outputs.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { NormalizedSchema } from "@smithy/core/schema";
import t from "tap";
import { CloudClock } from "../../../cli/sandbox/cloud/clock.ts";
import { openWorld } from "../../../cli/sandbox/cloud/open-world.ts";
import { AwsError } from "../../../cli/sandbox/cloud/protocol/error.ts";
import { readRequest, writeOutput, writeServiceError } from "../../../cli/sandbox/cloud/protocol/exchange.ts";
import type { Model } from "../../../cli/sandbox/cloud/protocol/model.ts";
import services from "../../../cli/sandbox/cloud/protocol/operations.json" with { type: "json" };
import { factories, loadModel } from "../../../cli/sandbox/cloud/services.ts";
import { type Random, randomOf } from "../../support/random.ts";

const require = createRequire(import.meta.url);

type Values = Record<string, unknown>;
type Name = keyof typeof services;
const names = Object.keys(services) as Name[];

t.test("each operation of a service is in operations.json, and each of operations.json in a service", async (t) => {
  const world = openWorld({ clock: new CloudClock({ speed: 0 }) });
  t.teardown(() => world.close());
  t.same(names.sort(), Object.keys(factories).sort());
  for (const name of names) {
    t.same(services[name].operations, Object.keys(world.service(name).operations).sort(), name);
  }
});

t.test("a name that no client knows makes no model", async (t) => {
  const sts = { ...services.sts, operations: ["GetCallerIdentity", "GetNobody"] };
  const root = t.testdir({
    cli: { sandbox: { cloud: { protocol: { "operations.json": JSON.stringify({ sts }) } } } },
  });
  const generator = resolve(fileURLToPath(import.meta.url), "../../../../../cli/build/sandbox-model.mjs");
  const { sandboxModelModule } = await import(generator);
  t.throws(() => sandboxModelModule(root), { message: "@aws-sdk/client-sts has no operation GetNobody" });
});

/** Requests and answers of each operation. */
const ROUNDS = Number(process.env.FUZZ_COUNT ?? 3);

for (const name of names) {
  t.test(`${name}: requests and answers are those of the client`, async (t) => {
    const model = loadModel(name);
    const client = clientOf(name, model);
    for (const operation of services[name].operations) {
      const { input: inputShape, output: outputShape } = client.shapesOf(operation);
      for (let round = 0; round < ROUNDS; round++) {
        const random = randomOf(round + 1);
        const input = drawn(inputShape, random, 0) as Values;
        const output = drawn(outputShape, random, 0) as Values;
        const expected = model.protocol === "query" ? (inForm(inputShape, input) ?? {}) : withoutOwn(input);
        const { operationCall, answer } = await client.call(operation, input, output);
        const actual = {
          operation: operationCall.operation,
          input: plain(withoutOwn(operationCall.input)),
          answer: plain(answer),
        };
        const wanted = { operation, input: plain(expected), answer: plain(output) };
        if (!isDeepStrictEqual(actual, wanted)) t.strictSame(actual, wanted, `${operation}, round ${round}`);
      }
      t.pass(operation);
    }
  });
}

for (const name of names) {
  t.test(`${name}: errors are those of the client`, async (t) => {
    const client = clientOf(name, loadModel(name));
    const [operation = ""] = services[name].operations;
    const input = drawn(client.shapesOf(operation).input, randomOf(1), 0) as Values;
    for (const { code, name: className, status } of client.errors) {
      const error = await client.fail(operation, input, new AwsError(code, "what is wrong"));
      t.strictSame([error.name, error.message, error.$metadata?.httpStatusCode], [className, "what is wrong", status]);
    }
  });
}

/** A client; its calls return the operation and input as our code reads them, and its own reading of our `output`. */
function clientOf(name: Name, model: Model) {
  const exported = require(services[name].client) as Record<string, unknown>;
  const Client = Object.entries(exported).find(([key]) => /^[A-Z]\w+Client$/.test(key))![1] as new (
    options: object,
  ) => { send(command: object): Promise<Values> };
  let output: Values = {};
  let failure: AwsError | undefined;
  let operationCall: { operation: string; input: Values } | undefined;
  const client = new Client({
    region: "eu-west-1",
    endpoint: "http://127.0.0.1:1",
    credentials: { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret" },
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      async handle(request: SentRequest) {
        const query = queryOf(request.query);
        const parsedRequest = readRequest(model, {
          method: request.method,
          target: query === "" ? request.path : `${request.path}?${query}`,
          headers: request.headers,
          body: Buffer.from(request.body ?? ""),
        });
        operationCall = { operation: parsedRequest.operation.name, input: parsedRequest.input() as Values };
        const { status, headers, body } =
          failure === undefined
            ? writeOutput(model, parsedRequest.operation, started(output))
            : writeServiceError(model, failure);
        const parts = typeof body === "string" || body instanceof Uint8Array ? [body] : body;
        const lower = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
        return { response: { statusCode: status, headers: lower, body: Readable.from(parts, { objectMode: false }) } };
      },
    },
  });
  const commandOf = (operation: string, input: Values) =>
    new (exported[`${operation}Command`] as new (input: Values) => { schema: StaticOperation })(input);
  const errors = Object.values(exported).filter(
    // The one of no namespace's service is what the client has for errors that it does not know.
    (one): one is StaticError => Array.isArray(one) && one[0] === -3 && !one[1].startsWith("smithy.ts.sdk"),
  );
  return {
    errors: errors.map(([, , name, traits]) => {
      const { awsQueryError: [code, queryStatus] = [name], httpError } = traits || {};
      return { name, code: model.protocol === "query" ? code : name, status: queryStatus ?? httpError ?? 400 };
    }),
    shapesOf(operation: string) {
      const [, , , , input, output] = commandOf(operation, {}).schema;
      return { input: NormalizedSchema.of(input), output: NormalizedSchema.of(output) };
    },
    fail(operation: string, input: Values, error: AwsError): Promise<SdkError> {
      failure = error;
      const expected = client.send(commandOf(operation, input));
      return expected.then(
        () => assert.fail(`${operation} does not fail`),
        (error: SdkError) => error,
      );
    },
    async call(operation: string, input: Values, answered: Values) {
      output = answered;
      const { $metadata, ...answer } = await client.send(commandOf(operation, input));
      return { operationCall: operationCall!, answer: await read(answer) };
    },
  };
}

type StaticOperation = [9, string, string, unknown, SchemaRef, SchemaRef];
type StaticError = [-3, string, string, 0 | { awsQueryError?: [string, number]; httpError?: number }];
type SdkError = Error & { $metadata?: { httpStatusCode?: number } };
type SchemaRef = Parameters<typeof NormalizedSchema.of>[0];

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** As the SDK's own HTTP handler writes it. */
function queryOf(query: SentRequest["query"]): string {
  return Object.entries(query)
    .flatMap(([key, value]) => (Array.isArray(value) ? value : [value]).map((one) => [key, one] as const))
    .map(([key, one]) =>
      one === null ? encodeURIComponent(key) : `${encodeURIComponent(key)}=${encodeURIComponent(one)}`,
    )
    .join("&");
}

/** The output with events that come one after the other, where the shape says so. */
function started(output: Values): Values {
  const { [EVENTS]: name } = output as { [EVENTS]?: string };
  return name === undefined ? output : { ...output, [name]: Readable.from(output[name] as unknown[]) };
}

/** Reads the streams of an answer. */
async function read(answer: Values): Promise<Values> {
  const result: Values = {};
  for (const [key, value] of Object.entries(answer)) {
    if (typeof value === "object" && value !== null && "transformToByteArray" in value) {
      result[key] = await (value as { transformToByteArray(): Promise<Uint8Array> }).transformToByteArray();
    } else if (typeof value === "object" && value !== null && Symbol.asyncIterator in value) {
      result[key] = [];
      for await (const one of value as AsyncIterable<unknown>) (result[key] as unknown[]).push(one);
    } else result[key] = value;
  }
  return result;
}

/** Bytes as text, whatever class holds them, and nothing where a member is undefined. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(members.map(([key, one]) => [key, plain(one)]));
}

/** The value as a form says it, which has no place for a struct without members or a map without entries. */
function inForm(shape: NormalizedSchema, value: unknown): unknown {
  if (shape.isListSchema()) {
    const items = (value as unknown[]).map((one) => inForm(shape.getValueSchema(), one));
    const said = items.filter((one) => one !== undefined);
    return said.length > 0 || items.length === 0 ? said : undefined;
  }
  if (shape.isMapSchema()) {
    const entries = Object.entries(value as Values).map(([key, one]) => [
      key,
      inForm(shape.getValueSchema(), one) ?? {},
    ]);
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  }
  if (!shape.isStructSchema()) return value;
  const members = Object.entries(value as Values).map(([key, one]) => [key, inForm(shape.getMemberSchema(key), one)]);
  const said = members.filter(([, one]) => one !== undefined);
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

const TEXTS = ["x", "", "a b&c<d>\"e'f\\", "ä日本", "a/b?c=d+e%20f#g", "12", "true", "line\nnext", "a,b;c", "{}"];
const KEYS = ["a/b c", "a//b", "folder/", "?x=1#y", "ä%2F"];
const HEADER_TEXTS = ["x", "a b&c<d>e'f", "a/b?c=d+e%20f", "12", "true", "a;b"];
const MAX_DEPTH = 5;
/** Names the member of an output that is a stream of events. */
const EVENTS = Symbol("events");

/** The members that the client of S3 changes or checks on its own. */
const OF_CLIENT = new Set([
  "SSECustomerKey",
  "CopySourceSSECustomerKey",
  "Expires",
  "LocationConstraint",
  "ChecksumAlgorithm",
  "ContentLength",
]);

/** Traits of members that the wire has in each request or answer, or that the client adds. */
const NEEDED = [
  "httpLabel",
  "httpPayload",
  "httpPrefixHeaders",
  "httpResponseCode",
  "eventPayload",
  "idempotencyToken",
] as const;

const isError = (shape: NormalizedSchema) => (shape.getSchema() as unknown[])[0] === -3;

function withoutOwn(input: Values): Values {
  return Object.fromEntries(Object.entries(input).filter(([key]) => !OF_CLIENT.has(key)));
}

function drawn(shape: NormalizedSchema, random: Random, depth: number): unknown {
  const traits = shape.getMergedTraits();
  // Without anything to tell it from one that is absent.
  const min =
    traits.httpPayload || traits.xmlFlattened || traits.httpQuery !== undefined || traits.httpHeader !== undefined
      ? 1
      : 0;
  const isInHead = traits.httpHeader !== undefined || traits.httpLabel || traits.httpPrefixHeaders !== undefined;
  if (shape.isUnitSchema()) return {};
  if (shape.isUnionSchema()) {
    // Errors, which end a stream of events, are not the service's answer.
    const [name, member] = random.pick([...shape.structIterator()].filter(([, one]) => !isError(one)));
    return { [name]: drawn(member, random, depth + 1) };
  }
  if (shape.isStructSchema()) {
    const values: Values = {};
    const share = random.pick([0.2, 0.6, 1]);
    const events = shape.getEventStreamMember();
    const [, , , , members, , requiredCount = 0] = shape.getSchema() as [
      3,
      string,
      string,
      0,
      string[],
      unknown,
      number?,
    ];
    // The client writes some that are required even if they are absent.
    const required = [...members.slice(0, requiredCount), ...(depth === 0 ? ["Bucket"] : [])];
    if (events) Object.defineProperty(values, EVENTS, { value: events });
    for (const [name, member] of shape.structIterator()) {
      const own = member.getMergedTraits();
      const isNeeded =
        required.includes(name) ||
        name === events ||
        NEEDED.some((trait) => own[trait] !== undefined) ||
        own.httpHeader === "Content-Type";
      if (OF_CLIENT.has(name) || (!isNeeded && (depth > MAX_DEPTH || !random.chance(share)))) continue;
      if (name === events) values[name] = [0, 1, 2].map(() => drawn(member, random, depth + 1));
      else if (name === "Bucket" && depth === 0) values[name] = "bucket";
      else if (name === "Key" && own.httpLabel) values[name] = random.pick(KEYS);
      else values[name] = drawn(member, random, depth + 1);
    }
    return values;
  }
  if (shape.isListSchema()) {
    const length = min + (depth > MAX_DEPTH ? 0 : random.below(4));
    if (isInHead) return Array.from({ length }, () => random.pick(HEADER_TEXTS));
    return Array.from({ length }, () => drawn(shape.getValueSchema(), random, depth + 1));
  }
  if (shape.isMapSchema()) {
    const keys = (isInHead ? ["a", "b-c"] : TEXTS.filter(Boolean)).slice(0, random.below(4));
    return Object.fromEntries(
      keys.map((key) => [key, isInHead ? random.pick(HEADER_TEXTS) : drawn(shape.getValueSchema(), random, depth + 1)]),
    );
  }
  if (shape.isBooleanSchema()) return random.chance(0.5);
  if (shape.isNumericSchema()) return traits.httpResponseCode ? 200 : random.pick([0, 1, 200, 2 ** 31]);
  if (shape.isBlobSchema()) return Uint8Array.from({ length: min + random.below(20) }, () => random.below(256));
  if (shape.isTimestampSchema()) return new Date(random.pick([0, 1_000, 1_700_000_000_000]));
  return random.pick(isInHead ? HEADER_TEXTS : min > 0 ? TEXTS.filter(Boolean) : TEXTS);
}
