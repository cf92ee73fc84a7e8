// Events that real gateways hardly make, and the documents that answer them. The rows are in vectors/lambda.json.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { type GatewayKind, type GatewayNames, gatewayEventOf } from "../../../cli/sandbox/function/events.ts";
import type { InvokeResult } from "../../../cli/sandbox/function/function.ts";
import { withStagePrefix } from "../../../runtime/lambda/stage-prefix.ts";
import { deploy } from "../../support/runtime-api/deployed.ts";

interface EventRow {
  readonly name: string;
  readonly event: unknown;
  /** Method and target, the headers and the bytes of the body that the app saw; values joined by " | ". */
  readonly app: string;
  readonly appHas?: Record<string, string | null>;
  readonly appBytes?: number;
}

interface OtherRow {
  readonly name: string;
  readonly event?: unknown;
  /** In place of an event that is JSON. */
  readonly payload?: string;
  readonly reason?: string;
  readonly answer?: object;
}

interface AnswerRow {
  readonly request: string;
  readonly name?: string;
  /** A part of it. */
  readonly document?: object;
  /** Headers of format 1.0; format 2.0 joins them, but for cookies. */
  readonly headers?: Record<string, string[]>;
  readonly cookies?: string[];
}

const vectors = resolve(dirname(fileURLToPath(import.meta.url)), "../../../../test/vectors/lambda.json");
const rows: { events: EventRow[]; others: OtherRow[]; answers: AnswerRow[] } = JSON.parse(
  readFileSync(vectors, "utf8"),
);
const echo = { app: "echo/server.mjs" };
const buffered = { streams: false, freezes: false };

t.test("what the app sees of an event", async (t) => {
  const { function: target } = await deploy(t, echo, buffered);
  for (const { name, event, app, appHas = {}, appBytes } of rows.events) {
    await t.test(name, async (t) => {
      const document = documentOf(await target.invoke(event));
      t.equal(document.statusCode, 200, document.body);
      const seen: { method: string; url: string; rawHeaders: string[]; body: { bytes: number } } = JSON.parse(
        document.body,
      );
      t.equal(`${seen.method} ${seen.url}`, app);
      if (appBytes !== undefined) t.equal(seen.body.bytes, appBytes);
      for (const [header, expected] of Object.entries(appHas)) {
        const values = seen.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]!.toLowerCase() === header);
        t.equal(values.length === 0 ? null : values.join(" | "), expected, header);
      }
    });
  }
});

t.test("events that are no HTTP requests are answered", async (t) => {
  const { function: target, entries } = await deploy(t, echo, buffered);
  for (const { name, event, payload, reason, answer } of rows.others) {
    await t.test(name, async (t) => {
      await target.idle();
      const before = entries().length;
      const document = documentOf(await target.invoke(payload ?? event));
      if (answer !== undefined) t.same(document, answer);
      if (reason === undefined) return;
      t.same(document, {
        error: {
          code: "runtime/unknown-event",
          message: `this function answers HTTP requests only: ${reason}`,
          hint: 'invoke it through its gateway or a function URL, or with {"tool": "warm"} to keep it warm',
        },
      });
      await target.idle();
      const own = entries()
        .slice(before)
        .filter(({ level }) => level === "error");
      t.match(own, [{ message: "event is not an HTTP request", fields: { reason } }]);
    });
  }
});

t.test("the documents of answers", async (t) => {
  const { function: target } = await deploy(t, echo, buffered);
  for (const { request, name, document, headers, cookies } of rows.answers) {
    await t.test(name ?? request, async (t) => {
      const [method = "", url = ""] = request.split(" ");
      const [path, rawQueryString = ""] = url.split("?");
      const query = Object.fromEntries(
        [...new Set(new URLSearchParams(rawQueryString).keys())].map((key) => [
          key,
          new URLSearchParams(rawQueryString).getAll(key),
        ]),
      );
      const rest = documentOf(
        await target.invoke({ httpMethod: method, path, multiValueQueryStringParameters: query, requestContext: {} }),
      );
      const http = documentOf(
        await target.invoke({ version: "2.0", rawPath: path, rawQueryString, requestContext: { http: { method } } }),
      );
      if (document !== undefined) t.match(rest, document);
      if (document !== undefined) t.match(http, document);
      t.notOk("headers" in rest, "format 1.0 has lists");
      t.notOk("multiValueHeaders" in http, "format 2.0 has none");
      t.same(http.cookies, cookies);
      for (const [header, values] of Object.entries(headers ?? {})) {
        t.same(rest.multiValueHeaders[header], values);
        t.equal(http.headers[header], cookies === undefined ? values.join(", ") : undefined);
      }
    });
  }
});

t.test("the stage that the default address has in front of its paths", async (t) => {
  const { function: target } = await deploy(
    t,
    {
      ...echo,
      config: {
        redirects: { "/old": { location: "/new", status: 301 } },
        headers: { "/ruled": { "Set-Cookie": "rule=1; Path=/rule" } },
      },
    },
    { ...buffered, stage: "staging" },
  );
  const api = "r3pmxmplak.execute-api.eu-west-1.amazonaws.com";
  const shop = "shop.example";
  const names = { stage: "staging", domainName: api };
  const site = await deploy(
    t,
    { config: { static: { dir: "public" } }, files: { "public/docs/index.html": "<p>docs</p>" } },
    { ...buffered, stage: "staging" },
  );
  const ask = async (kind: GatewayKind, host: string, path: string, names: GatewayNames, of = target) => {
    const request = { method: "GET", target: path, rawHeaders: ["Host", host], body: Buffer.alloc(0), ip: "192.0.2.1" };
    const document = documentOf(await of.invoke(gatewayEventOf(kind, request, names)));
    const { headers = {}, multiValueHeaders = {} } = document;
    return {
      location: headers.Location ?? multiValueHeaders.Location?.[0],
      cookies: document.cookies ?? multiValueHeaders["Set-Cookie"],
    };
  };

  const sent = "/?status=302&header=Location:/docs/&header=Set-Cookie:id=1%3B%20Path=/docs";
  const places: [name: string, kind: GatewayKind, host: string, names: GatewayNames, hasPrefix: boolean][] = [
    ["REST API, default address", "rest", api, names, true],
    ["REST API, default address of an endpoint in a network", "rest", `vpce-1.${api}`, names, true],
    ["REST API, domain", "rest", shop, { ...names, domainName: shop, basePath: "" }, false],
    ["REST API, domain with a base path", "rest", shop, { ...names, domainName: shop, basePath: "/v1" }, false],
    [
      "REST API, base path called as the stage",
      "rest",
      shop,
      { ...names, domainName: shop, basePath: "/staging" },
      false,
    ],
    ["HTTP API, default address", "http", api, names, true],
    ["HTTP API, $default stage", "http", api, { ...names, stage: "$default" }, false],
    ["HTTP API, domain", "http", shop, { stage: "$default", domainName: shop }, false],
    ["function URL", "url", "r3pmxmplak.lambda-url.eu-west-1.on.aws", names, false],
  ];
  for (const [name, kind, host, at, hasPrefix] of places) {
    const prefix = hasPrefix ? "/staging" : "";
    const expected = { location: `${prefix}/docs/`, cookies: [`id=1; Path=${prefix}/docs`] };
    t.same(await ask(kind, host, sent, at), expected, name);
  }
  const format1 = documentOf(
    await target.invoke({
      ...{ version: "1.0", httpMethod: "GET", path: "/staging/old", headers: { host: api } },
      requestContext: { stage: "staging", domainName: api, path: "/staging/old" },
    }),
  );
  t.same(format1.multiValueHeaders.Location, ["/staging/new"], "HTTP API, format 1.0");

  t.match(await ask("rest", api, "/docs", names, site.function), { location: "/staging/docs/" }, "ours: a folder");
  const ours: [path: string, expected: object][] = [
    ["/old?q=1", { location: "/staging/new?q=1", cookies: undefined }],
    ["/ruled", { location: undefined, cookies: ["rule=1; Path=/staging/rule"] }],
  ];
  for (const [path, expected] of ours) t.same(await ask("rest", api, path, names), expected, `ours: ${path}`);
  const bare = { httpMethod: "GET", path: "/", multiValueQueryStringParameters: { header: ["Location:/x"] } };
  const context = { stage: "staging", domainName: api, path: "/staging" };
  t.same(
    documentOf(await target.invoke({ ...bare, headers: { Host: api }, requestContext: context })).multiValueHeaders
      .Location,
    ["/staging/x"],
    "the stage's own path without a slash",
  );
});

t.test("headers with the stage", (t) => {
  const rows: [header: string, expected: string][] = [
    ["Location: /", "/staging/"],
    ["location: /docs/?a=/b#c", "/staging/docs/?a=/b#c"],
    ["Location: /staging", "/staging"],
    ["Location: /staging/docs", "/staging/docs"],
    ["Location: /staging?x", "/staging?x"],
    ["Location: /stagings", "/staging/stagings"],
    ["Location: /?next=/staging/", "/staging/?next=/staging/"],
    ["Location: docs/", "docs/"],
    ["Location: ../docs", "../docs"],
    ["Location: ?page=2", "?page=2"],
    ["Location: #top", "#top"],
    ["Location: ", ""],
    ["Location: mailto:ann@api.example", "mailto:ann@api.example"],
    ["Location: https://api.example/docs", "https://api.example/staging/docs"],
    ["Location: HTTPS://API.example:443/docs", "HTTPS://API.example:443/staging/docs"],
    ["Location: http://api.example/docs", "http://api.example/staging/docs"],
    ["Location: //api.example/docs", "//api.example/staging/docs"],
    ["Location: https://api.example", "https://api.example/staging/"],
    ["Location: https://api.example?x=1", "https://api.example/staging/?x=1"],
    ["Location: https://api.example//docs", "https://api.example/staging//docs"],
    ["Location: https://api.example/staging/docs", "https://api.example/staging/docs"],
    ["Location: https://api.example:8443/docs", "https://api.example:8443/docs"],
    ["Location: https://api.example.evil/docs", "https://api.example.evil/docs"],
    ["Location: https://user@api.example/docs", "https://user@api.example/docs"],
    ["Location: https://other.example/docs", "https://other.example/docs"],
    ["Location: //other.example/docs", "//other.example/docs"],
    ["Location: /\\other.example/docs", "/\\other.example/docs"],
    ["Set-Cookie: a=1; Path=/; HttpOnly", "a=1; Path=/staging; HttpOnly"],
    ["Set-Cookie: a=1; path = /admin ;Secure", "a=1; path = /staging/admin ;Secure"],
    ["set-cookie: a=1;PATH=/admin", "a=1;PATH=/staging/admin"],
    ["Set-Cookie: a=1; Path=/staging/admin", "a=1; Path=/staging/admin"],
    ["Set-Cookie: a=1; Path=/staging", "a=1; Path=/staging"],
    ["Set-Cookie: a=1; Secure", "a=1; Secure"],
    ["Set-Cookie: a=1; Path=", "a=1; Path="],
    ["Set-Cookie: a=1; Path=admin", "a=1; Path=admin"],
    ["Set-Cookie: a=Path=/x; Domain=api.example", "a=Path=/x; Domain=api.example"],
    ["Set-Cookie: __Host-a=1; Path=/; Secure", "__Host-a=1; Path=/; Secure"],
    ["Set-Cookie: __host-a=1; Path=/; Secure", "__host-a=1; Path=/; Secure"],
    ["Set-Cookie: __Secure-a=1; Path=/; Secure", "__Secure-a=1; Path=/staging; Secure"],
    ["Content-Location: /docs/", "/docs/"],
    ["Link: </app.css>; rel=preload", "</app.css>; rel=preload"],
  ];
  for (const [header, expected] of rows) {
    const [, name = "", value = ""] = /^([^:]+): (.*)$/.exec(header) ?? [];
    t.same(withStagePrefix([[name, value]], "/staging", "api.example"), [[name, expected]], header);
    t.same(withStagePrefix([[name, value]], "", "api.example"), [[name, value]], `no stage, ${header}`);
  }
  t.end();
});

interface Document {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly multiValueHeaders: Record<string, string[]>;
  readonly cookies?: string[];
}

function documentOf(result: InvokeResult): Document {
  if (result.kind !== "document") throw new Error(JSON.stringify(result));
  return JSON.parse(result.payload.toString());
}
