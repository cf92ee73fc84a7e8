// What holds for every event, and for every query and path: an event may contain anything.
import { validateHeaderName, validateHeaderValue } from "node:http";
import fc from "fast-check";
import t from "tap";
import { readPlatformEvent } from "../../../runtime/lambda/event.ts";
import { requestOfEvent } from "../../../runtime/lambda/request.ts";
import { answerDocument } from "../../../runtime/lambda/response.ts";
import { encodeDecodedPath, encodePath, encodeQuery } from "../../../runtime/lambda/target.ts";
import { holds } from "../../support/property.ts";

const signal = new AbortController().signal;
const sent = Promise.resolve({ bytes: 0, status: 200 });

// Under the names that are read, anything: what is expected there, and what is not.
const anything = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<unknown> },
);
const values = fc.oneof(
  fc.dictionary(fc.string({ unit: "binary" }), anything),
  fc.dictionary(fc.constantFrom("Host", "cookie", "X-Request-Id", "X-Forwarded-Port", "content-length"), anything),
  anything,
);
const lists = fc.oneof(fc.dictionary(fc.string({ unit: "binary" }), fc.array(anything)), anything);
const requestContext = fc.oneof(
  fc.record(
    { identity: fc.record({ sourceIp: anything }), authorizer: anything, stage: anything },
    { requiredKeys: [] },
  ),
  fc.record({ http: fc.record({ method: anything, sourceIp: anything }), domainName: anything, stage: anything }),
  anything,
);
const events = fc.record(
  {
    httpMethod: anything,
    path: anything,
    rawPath: anything,
    rawQueryString: anything,
    version: fc.constantFrom("1.0", "2.0"),
    cookies: fc.oneof(fc.array(anything), anything),
    headers: values,
    multiValueHeaders: lists,
    queryStringParameters: values,
    multiValueQueryStringParameters: lists,
    body: anything,
    isBase64Encoded: fc.oneof(fc.boolean(), anything),
    requestContext,
  },
  { requiredKeys: ["requestContext"] },
);

t.test("every event is read, and becomes a request that can be sent", (t) => {
  let requests = 0;
  const property = fc.property(fc.oneof(events, fc.jsonValue()), (event) => {
    const read = readPlatformEvent(event);
    if (read.kind !== "http") return;
    requests += 1;
    const request = requestOfEvent(read, { signal, sent });
    if (!/^\/[\x21-\x7e]*$/.test(request.path) || request.path.includes("?")) throw new Error(request.path);
    if (!/^(\?[\x21-\x7e]*)?$/.test(request.query)) throw new Error(request.query);
    for (let i = 0; i < request.rawHeaders.length; i += 2) {
      validateHeaderName(request.rawHeaders[i]!);
      validateHeaderValue(request.rawHeaders[i]!, request.rawHeaders[i + 1]!);
    }
    validateHeaderValue("x-context", request.context!);
    if (!/^(\/[\w$-]+)?$/.test(read.stagePrefix)) throw new Error(read.stagePrefix);
  });
  holds(t, property, { seed: 1, numRuns: 6_000 });
  t.ok(requests > 1_000, `${requests} of the events are requests`);
  t.end();
});

t.test("a query that was decoded means the same when it is encoded again", (t) => {
  const pairs = fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })));
  const property = fc.property(pairs, (wanted) => {
    const query = encodeQuery(wanted);
    const found = query === "" ? [] : [...new URLSearchParams(query)];
    if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(query);
  });
  holds(t, property, { seed: 2, numRuns: 2_000 });
  t.end();
});

t.test("a path that was decoded means the same when it is encoded again", (t) => {
  const property = fc.property(fc.string({ unit: "grapheme" }), (text) => {
    const path = encodeDecodedPath(`/${text}`);
    if (decodeURIComponent(path) !== `/${text}`) throw new Error(path);
  });
  holds(t, property, { seed: 2, numRuns: 2_000 });
  t.end();
});

t.test("a path that was not decoded stays byte by byte where it is one", (t) => {
  const property = fc.property(fc.webPath(), (path) => {
    if (encodePath(path) !== (path.startsWith("/") ? path : `/${path}`)) throw new Error(encodePath(path));
  });
  holds(t, property, { seed: 2, numRuns: 2_000 });
  t.end();
});

t.test("a document holds every byte of a body, whatever it is said to be", (t) => {
  const types = fc.constantFrom("text/plain", "application/json; charset=latin1", "image/png", "", "nonsense");
  const codings = fc.constantFrom("gzip", "identity", "");
  const property = fc.property(fc.uint8Array(), types, codings, (bytes, type, coding) => {
    const headers = [
      ["Content-Type", type],
      ["Content-Encoding", coding],
    ] as const;
    const body = Buffer.from(bytes);
    const document = JSON.parse(
      answerDocument({ format: "rest", stagePrefix: "", host: "" }, { status: 200, headers, body }, body),
    );
    const found = Buffer.from(document.body, document.isBase64Encoded ? "base64" : "utf8");
    if (!found.equals(body)) throw new Error(JSON.stringify(document));
  });
  holds(t, property, { seed: 2, numRuns: 2_000 });
  t.end();
});
