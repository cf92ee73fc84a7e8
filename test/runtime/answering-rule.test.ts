// The rule that answered a request, in the entry of its response.
import { connect } from "node:net";
import t from "tap";
import { ask, type Project, start } from "../support/runtime.ts";

const project: Project = {
  app: "echo/server.mjs",
  config: {
    static: { dir: "public" },
    redirects: {
      "/old/*": { location: "/new/:splat", status: 301 },
      "/v1/:name": { location: "/v2/:name" },
      "/here": { location: "/page.html", force: true },
      "/page.html": { location: "/elsewhere" },
    },
    cors: { allowed_origins: ["https://shop.example"] },
  },
  files: { "public/page.html": "<p>page</p>" },
};

const html = { Accept: "text/html" };
const preflight = { Origin: "https://shop.example", "Access-Control-Request-Method": "PUT" };

const rows: readonly {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly rule: unknown;
}[] = [
  { path: "/", status: 200, rule: undefined },
  { path: "/old/a%20b", status: 301, rule: { kind: "redirect", pattern: "/old/*" } },
  { path: "/old/a", method: "HEAD", status: 301, rule: { kind: "redirect", pattern: "/old/*" } },
  { path: "/v1/x", status: 200, rule: { kind: "rewrite", pattern: "/v1/:name" } },
  { path: "/v1/x?status=500", headers: html, status: 500, rule: { kind: "rewrite", pattern: "/v1/:name" } },
  { path: "/here", status: 200, rule: { kind: "rewrite", pattern: "/here" } },
  { path: "/page.html", status: 200, rule: { kind: "static" } },
  { path: "/page.html", headers: { "Accept-Encoding": "br" }, status: 200, rule: { kind: "static" } },
  { path: "/page.html", headers: { "If-Match": '"other"' }, status: 412, rule: { kind: "static" } },
  { path: "/?status=503&body=", headers: html, status: 503, rule: { kind: "error page" } },
  { path: "/?status=503&body=", status: 503, rule: undefined },
  { path: "/any", method: "OPTIONS", headers: preflight, status: 204, rule: { kind: "cors preflight" } },
];

t.test("the rule that answered", async (t) => {
  const server = await start(t, project);
  for (const { rule, status, ...request } of rows) {
    const id = `r${server.entries.length}`;
    const response = await ask(server.port, { ...request, headers: { ...request.headers, "X-Request-Id": id } });
    const entry = await server.entry(({ message, fields }) => message === "response" && fields.id === id);
    const name = `${request.method ?? "GET"} ${request.path} ${JSON.stringify(request.headers ?? {})}`;
    t.equal(response.status, status, name);
    t.same(entry.fields.rule, rule, name);
    t.equal("rule" in entry.fields, rule !== undefined, "no empty member");
  }
});

t.test("a folder's slash, and a file that is not there", async (t) => {
  const server = await start(t, { config: { type: "static" }, files: { "folder/index.html": "<p>index</p>" } });
  for (const [path, rule] of [
    ["/folder", { kind: "static" }],
    ["/none", undefined],
  ] as const) {
    await ask(server.port, { path });
    const entry = await server.entry(({ message, fields }) => message === "response" && fields.path === path);
    t.same(entry.fields.rule, rule, path);
  }
});

t.test("a client that leaves before the answer", async (t) => {
  const server = await start(t, project);
  for (const [path, rule] of [
    ["/v1/slow?delay=60000", { kind: "rewrite", pattern: "/v1/:name" }],
    ["/slow?delay=60000", undefined],
  ] as const) {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const isOf = (fields: Record<string, unknown>) => `${fields.path}?${fields.query}` === path;
    await server.entry(({ message, fields }) => message === "request" && isOf(fields));
    socket.destroy();
    const entry = await server.entry(({ message, fields }) => message === "response" && isOf(fields));
    t.equal(entry.fields.status, 499, path);
    t.same(entry.fields.rule, rule, path);
  }
});

t.test("none with logs.rules off", async (t) => {
  const { config } = project;
  const server = await start(t, { ...project, config: { ...config, logs: { rules: false } } });
  await ask(server.port, { path: "/old/a" });
  const entry = await server.entry(({ message }) => message === "response");
  t.equal(entry.fields.status, 301);
  t.notOk("rule" in entry.fields);
});
